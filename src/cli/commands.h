/* commands.h: the subcommands of lathe. Each gets its own argv (argv[0] is its name) and returns the exit status: 0, 1 if the work could
 * not be done, 2 for wrong usage. Those that need LLVM are in a program of their own, lathe-tools, which lathe executes for them, because
 * loading LLVM takes longer than many guest programs run. */
#ifndef CLI_COMMANDS_H
#define CLI_COMMANDS_H

struct Kind;

int command_binopt(int argc, char **argv); /* in lathe-tools */
int command_cache(int argc, char **argv);
int command_compile(int argc, char **argv); /* in lathe-tools */
int command_explore(int argc, char **argv); /* in lathe-tools */
int command_lift(int argc, char **argv);    /* in lathe-tools */
int command_lines(void);                    /* in lathe-tools; for the client only */
int command_raise(int argc, char **argv);   /* in lathe-tools */
int command_run(int argc, char **argv);     /* returns only if it fails, like the next two */
/* The same for programs of one kind of guest; and as the kernel starts it for a file (binfmt_misc): OWN-NAME FILE ARGV0
 * ARGS… */
int command_run_kind(const struct Kind *only, int argc, char **argv);
int command_run_registered(const struct Kind *only, int argc, char **argv);
int command_serve(int argc, char **argv);
int command_tool(int argc, char **argv); /* in lathe-tools */

#endif
