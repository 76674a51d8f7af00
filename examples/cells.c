/* Compares a loop over a large array on the host with the same loop as 16 tasks of accelerators near the
 * memory. */
#include <croft/nucd.h>
#include <stdio.h>

enum { CELLS = 65536 };

static struct cell {
    double stiffness, position, speed, rest[5]; /* one cache line */
} _Alignas(4096) cells[CELLS];

CROFT_REGION(move, CROFT_INOUT(struct cell *, first, count * sizeof *first), CROFT_VALUE(long, count),
             CROFT_VALUE(double, time))
{
    for (struct cell *cell = first; cell < first + count; cell++) {
        cell->speed -= time * cell->position * cell->stiffness;
        cell->position += time * cell->speed;
    }
}

static long cycles(void)
{
    long now;
    __asm__ volatile("rdcycle %0" : "=r"(now) : : "memory");
    return now;
}

int main(void)
{
    for (long i = 0; i < CELLS; i++)
        cells[i] = (struct cell){.stiffness = 1 + i % 3, .position = i};
    long start = cycles();
    move_body(cells, CELLS, 0.125); /* the region's body is an ordinary function with the same parameters */
    long middle = cycles();
    CROFT_FOR_TASKS(part, CELLS, 16, 64)
    move(cells + part.first, part.count, 0.125);
    long end = cycles();
    printf("position %g\nhost %ld cycles, offloaded %ld: %.2f times as fast\n", cells[CELLS - 1].position,
           middle - start, end - middle, (double)(middle - start) / (double)(end - middle));
}
