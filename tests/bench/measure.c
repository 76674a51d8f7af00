/* measure OUTPUT COMMAND [ARGS...]: runs the command with standard output in OUTPUT and prints one line:
 * wall, user and system seconds, peak resident memory in KiB, exit status (128 + n after signal n). */
#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/resource.h>
#include <sys/time.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

static double seconds(struct timeval time)
{
    return (double)time.tv_sec + 1e-6 * (double)time.tv_usec;
}

static double clock_now(void)
{
    struct timespec now;
    (void)clock_gettime(CLOCK_MONOTONIC, &now);
    return (double)now.tv_sec + 1e-9 * (double)now.tv_nsec;
}

static void command_run(const char *output, char **command)
{
    int fd = open(output, O_WRONLY | O_CREAT | O_TRUNC, 0644);
    if (fd < 0 || dup2(fd, STDOUT_FILENO) < 0) {
        fprintf(stderr, "measure: cannot write '%s': %s\n", output, strerror(errno));
        _exit(127);
    }
    (void)close(fd);
    (void)execvp(command[0], command);
    fprintf(stderr, "measure: cannot run '%s': %s\n", command[0], strerror(errno));
    _exit(127);
}

int main(int argc, char **argv)
{
    if (argc < 3) {
        fprintf(stderr, "usage: measure OUTPUT COMMAND [ARGS...]\n");
        return 2;
    }
    double start = clock_now();
    pid_t child = fork();
    if (child == 0)
        command_run(argv[1], argv + 2);
    int state;
    struct rusage usage;
    if (child < 0 || wait4(child, &state, 0, &usage) < 0) {
        fprintf(stderr, "measure: %s\n", strerror(errno));
        return 1;
    }
    double wall = clock_now() - start;
    int status = WIFSIGNALED(state) ? 128 + WTERMSIG(state) : WEXITSTATUS(state);
    printf("%.6f %.6f %.6f %ld %d\n", wall, seconds(usage.ru_utime), seconds(usage.ru_stime), usage.ru_maxrss,
           status);
    return 0;
}
