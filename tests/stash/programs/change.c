/* croft_stash_change() in all its cases. Each kernel stores before and after the change and notes what it reads. */
#include "stash_check.h"

enum { WORDS = 64, OTHER = 64, ALL = 256 };
static uint32_t global[ALL];
static uint32_t seen[WORDS];

struct change {
    struct croft_stash_map old, changed;
    uint32_t again; /* make the change, then change back */
};

/* Every second thread stores before the change, every third one after it. */
static void change(struct change *p)
{
    const uint32_t i = thread_x();
    uint32_t *word = croft_stash_pointer(&p->old, (uint64_t)croft_stash_add(&p->old));
    if (i % 2 == 0)
        word[i] += 1000;
    word = croft_stash_pointer(&p->changed, (uint64_t)croft_stash_change(0, &p->changed));
    seen[i] = word[i];
    if (i % 3 == 0)
        word[i] += 100000;
    if (p->again) {
        word = croft_stash_pointer(&p->old, (uint64_t)croft_stash_change(0, &p->old));
        seen[i] = word[i];
    }
}

static struct croft_stash_map map_of(uint32_t stash_base, uint32_t first, uint32_t noncoherent)
{
    return croft_stash_tile(stash_base, global + first, .objects = WORDS, .noncoherent = noncoherent);
}

static void run(struct change p)
{
    for (uint32_t i = 0; i < ALL; i++)
        global[i] = i;
    CHECK_RUN(change, &p, simt_dim(1), simt_dim(WORDS), .scratchpad = 2 * WORDS * 4);
}

/* What a word is where the first store, the second, or both remain. */
static uint32_t first_of(uint32_t i)
{
    return i % WORDS % 2 == 0 ? 1000 : 0;
}
static uint32_t second_of(uint32_t i)
{
    return i % WORDS % 3 == 0 ? 100000 : 0;
}

/* Checks the words of the old tile, of the other one, and what was read after the change, in terms of i. */
#define EXPECT(old_words, other_words, read_words)                                                           \
    for (uint32_t i = 0; i < WORDS; i++) {                                                                   \
        CHECK(global[i] == i + (old_words));                                                                 \
        CHECK(global[OTHER + i] == OTHER + i + (other_words));                                               \
        CHECK(seen[i] == (read_words));                                                                      \
        CHECK(global[2 * WORDS + i] == 2 * WORDS + i);                                                       \
    }

static void other_addresses(void)
{
    const uint32_t o = OTHER;
    run((struct change){map_of(0, 0, 0), map_of(0, o, 0), 0}); /* coherent to coherent */
    EXPECT(first_of(i), second_of(i), o + i)
    run((struct change){map_of(0, 0, 0), map_of(0, o, 1), 0}); /* coherent to non-coherent */
    EXPECT(first_of(i), 0, o + i)
    run((struct change){map_of(0, 0, 1), map_of(0, o, 0), 0}); /* non-coherent to coherent */
    EXPECT(0, second_of(i), o + i)
    run((struct change){map_of(0, 0, 1), map_of(0, o, 1), 0}); /* non-coherent to non-coherent */
    EXPECT(0, 0, o + i)
    run((struct change){map_of(0, 0, 0), map_of(0, o, 0), 1}); /* there and back */
    EXPECT(first_of(i), second_of(i), i + first_of(i))
}

static void same_tile(void)
{
    run((struct change){map_of(0, 0, 0), map_of(0, 0, 0), 0}); /* no change */
    EXPECT(first_of(i) + second_of(i), 0, i + first_of(i))
    run((struct change){map_of(0, 0, 0), map_of(0, 0, 1), 0}); /* later stores stay local */
    EXPECT(first_of(i), 0, i + first_of(i))
    run((struct change){map_of(0, 0, 1), map_of(0, 0, 0), 0}); /* earlier stores become global */
    EXPECT(first_of(i) + second_of(i), 0, i + first_of(i))
    run((struct change){map_of(0, 0, 1), map_of(0, 0, 1), 0});
    EXPECT(0, 0, i + first_of(i))
    run((struct change){map_of(0, 0, 0), map_of(0, 0, 1),
                        1}); /* stored while not coherent, then coherent again */
    EXPECT(first_of(i) + second_of(i), 0, i + first_of(i) + second_of(i))
    run((struct change){map_of(0, 0, 1), map_of(0, 0, 0), 1});
    EXPECT(first_of(i) + second_of(i), 0, i + first_of(i) + second_of(i))
}

/* The same addresses at another place of local memory are brought anew. */
static void other_place(void)
{
    run((struct change){map_of(0, 0, 0), map_of(WORDS * 4, 0, 0), 0});
    EXPECT(first_of(i) + second_of(i), 0, i + first_of(i))
    run((struct change){map_of(0, 0, 1), map_of(WORDS * 4, 0, 0), 0});
    EXPECT(second_of(i), 0, i)
}

/* Another shape of the same addresses is another tile. */
static void other_shape(void)
{
    const struct croft_stash_map spread =
        croft_stash_tile(0, global, .objects = WORDS / 2, .rows = 2, .stride_size = WORDS * 4);
    run((struct change){map_of(0, 0, 0), spread, 0});
    for (uint32_t i = 0; i < WORDS; i++) {
        const uint32_t at = i / 32 * WORDS + i % 32;
        CHECK(seen[i] == at + (at < WORDS ? first_of(i) : 0));
        CHECK(global[at] == at + (at < WORDS ? first_of(i) : 0) + second_of(i));
    }
}

/* A word is stored, and then gets its old value back while the map is not coherent. */
static void back(uint32_t *p)
{
    struct croft_stash_map map = croft_stash_tile(0, p, .objects = WORDS);
    uint32_t *word = croft_stash_pointer(&map, (uint64_t)croft_stash_add(&map));
    word[thread_x()] += 1000;
    map.coherent = 0;
    croft_stash_change(0, &map);
    word[thread_x()] -= 1000;
    map.coherent = 1;
    croft_stash_change(0, &map);
}

/* A block changes one map of several. */
static void two(uint32_t *p)
{
    uint32_t *a = croft_stash_map(simt_shared(), p, .objects = WORDS);
    uint32_t *b = croft_stash_map((char *)simt_shared() + WORDS * 4, p + WORDS, .objects = WORDS);
    const struct croft_stash_map next = croft_stash_tile(WORDS * 4, p + 2 * WORDS, .objects = WORDS);
    b[thread_x()] = 7;
    b = croft_stash_pointer(&next, (uint64_t)croft_stash_change(1, &next));
    a[thread_x()] += b[thread_x()];
    b[thread_x()] = 9;
}

int main(void)
{
    other_addresses();
    same_tile();
    other_place();
    other_shape();
    for (uint32_t i = 0; i < ALL; i++)
        global[i] = i;
    CHECK_RUN(back, global, simt_dim(1), simt_dim(WORDS), .scratchpad = WORDS * 4);
    for (uint32_t i = 0; i < ALL; i++)
        CHECK(global[i] == i);
    CHECK_RUN(two, global, simt_dim(1), simt_dim(WORDS), .scratchpad = 2 * WORDS * 4);
    for (uint32_t i = 0; i < WORDS; i++)
        CHECK(global[i] == i + 2 * WORDS + i && global[WORDS + i] == 7 && global[2 * WORDS + i] == 9);
    return check_end("change", global, sizeof global);
}
