/* What an offload costs, by what the caches hold when it starts: nucd_offload STATE GRANULES. Each measured offload stands
 * between two dumps of all statistics.
 *   cold    the first of the program: neither its lines nor the firmware's way through a task are in any cache
 *   clean   the lines are clean, the firmware has run a task: the usual case, from the second of these on
 *   dirty   the host has written the lines and read other data since, which has pushed them to the second level */
#include <croft/nucd.h>
#include <croft/roi.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum {
    LINE = 64,
    GRANULES = 4,
    OFFLOADS = 40,
    OTHER = 256 * 1024, /* bytes: 8 times the first level, a quarter of the second */
};

struct granule {
    _Alignas(LINE) long word[LINE / sizeof(long)];
};

static struct granule in[GRANULES], out[GRANULES];
static _Alignas(LINE) volatile char other[OTHER];

CROFT_REGION(one, CROFT_IN(const struct granule *, a, LINE), CROFT_OUT(struct granule *, w, LINE))
{
    w->word[0] = a->word[0] + 1;
}

CROFT_REGION(two, CROFT_IN(const struct granule *, a, LINE), CROFT_IN(const struct granule *, b, LINE),
             CROFT_OUT(struct granule *, w, LINE), CROFT_OUT(struct granule *, x, LINE))
{
    w->word[0] = a->word[0] + 1;
    x->word[0] = b->word[0] + 1;
}

CROFT_REGION(four, CROFT_IN(const struct granule *, a, LINE), CROFT_IN(const struct granule *, b, LINE),
             CROFT_IN(const struct granule *, c, LINE), CROFT_IN(const struct granule *, d, LINE),
             CROFT_OUT(struct granule *, w, LINE), CROFT_OUT(struct granule *, x, LINE),
             CROFT_OUT(struct granule *, y, LINE), CROFT_OUT(struct granule *, z, LINE))
{
    w->word[0] = a->word[0] + 1;
    x->word[0] = b->word[0] + 1;
    y->word[0] = c->word[0] + 1;
    z->word[0] = d->word[0] + 1;
}

/* Returns when the task is over. */
static void offload(int granules)
{
    if (granules == 1)
        one(&in[0], &out[0]);
    else if (granules == 2)
        two(&in[0], &in[1], &out[0], &out[1]);
    else
        four(&in[0], &in[1], &in[2], &in[3], &out[0], &out[1], &out[2], &out[3]);
    __asm__ volatile("fence" ::: "memory");
}

static void make_dirty(long value)
{
    for (int i = 0; i < GRANULES; i++)
        in[i].word[0] = out[i].word[0] = value;
    for (int i = 0; i < OTHER; i += LINE)
        (void)other[i];
    __asm__ volatile("fence" ::: "memory");
}

static void measure(int granules)
{
    croft_stats_dump();
    offload(granules);
    croft_stats_dump();
}

static int is_right(int granules, long sum)
{
    for (int i = 0; i < granules; i++)
        if (out[i].word[0] != sum)
            return 0;
    return 1;
}

int main(int argc, char **argv)
{
    const char *state = argc > 1 ? argv[1] : "";
    int granules = argc > 2 ? atoi(argv[2]) : 0, cold = strcmp(state, "cold") == 0,
        dirty = strcmp(state, "dirty") == 0;
    if ((!cold && !dirty && strcmp(state, "clean") != 0) ||
        (granules != 1 && granules != 2 && granules != 4)) {
        (void)fprintf(stderr, "usage: nucd_offload cold|clean|dirty 1|2|4\n");
        return 2;
    }
    if (!cold)
        offload(granules);
    for (long i = 0; i < (cold ? 1 : OFFLOADS); i++) {
        if (dirty)
            make_dirty(i);
        measure(granules);
        if (!is_right(granules, dirty ? i + 1 : 1))
            return 1;
    }
    return 0;
}
