/* Sums in memory whose nests need ever more registers, so that one has contexts that fill their lines; in as many tasks as the
 * compiler is told. Arrays of the caller lie beside. */
#include <stdio.h>

enum { ROWS = 192, COLUMNS = 8, DEPTH = 24, GUARDS = 4096 };
static _Alignas(64) double out[ROWS][COLUMNS], left[ROWS][DEPTH], right[DEPTH][COLUMNS];

typedef double row_out[COLUMNS];
typedef double row_left[DEPTH];

#define WORK(n, parameters, term)                                                                            \
    static __attribute__((noipa)) void work##n(row_out *c, const row_left *a, const row_out *b, long rows,   \
                                               double e0 parameters)                                         \
    {                                                                                                        \
        for (long i = 0; i < rows; i++)                                                                      \
            for (long j = 0; j < COLUMNS; j++)                                                               \
                for (long k = 0; k < DEPTH; k++)                                                             \
                    c[i][j] += a[i][k] * b[k][j] * e0 term;                                                  \
    }
#define P1 , double e1
#define P2 P1, double e2
#define P3 P2, double e3
#define P4 P3, double e4
#define P5 P4, double e5
#define P6 P5, double e6
#define P7 P6, double e7
#define T1 *e1
#define T2 T1 *e2
#define T3 T2 *e3
#define T4 T3 *e4
#define T5 T4 *e5
#define T6 T5 *e6
#define T7 T6 *e7
WORK(0, , )
WORK(1, P1, T1)
WORK(2, P2, T2)
WORK(3, P3, T3)
WORK(4, P4, T4)
WORK(5, P5, T5)
WORK(6, P6, T6)
WORK(7, P7, T7)

int main(void)
{
    volatile long guard[GUARDS];
    double sum = 0;
    for (long i = 0; i < GUARDS; i++)
        guard[i] = i;
    for (int i = 0; i < ROWS; i++)
        for (int k = 0; k < DEPTH; k++)
            left[i][k] = i + k;
    for (int k = 0; k < DEPTH; k++)
        for (int j = 0; j < COLUMNS; j++)
            right[k][j] = k - j;
    work0(out, left, right, ROWS, 1);
    work1(out, left, right, ROWS, 1, 2);
    work2(out, left, right, ROWS, 1, 2, 3);
    work3(out, left, right, ROWS, 1, 2, 3, 4);
    work4(out, left, right, ROWS, 1, 2, 3, 4, 5);
    work5(out, left, right, ROWS, 1, 2, 3, 4, 5, 6);
    work6(out, left, right, ROWS, 1, 2, 3, 4, 5, 6, 7);
    work7(out, left, right, ROWS, 1, 2, 3, 4, 5, 6, 7, 8);
    for (long i = 0; i < GUARDS; i++)
        if (guard[i] != i)
            printf("guard %ld changed\n", i);
    for (int i = 0; i < ROWS; i++)
        for (int j = 0; j < COLUMNS; j++)
            sum += out[i][j] * (i % 5 + j);
    printf("%.17g\n", sum);
    return 0;
}
