/* STREAM's triad a = b + s c on three arrays of doubles, 32 MiB in total. */
#include <stdio.h>
#include <stdlib.h>

enum { LENGTH = 32 * 1024 * 1024 / 3 / 8 };

static double a[LENGTH], b[LENGTH], c[LENGTH];

int main(int argc, char **argv)
{
    int rounds = argc > 1 ? atoi(argv[1]) : 150;
    for (int i = 0; i < LENGTH; i++) {
        b[i] = i * 0.5;
        c[i] = 1.0 / (i + 1);
    }
    for (int round = 0; round < rounds; round++) {
        double scale = 3.0 + round;
        for (int i = 0; i < LENGTH; i++)
            a[i] = b[i] + scale * c[i];
        b[round] = a[LENGTH - 1 - round];
    }
    double sum = 0;
    for (int i = 0; i < LENGTH; i++)
        sum += a[i];
    printf("triad %d rounds, sum %a\n", rounds, sum);
    return 0;
}
