/* System calls in regions: calls [exit]. Each task writes its lines, in program order, from buffers on its accelerator's
 * stack and in its output range. */
#include <croft/nucd.h>
#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>
#include <unistd.h>

enum { TASKS = 6 };

struct line {
    _Alignas(64) long n, seconds, error;
    char text[40];
};

static struct line lines[TASKS];

static __attribute__((noinline)) void say(const struct line *line, const char *what)
{
    char text[48];
    int size = snprintf(text, sizeof text, "%s %ld\n", what, line->n);
    (void)!write(1, text, (size_t)size);
}

CROFT_REGION(speak, CROFT_INOUT(struct line *, line, sizeof *line), CROFT_VALUE(long, n),
             CROFT_VALUE(int, ends))
{
    struct timespec from, to;
    line->n = n;
    clock_gettime(CLOCK_MONOTONIC, &from);
    say(line, "begin");
    long *top = sbrk(64);
    top[7] = n;
    memset(line->text, 'a' + (int)n, sizeof line->text - 1);
    line->text[sizeof line->text - 1] = '\n';
    (void)!write(1, line->text, sizeof line->text);
    if (write(77, line->text, 1) < 0)
        line->error = errno;
    if (ends && n == 3)
        _exit(7);
    clock_gettime(CLOCK_MONOTONIC, &to);
    line->seconds = to.tv_sec > from.tv_sec || (to.tv_sec == from.tv_sec && to.tv_nsec >= from.tv_nsec);
    line->seconds += 2 * ((char *)sbrk(0) == (char *)top + 64 && top[7] == n);
    say(line, "end");
}

int main(int argc, char **argv)
{
    puts("before");
    fflush(stdout);
    for (long i = 0; i < TASKS; i++) {
        speak(&lines[i], i, argc > 1 && strcmp(argv[1], "exit") == 0);
        if (i == 2) {
            printf("between %ld\n", lines[1].n);
            fflush(stdout);
        }
    }
    for (long i = 0; i < TASKS; i++)
        printf("%ld %ld %ld\n", lines[i].n, lines[i].seconds, lines[i].error);
    return 5;
}
