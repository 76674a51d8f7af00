/* OpenMP: reductions, barriers, critical sections, tasks. Output does not depend on the schedule. */
#include <math.h>
#include <omp.h>
#include <stdio.h>

int main(void)
{
    double sum = 0;
    int members = 0, total = 0;
#pragma omp parallel for reduction(+ : sum) num_threads(4) schedule(dynamic, 100)
    for (int i = 0; i < 20000; i++)
        sum += sqrt(i);
#pragma omp parallel num_threads(6)
    {
#pragma omp critical
        members++;
#pragma omp barrier
#pragma omp single
        printf("team of %d\n", omp_get_num_threads());
    }
#pragma omp parallel num_threads(3)
#pragma omp single
    for (int i = 0; i < 10; i++) {
#pragma omp task shared(total)
        {
#pragma omp atomic
            total += i;
        }
    }
    printf("%.3f %d %d\n", sum, members, total);
    return 0;
}
