/* Structures and tiles with typed macros: a field at offset 4, fields of 8 bytes, a tile of two dimensions, blocks that store
 * different elements of one tile, non-coherent and unmapped memory, four maps, early ends, use over several launches. */
#include "stash_check.h"

struct object {
    int32_t first;
    int32_t second; /* at offset 4 */
    double wide;
    int32_t last;
};

enum { OBJECTS = 512, BLOCKS = 4, EACH = OBJECTS / BLOCKS, SIDE = 32, TILE = 8 };
static struct object objects[OBJECTS], start[OBJECTS];
static int32_t picture[SIDE][SIDE];

static void begin(void)
{
    for (int i = 0; i < OBJECTS; i++)
        objects[i] = (struct object){i, 3 * i, 0.5 * i, -i};
    memcpy(start, objects, sizeof start);
    for (int i = 0; i < SIDE * SIDE; i++)
        picture[i / SIDE][i % SIDE] = i;
}

/* Checks that nothing but the named members of objects has changed. */
#define ONLY(condition)                                                                                      \
    for (int i = 0; i < OBJECTS; i++) {                                                                      \
        const struct object *o = &objects[i], *s = &start[i];                                                \
        (void)s;                                                                                             \
        CHECK(condition);                                                                                    \
    }

static void field(struct object *p)
{
    int32_t *second = croft_stash_map_of(simt_shared(), p + block_x() * EACH, second, .objects = EACH);
    second[thread_x()] += 1000;
}

static void wide(struct object *p)
{
    double *d = croft_stash_map(simt_shared(), &p[block_x() * EACH].wide, .objects = EACH,
                                .object_size = sizeof(struct object));
    d[thread_x()] += 0.25;
}

static void tile(int32_t (*p)[SIDE])
{
    int32_t *t = croft_stash_map(simt_shared(), &p[block_y() * TILE][block_x() * TILE], .objects = TILE,
                                 .rows = TILE, .stride_size = sizeof *p);
    const int32_t left = t[thread_y() * TILE + (thread_x() + 1) % TILE];
    simt_barrier();
    t[thread_y() * TILE + thread_x()] = 2 * left;
}

/* All blocks map all objects; each stores its own ones. */
static void shared(struct object *p)
{
    int32_t *last = croft_stash_map_of(simt_shared(), p, last, .objects = OBJECTS);
    const uint32_t mine = thread_x() * BLOCKS + block_x();
    last[mine] = last[mine] * 2 + 1;
}

/* Words of a tile that are not stored through the map may be stored by their global addresses. */
static void beside(struct object *p)
{
    struct object *mine = p + block_x() * EACH;
    int32_t *last = croft_stash_map_of(simt_shared(), mine, last, .objects = EACH);
    if (thread_x() % 2 == 0)
        last[thread_x()] = 1;
    else
        mine[thread_x()].last = 2;
}

static int32_t sums[BLOCKS];
static void scratch(struct object *p)
{
    int32_t *copy =
        croft_stash_map_of(simt_shared(), p + block_x() * EACH, first, .objects = EACH, .noncoherent = 1);
    int32_t *sum = (int32_t *)simt_shared() + EACH; /* not mapped */
    copy[thread_x()] *= 3;
    if (thread_x() == 0)
        *sum = 0;
    simt_barrier();
    __atomic_fetch_add(sum, copy[thread_x()], __ATOMIC_RELAXED);
    simt_barrier();
    if (thread_x() == 0)
        sums[block_x()] = *sum;
}

static void four(struct object *p)
{
    char *local = simt_shared();
    struct object *mine = p + block_x() * EACH;
    int32_t *a = croft_stash_map_of(local, mine, first, .objects = EACH);
    int32_t *b = croft_stash_map_of(local + EACH * 4, mine, second, .objects = EACH);
    double *c = croft_stash_map_of(local + EACH * 8, mine, wide, .objects = EACH, .noncoherent = 1);
    int32_t *d = croft_stash_map_of(local + EACH * 16, mine, last, .objects = EACH);
    const uint32_t i = thread_x(), j = (i + 1) % EACH;
    const int32_t next = a[j];
    simt_barrier();
    a[i] = b[i];
    b[i] = next;
    c[i] += 1;
    d[i] = (int32_t)(2 * c[i]);
}

