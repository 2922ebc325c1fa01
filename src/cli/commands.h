/* commands.h: the subcommands of lathe. Each gets its own argv (argv[0] is its name) and returns the exit status: 0, 1
 * if the work could not be done, 2 for wrong usage. */
#ifndef CLI_COMMANDS_H
#define CLI_COMMANDS_H

int command_lift(int argc, char **argv);

#endif
