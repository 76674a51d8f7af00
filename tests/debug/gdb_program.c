/* What the scripted gdb sessions of gdb.sh debug. Their expectations quote lines of this file. */
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

struct point {
    int x, y;
    const char *name;
};

volatile int counter;
volatile long total = 5;
volatile double scale = 0.5;

static int factorial(int n)
{
    if (n <= 1)
        return 1; /* innermost */
    return n * factorial(n - 1);
}

static double half(double value)
{
    double result = value * scale;
    return result;
}

static void count(int until)
{
    while (counter < until)
        counter = counter + 1;
}

static void look(void)
{
    long copy = total; /* the first read of total */
    total = copy + 1;
}

int main(int argc, char **argv)
{
    struct point point = {3, -4, "corner"};
    const char *what = argc > 1 ? argv[1] : "";
    int product = factorial(5);
    double quarter = half(half(1.0));
    count(3);
    look();
    printf("%s %d %g %d %ld\n", point.name, product, quarter, counter, total);
    fflush(stdout);
    if (strcmp(what, "abort") == 0)
        abort();
    if (strcmp(what, "fault") == 0)
        *(volatile int *)8 = 1; /* the store that faults */
    if (strcmp(what, "illegal") == 0)
        __asm__ volatile(".4byte 0"); /* unknown */
    for (volatile int forever = strcmp(what, "loop") == 0; forever;)
        counter++;
    return point.x;
}