/* A third of the threads has ended before the others map, a third ends before they store. */
static void early(struct object *p)
{
    if (thread_x() % 3 == 0)
        return;
    int32_t *a = croft_stash_map_of(simt_shared(), p + block_x() * EACH, first, .objects = EACH);
    if (thread_x() % 3 == 1)
        return;
    simt_barrier();
    a[thread_x()] = a[thread_x() - 1] + a[thread_x() - 2];
}

/* The first half of a launch's memory is neither mapped nor lost. */
static void kept(struct object *p)
{
    int32_t *mine = (int32_t *)simt_shared();
    mine[thread_x()] = (int32_t)thread_x() * 7;
    simt_barrier();
    int32_t *a =
        croft_stash_map_of((char *)simt_shared() + EACH * 4, p + block_x() * EACH, first, .objects = EACH);
    a[thread_x()] += mine[(thread_x() + 5) % EACH];
}

int main(void)
{
    const struct simt_dim grid = simt_dim(BLOCKS), block = simt_dim(EACH);
    begin();
    CHECK_RUN(field, objects, grid, block, .scratchpad = EACH * 4);
    ONLY(o->first == s->first && o->second == s->second + 1000 && o->wide == s->wide && o->last == s->last)
    begin();
    CHECK_RUN(wide, objects, grid, block, .scratchpad = EACH * 8);
    ONLY(o->first == s->first && o->second == s->second && o->wide == s->wide + 0.25 && o->last == s->last)
    CHECK_RUN(tile, picture, simt_dim(SIDE / TILE, SIDE / TILE), simt_dim(TILE, TILE),
              .scratchpad = TILE * TILE * 4);
    for (int y = 0; y < SIDE; y++)
        for (int x = 0; x < SIDE; x++)
            CHECK(picture[y][x] == 2 * (y * SIDE + x / TILE * TILE + (x + 1) % TILE));
    begin();
    CHECK_RUN(shared, objects, grid, block, .scratchpad = OBJECTS * 4);
    ONLY(o->first == s->first && o->second == s->second && o->wide == s->wide && o->last == 2 * s->last + 1)
    begin();
    CHECK_RUN(beside, objects, grid, block, .scratchpad = EACH * 4);
    ONLY(o->last == 1 + i % 2)
    begin();
    CHECK_RUN(scratch, objects, grid, block, .scratchpad = EACH * 4 + 64);
    for (int b = 0; b < BLOCKS; b++)
        CHECK(sums[b] == 3 * EACH * (2 * b * EACH + EACH - 1) / 2);
    ONLY(memcmp(o, s, sizeof *o) == 0)
    CHECK_RUN(four, objects, grid, block, .scratchpad = EACH * 20);
    ONLY(o->first == s->second && o->second == i / EACH * EACH + (i + 1) % EACH && o->wide == s->wide &&
         o->last == i + 2)
    begin();
    CHECK_RUN(early, objects, grid, block, .scratchpad = EACH * 4);
    ONLY(o->first == (i % EACH % 3 == 2 ? 2 * i - 3 : i))
    begin();
    CHECK_RUN(kept, objects, grid, block, .scratchpad = EACH * 8);
    ONLY(o->first == i + 7 * ((i % EACH + 5) % EACH))
    begin();
    for (int i = 0; i < 5; i++) /* later launches find what earlier ones have stored */
        CHECK_RUN(field, objects, grid, block, .scratchpad = EACH * 4);
    ONLY(o->second == s->second + 5000)
    return check_end("modes", objects, sizeof objects);
}
