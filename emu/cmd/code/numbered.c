#include "emu/cmd/code/numbered.h"

#include <stdio.h>
#include <stdlib.h>

#include "emu/sim/alloc.h"

static void note(struct program *p, const char *name, const GElf_Sym *symbol, void *context)
{
    struct numbered *n = context;
    struct numbered_place place = {.pc = symbol->st_value};
    (void)p;
    if (sscanf(name, "croft.line.%zu.%zu", &place.unit, &place.line) != 2)
        return;
    if (n->count == n->room) {
        n->room = n->room ? 2 * n->room : 1024;
        n->places = alloc_resize(n->places, n->room * sizeof *n->places);
    }
    n->places[n->count++] = place;
}

static int by_pc(const void *a, const void *b)
{
    const struct numbered_place *x = a, *y = b;
    return x->pc < y->pc ? -1 : x->pc > y->pc;
}

struct numbered numbered_of(struct program *program)
{
    struct numbered n = {0};
    program_each_symbol(program, note, &n);
    if (n.count)
        qsort(n.places, n.count, sizeof *n.places, by_pc);
    return n;
}

void numbered_free(struct numbered *n)
{
    free(n->places);
    *n = (struct numbered){0};
}

const struct numbered_place *numbered_place(const struct numbered *n, uint64_t pc)
{
    size_t low = 0, high = n->count;
    while (low < high) {
        size_t middle = (low + high) / 2;
        if (n->places[middle].pc <= pc)
            low = middle + 1;
        else
            high = middle;
    }
    return low ? &n->places[low - 1] : NULL;
}
