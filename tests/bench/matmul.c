/* Product of double matrices, in the plain order of three loops. */
#include <stdio.h>
#include <stdlib.h>

enum { SIDE = 192 };

static double a[SIDE][SIDE], b[SIDE][SIDE], c[SIDE][SIDE];

int main(int argc, char **argv)
{
    int rounds = argc > 1 ? atoi(argv[1]) : 24;
    for (int i = 0; i < SIDE; i++)
        for (int j = 0; j < SIDE; j++) {
            a[i][j] = 1.0 / (i + j + 1);
            b[i][j] = (i - j) * 0.25;
        }
    for (int round = 0; round < rounds; round++)
        for (int i = 0; i < SIDE; i++)
            for (int j = 0; j < SIDE; j++) {
                double sum = c[j][i] * 1e-3;
                for (int k = 0; k < SIDE; k++)
                    sum += a[i][k] * b[k][j];
                c[i][j] = sum;
            }
    double trace = 0;
    for (int i = 0; i < SIDE; i++)
        trace += c[i][i];
    printf("matmul %d rounds, trace %a, corner %a\n", rounds, trace, c[SIDE - 1][0]);
    return 0;
}
