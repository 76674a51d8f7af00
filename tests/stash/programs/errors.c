/* errors CASE: a kernel whose map is wrong in one way. tests/stash/run.sh has the messages. */
#include "stash_check.h"

static uint32_t global[4096];

struct wrong {
    struct croft_stash_map first, second; /* strides 0: none */
    uint64_t other;                       /* a thread's stride_size differs by this much */
    uint64_t index;                       /* of the map to change into the second one */
    uint32_t change, offset, dma;         /* offset: bytes that the descriptor is off its alignment */
};

static void operate(struct wrong *p)
{
    const struct croft_stash_map *first = (const struct croft_stash_map *)((char *)&p->first + p->offset);
    struct croft_stash_map own = p->second;
    own.stride_size += thread_x() == 5 ? p->other : 0;
    if (p->dma)
        croft_dma_load(first);
    else if (first->strides)
        croft_stash_add(first);
    if (p->change == 2) { /* onto the second map's chunks */
        croft_stash_add(&own);
        croft_stash_change(0, &own);
    } else if (p->change)
        croft_stash_change(p->index, &own);
    else if (own.strides)
        croft_stash_add(&own);
}

/* What only a stash refuses: accesses. */
static void access_outside(struct wrong *p)
{
    volatile uint32_t *word = croft_stash_pointer(&p->first, (uint64_t)croft_stash_add(&p->first));
    word[croft_stash_length(&p->first) / 4] = 1;
}

static void access_atomic(struct wrong *p)
{
    uint32_t *word = croft_stash_pointer(&p->first, (uint64_t)croft_stash_add(&p->first));
    __atomic_fetch_add(word, 1, __ATOMIC_RELAXED);
}

static void access_selector(struct wrong *p)
{
    volatile uint32_t *word = croft_stash_pointer(&p->first, (uint64_t)croft_stash_add(&p->first) + 1);
    *word = 1;
}

static void five(struct wrong *p)
{
    for (uint32_t i = 0; i < 5; i++) {
        struct croft_stash_map map = p->first;
        map.stash_base = i * 64;
        croft_stash_add(&map);
    }
}

static bool is(const char *name, const char *other)
{
    return strcmp(name, other) == 0;
}

/* Rows of 16 objects of 8 bytes, of which the field is the first half. */
static struct croft_stash_map usual(void)
{
    return (struct croft_stash_map){.global_base = (uintptr_t)global,
                                    .field_size = 4,
                                    .object_size = 8,
                                    .row_size = 128,
                                    .stride_size = 256,
                                    .strides = 4,
                                    .coherent = 1};
}

/* One parameter of the descriptor that is wrong. */
static bool one_parameter(const char *name, struct croft_stash_map *map)
{
    const struct {
        const char *name;
        uint64_t *parameter, value;
    } cases[] = {
        {"stash_base", &map->stash_base, 32},   {"global_base", &map->global_base, 0x10002},
        {"field_0", &map->field_size, 0},       {"field_6", &map->field_size, 6},
        {"object_small", &map->object_size, 0}, {"object_7", &map->object_size, 7},
        {"row_0", &map->row_size, 0},           {"row_part", &map->row_size, 132},
        {"strides", &map->strides, 0},          {"stride", &map->stride_size, 124},
        {"stride_2", &map->stride_size, 258},   {"coherent", &map->coherent, 2},
        {"range", &map->stash_base, 832},       {"far", &map->stash_base, UINT64_MAX - 63},
        {"many", &map->strides, UINT64_MAX},    {"wrap", &map->global_base, UINT64_MAX - 3},
    };
    for (size_t i = 0; i < sizeof cases / sizeof cases[0]; i++)
        if (is(name, cases[i].name)) {
            *cases[i].parameter = cases[i].value;
            return true;
        }
    return false;
}

int main(int argc, char **argv)
{
    static struct wrong p; /* aligned as its members are */
    const char *name = argc == 2 ? argv[1] : "";
    p.first = usual();
    if (is(name, "overlap") || is(name, "differ") || is(name, "change") || is(name, "change_overlap"))
        p.second = usual();
    if (is(name, "overlap"))
        p.second.stash_base = 192;
    else if (is(name, "differ"))
        p.other = 256, p.second.stash_base = 256;
    else if (is(name, "change"))
        p.change = 1, p.index = 1;
    else if (is(name, "change_none"))
        p.second = p.first, p.first.strides = 0, p.change = 1;
    else if (is(name, "change_differ"))
        p.second = p.first, p.change = 1, p.other = 4;
    else if (is(name, "alignment"))
        p.offset = 4;
    else if (is(name, "change_overlap"))
        p.second.stash_base = 256, p.change = 2;
    else if (is(name, "dma"))
        p.dma = 1, p.first.field_size = 12;
    else if (!one_parameter(name, &p.first) && !is(name, "five") && strncmp(name, "access_", 7) != 0)
        return 2;
    /* Strides that are wrong are in the second descriptor, because 0 means none in the first one. */
    if (is(name, "strides"))
        p.second = p.first, p.change = 1, p.first = usual();
    if (is(name, "five")) {
        p.first.strides = 1;
        CHECK_RUN(five, &p, simt_dim(2), simt_dim(32), .scratchpad = 1024);
    }
    if (is(name, "access_outside"))
        CHECK_RUN(access_outside, &p, simt_dim(2), simt_dim(32), .scratchpad = 1024);
    if (is(name, "access_atomic"))
        CHECK_RUN(access_atomic, &p, simt_dim(2), simt_dim(32), .scratchpad = 1024);
    if (is(name, "access_selector"))
        CHECK_RUN(access_selector, &p, simt_dim(2), simt_dim(32), .scratchpad = 1024);
    CHECK_RUN(operate, &p, simt_dim(2), simt_dim(32), .scratchpad = 1024);
    puts("no error");
    return 0;
}
