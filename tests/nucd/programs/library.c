/* The C library in many regions at the same time: library WHAT. Its output is that of the program's order. */
#include <croft/nucd.h>
#include <croft/threads.h>
#include <errno.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum { TASKS = 32, HOSTS = 4, ROUNDS = 40 };

static char *kept[TASKS];
static long sums[HOSTS];

CROFT_REGION(say, CROFT_VALUE(long, i))
{
    printf("region %ld\n", i);
}

CROFT_REGION(copy, CROFT_VALUE(const char *, text))
{
    fputs(text, stdout);
}

CROFT_REGION_RETURNS(char *, make, CROFT_VALUE(long, size))
{
    char *bytes = malloc((size_t)size);
    for (long i = 0; i < size; i++)
        bytes[i] = (char)(size + i);
    bytes = realloc(bytes, 2 * (size_t)size);
    memcpy(bytes + size, bytes, (size_t)size);
    return bytes;
}

CROFT_REGION_RETURNS(long, drop, CROFT_VALUE(char *, bytes), CROFT_VALUE(long, size))
{
    long sum = 0;
    for (long i = 0; i < 2 * size; i++)
        sum += bytes[i];
    free(bytes);
    return sum;
}

CROFT_REGION_RETURNS(long, file, CROFT_VALUE(const char *, name), CROFT_VALUE(long, n))
{
    char line[64];
    long sum = 0;
    FILE *opened = fopen(name, n ? "a+" : "w+");
    if (!opened)
        return -errno;
    fprintf(opened, "line %ld\n", n);
    rewind(opened);
    while (fgets(line, sizeof line, opened))
        sum += (long)strlen(line);
    fclose(opened);
    return sum;
}

CROFT_REGION_RETURNS(double, number, CROFT_VALUE(const char *, text), CROFT_VALUE(double, x))
{
    return strtod(text, NULL) + pow(x, 1.5);
}

/* 300 regions that print, between prints of the host. */
static void print(void)
{
    for (long i = 0; i < 300; i++) {
        say(i);
        if (i % 3 == 0)
            copy("ab");
        if (i % 64 == 0)
            printf("host %ld\n", i);
    }
}

static void mixture(void)
{
    long sum = 0;
    for (long i = 0; i < TASKS; i++)
        kept[i] = make(10 + i * i * 9);
    for (long i = TASKS; i-- > 0;)
        sum += drop(kept[i], 10 + i * i * 9);
    for (long i = 0; i < TASKS; i++) {
        say(i);
        if (i % 8 == 0)
            sum = sum * 5 + file("library.tmp", i);
    }
    remove("library.tmp");
    printf("%ld %.17g\n", sum, number("1.25e3", 2.5) + number("-7", 0.1));
}

static void heap(void *argument)
{
    long *sum = argument;
    for (long i = 0; i < ROUNDS; i++) {
        long size = 100 + (sum - sums) + i % 7 * 300;
        char *bytes = make(size);
        *sum += bytes[0] + drop(bytes, size);
    }
}

/* Several hosts allocate and free in regions. */
static void hosts(int count)
{
    struct croft_thread threads[HOSTS];
    int failed[HOSTS];
    for (int i = 1; i < count; i++)
        failed[i] = croft_thread_start(&threads[i], heap, &sums[i]);
    heap(&sums[0]);
    for (int i = 1; i < count; i++) {
        if (failed[i])
            heap(&sums[i]);
        else
            croft_thread_join(&threads[i]);
    }
    for (int i = 0; i < count; i++)
        printf("%ld\n", sums[i]);
}

int main(int argc, char **argv)
{
    const char *what = argc > 1 ? argv[1] : "";
    if (strcmp(what, "after") == 0) { /* the stream has its buffer before the first region */
        puts("start");
        fflush(stdout);
    }
    if (strcmp(what, "print") == 0 || strcmp(what, "after") == 0)
        print();
    if (strcmp(what, "mixture") == 0)
        mixture();
    if (strcmp(what, "hosts") == 0)
        hosts(argc > 2 ? atoi(argv[2]) : 1);
    return 7;
}
