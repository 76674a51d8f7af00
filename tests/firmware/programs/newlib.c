/* newlib in machine mode: formatted output, input lines, the heap, time, thread-local storage, sorting. */
#include <croft/firmware/hart.h>
#include <errno.h>
#include <fcntl.h>
#include <math.h>
#include <setjmp.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>
#include <unistd.h>

static _Thread_local int local = 7;
static _Thread_local int zero;

static int compare(const void *left, const void *right)
{
    return *(const int *)left - *(const int *)right;
}

static void on_exit_print(void)
{
    printf("last words\n");
}

static void test_heap(void)
{
    char *blocks[64];
    for (unsigned i = 0; i < 64; i++) {
        blocks[i] = malloc(1000 + 100 * i);
        memset(blocks[i], (int)i, 1000 + 100 * i);
    }
    unsigned wrong = 0;
    for (unsigned i = 0; i < 64; i++) {
        for (unsigned j = 0; j < 1000 + 100 * i; j++)
            wrong += blocks[i][j] != (char)i;
        free(blocks[i]);
    }
    errno = 0;
    printf("heap: %u wrong, %d, too much: %s\n", wrong, malloc(32 << 20) != NULL,
           malloc((size_t)1 << 40) == NULL && errno == ENOMEM ? "refused" : "given");
}

static void test_files(void)
{
    printf("open: %d %d\n", open("file", O_RDONLY), errno == ENOENT);
    printf("terminals: %d %d %d\n", isatty(0), isatty(1), isatty(3));
    printf("seek: %d %d\n", (int)lseek(1, 0, SEEK_CUR), errno == ESPIPE);
}

int main(int argc, char **argv)
{
    char line[64];
    jmp_buf back;
    int numbers[] = {5, -3, 9, 0, 2};
    volatile int returns = 0;
    atexit(on_exit_print);
    printf("%d %s %d\n", argc, argv[0], argv[argc] == NULL);
    printf("%.10f %g %e %a %5d|%-5s|%+lld %#x\n", sqrt(2.0), 1e100, sin(1.0), 0.1, 42, "ab", 1ll << 40, 255);
    qsort(numbers, 5, sizeof numbers[0], compare);
    for (unsigned i = 0; i < 5; i++)
        printf("%d%c", numbers[i], i < 4 ? ' ' : '\n');
    if (setjmp(back) < 3)
        longjmp(back, ++returns);
    printf("longjmp: %d\n", returns);
    printf("thread-local: %d %d\n", ++local, zero);
    test_heap();
    test_files();
    struct timespec first, second;
    clock_gettime(CLOCK_MONOTONIC, &first);
    usleep(1000);
    clock_gettime(CLOCK_MONOTONIC, &second);
    long passed = (second.tv_sec - first.tv_sec) * 1000000000 + second.tv_nsec - first.tv_nsec;
    printf("clock: %d %d\n", passed >= 1000000, second.tv_sec < 60);
    printf("device tree: %x\n", (unsigned)__builtin_bswap32(*(const uint32_t *)hart_device_tree()));
    while (fgets(line, sizeof line, stdin))
        printf("line: %s", line);
    printf("end of input: %d\n", feof(stdin));
    fprintf(stderr, "standard error\n");
    return 42;
}
