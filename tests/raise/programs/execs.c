/* execl() and execlp(), with arguments in registers and on the stack. */
#include <stdio.h>
#include <stdlib.h>
#include <sys/wait.h>
#include <unistd.h>

static int status_of_child(void) {
    int status;
    wait(&status);
    return WEXITSTATUS(status);
}

int main(void) {
    setvbuf(stdout, NULL, _IONBF, 0);
    if (!fork())
        execl("/bin/echo", "echo", "one", (char *)NULL);
    printf("%d\n", status_of_child());
    if (!fork())
        execlp("echo", "echo", "1", "2", "3", "4", "5", "6", "7", "8", "9", "10", (char *)NULL);
    printf("%d\n", status_of_child());
    if (!vfork()) {
        execl("/nowhere", "nothing", (char *)NULL);
        _exit(3);
    }
    printf("%d\n", status_of_child());
    return 0;
}
