/* ChgMap in all its cases (section 4.2), and maps of the same tile (section 4.5): calls to the level below, and the state before and
 * after. Lines of 64 bytes have four fields of rig_row(). */
#include "tests/stash/rig.h"

/* A block of 64 bytes with one map of 16 words at `global`. */
static unsigned begin(struct rig *rig, uint64_t global, bool coherent)
{
    uint32_t first;
    const struct stash_tile tile = rig_row(0, global, 16, coherent);
    const unsigned block = stash_begin_block(rig->stash, 64, &first);
    assert_int_equal(stash_add(rig->stash, block, &tile, 0), STASH_DONE);
    return block;
}

/* Words 0 and 1 are stored, 2 and 3 loaded. */
static unsigned begin_used(struct rig *rig, bool coherent)
{
    const unsigned block = begin(rig, 0x80000000, coherent);
    assert_int_equal(rig_access(rig, block, true, 1, 0, 1), STASH_DONE);
    assert_int_equal(rig_access(rig, block, false, 1, 2, 3), STASH_DONE);
    rig_answer(rig, 0x90000000, 0, 0x1100);
    rig->log[0] = '\0';
    return block;
}

#define BEFORE(mode)                                                                                         \
    "block 0: bytes 0 to 63, maps 1\n"                                                                       \
    "entry 0 (tail): map 0 of block 0, " mode ", bytes 0 to 63, 0x80000000, dirty 1\n"                       \
    "page 0x80000000: 0x90000000, entry 0\n"                                                                 \
    "chunk 0: RRVV............, entry 0, dirty\n"

/* New addresses: words of a coherent map are written back, those of a non-coherent one dropped. */
static void new_addresses(void **state)
{
    (void)state;
    for (int coherent = 0; coherent < 2; coherent++) {
        struct rig rig;
        rig_start(&rig, NULL);
        const struct stash_tile tile = rig_row(0, 0x80005000, 16, true);
        const unsigned block = begin_used(&rig, coherent);
        rig_state(&rig, coherent ? BEFORE("coherent") : BEFORE("non-coherent"));
        assert_int_equal(stash_change(rig.stash, block, 0, &tile, 0), STASH_DONE);
        rig_logged(&rig, coherent ? "write 0x90000000 map 0 0x11\n" : "");
        rig_state(&rig,
                  coherent
                      ? "block 0: bytes 0 to 63, maps 1\n"
                        "entry 0 (tail): map 0 of block 0, coherent, bytes 0 to 63, 0x80005000, dirty 0, "
                        "writing 2\n"
                        "page 0x80005000: 0x90005000, entry 0\n"
                      : "block 0: bytes 0 to 63, maps 1\n"
                        "entry 0 (tail): map 0 of block 0, coherent, bytes 0 to 63, 0x80005000, dirty 0\n"
                        "page 0x80005000: 0x90005000, entry 0\n");
        assert_int_equal(rig_access(&rig, block, false, 1, 0, 0), STASH_DONE);
        rig_logged(&rig, "read 0x90005000 map 0 0x1 of 0x1111\n");
        rig_end(&rig);
    }
}

static void to_non_coherent(void **state)
{
    struct rig rig;
    rig_start(&rig, NULL);
    const struct stash_tile tile = rig_row(0, 0x80000000, 16, false);
    const unsigned block = begin_used(&rig, true);
    (void)state;
    rig.full = true;
    assert_int_equal(stash_change(rig.stash, block, 0, &tile, 0), STASH_WAIT);
    rig_state(&rig, BEFORE("coherent"));
    rig.full = false;
    assert_int_equal(stash_change(rig.stash, block, 0, &tile, 0), STASH_DONE);
    rig_logged(&rig, "write 0x90000000 map 0 0x11\n");
    rig_state(
        &rig,
        "block 0: bytes 0 to 63, maps 1\n"
        "entry 0 (tail): map 0 of block 0, non-coherent, bytes 0 to 63, 0x80000000, dirty 0, writing 2\n"
        "page 0x80000000: 0x90000000, entry 0\n"
        "chunk 0: VVVV............\n");
    assert_int_equal(rig_access(&rig, block, true, 1, 0, 3), STASH_DONE);
    rig_logged(&rig, "");
    rig_end(&rig);
}

static void count_registered(void *context, enum stash_event event, unsigned entry, uint32_t words,
                             uint64_t now)
{
    (void)entry, (void)now;
    *(uint32_t *)context += event == STASH_REGISTERS ? words : 0;
}

static void to_coherent(void **state)
{
    struct rig rig;
    uint32_t told = 0;
    struct stash_observer observer = {.event = count_registered, .context = &told};
    rig_start(&rig, NULL);
    stash_observe(rig.stash, &observer);
    const struct stash_tile tile = rig_row(0, 0x80000000, 16, true);
    const unsigned block = begin_used(&rig, false);
    (void)state;
    assert_int_equal(rig_access(&rig, block, true, 1, 5, 5), STASH_DONE);
    assert_int_equal(stash_change(rig.stash, block, 0, &tile, 0), STASH_DONE);
    rig_logged(&rig, "enroll 0x90000000 map 0 0x11\nenroll 0x90000040 map 0 0x10\n");
    rig_state(&rig, "block 0: bytes 0 to 63, maps 1\n"
                    "entry 0 (tail): map 0 of block 0, coherent, bytes 0 to 63, 0x80000000, dirty 1\n"
                    "page 0x80000000: 0x90000000, entry 0\n"
                    "chunk 0: RRVV.R.........., entry 0, dirty\n");
    assert_int_equal(told, 3);
    assert_int_equal(stash_counted(rig.stash, 1)->registered, 3);
    rig_end(&rig);
}

/* Registrations that are refused are made later, each once. */
static void to_coherent_refused(void **state)
{
    struct rig rig;
    rig_start(&rig, NULL);
    const struct stash_tile tile = rig_row(0, 0x80000000, 16, true);
    const unsigned block = begin_used(&rig, false);
    (void)state;
    rig.full = true;
    assert_int_equal(stash_change(rig.stash, block, 0, &tile, 0), STASH_WAIT);
    rig_logged(&rig, "");
    rig.full = false;
    assert_int_equal(stash_change(rig.stash, block, 0, &tile, 0), STASH_DONE);
    rig_logged(&rig, "enroll 0x90000000 map 0 0x11\n");
    assert_int_equal(stash_change(rig.stash, block, 0, &tile, 0), STASH_DONE);
    rig_logged(&rig, "");
    rig_end(&rig);
}

/* A word that a coherent map of the stash has registered, too: the registry is told the new index, once it knows the old one. */
static void to_coherent_moves(void **state)
{
    struct rig rig;
    uint32_t first;
    rig_start(&rig, NULL);
    const struct stash_tile old = rig_row(0, 0x80000000, 16, true);
    struct stash_tile tile = rig_row(64, 0x80000000, 16, false);
    const unsigned block = stash_begin_block(rig.stash, 128, &first);
    (void)state;
    assert_int_equal(stash_add(rig.stash, block, &old, 0), STASH_DONE);
    assert_int_equal(stash_add(rig.stash, block, &tile, 0), STASH_DONE);
    assert_int_equal(rig_access(&rig, block, true, 1, 0, 0), STASH_DONE);
    assert_int_equal(rig_access(&rig, block, true, 2, 16, 16), STASH_DONE);
    rig_logged(&rig, "enroll 0x90000000 map 0 0x1\n");
    tile.coherent = 1;
    rig.pending = 0x1;
    assert_int_equal(stash_change(rig.stash, block, 1, &tile, 0), STASH_WAIT);
    rig_logged(&rig, "");
    rig.pending = 0;
    assert_int_equal(stash_change(rig.stash, block, 1, &tile, 0), STASH_DONE);
    rig_logged(&rig, "remap 0x90000000 map 1 0x1\n");
    assert_int_equal(stash_code(rig.stash, 0), STASH_CODE_INVALID);
    assert_int_equal(stash_code(rig.stash, 16), STASH_CODE_REGISTERED);
    rig_end(&rig);
}

/* A field of an object in each of three pages. */
static const struct stash_tile three_pages = {.global_base = 0x80200000,
                                              .field_size = 4,
                                              .object_size = 4096,
                                              .row_size = 3 * 4096,
                                              .strides = 1,
                                              .coherent = 1};

/* A VP-map that has no room for old and new pages together has it for the new ones. */
static void pages_of_the_old_map(void **state)
{
    struct rig rig;
    struct stash_tile tile = three_pages;
    (void)state;
    rig_start(&rig, &(struct stash_config){.maps = 4, .entries = 64, .pages = 3});
    const unsigned block = begin_used(&rig, true);
    const struct stash_tile *const once[] = {&tile};
    assert_int_equal(stash_needs(rig.stash, block, 0, once, 1), 3);
    assert_int_equal(stash_needs(rig.stash, block, -1, once, 1), 4);
    assert_int_equal(stash_change(rig.stash, block, 0, &tile, 0), STASH_DONE);
    rig_logged(&rig, "write 0x90000000 map 0 0x11\n");
    assert_null(stash_check(rig.stash));
    tile.global_base += 0x1000;
    tile.row_size += 4096;
    assert_int_equal(stash_change(rig.stash, block, 0, &tile, 0), STASH_ERROR);
    rig_end(&rig);
}

/* Pages that tiles which wait have in common, with one another or with maps that are there, are needed once. */
static void pages_in_common(void **state)
{
    struct rig rig;
    struct stash_tile tile = three_pages;
    struct stash_tile same = tile, behind = tile, beside = tile;
    const struct stash_tile *const tiles[] = {&tile, &same, &behind, &beside};
    (void)state;
    behind.global_base += 4096 + 8;
    beside.global_base += 64;
    rig_start(&rig, &(struct stash_config){.maps = 4, .entries = 64, .pages = 16});
    const unsigned block = begin_used(&rig, true);
    assert_int_equal(stash_needs(rig.stash, block, 0, tiles, 1), 3);
    assert_int_equal(stash_needs(rig.stash, block, 0, tiles, 2), 3);
    assert_int_equal(stash_needs(rig.stash, block, 0, tiles, 4), 4);
    assert_int_equal(stash_needs(rig.stash, block, -1, tiles, 4), 5);
    rig_end(&rig);
}

/* The same tile at the same place, by a later kernel: its words are hits, and what is stored anew goes with their index. */
static void same_place(void **state)
{
    struct rig rig;
    uint32_t told = 0;
    struct stash_observer observer = {.event = count_registered, .context = &told};
    (void)state;
    rig_start(&rig, NULL);
    stash_end_block(rig.stash, begin_used(&rig, true));
    stash_self_invalidate(rig.stash, 0);
    const unsigned block = begin(&rig, 0x80000000, true);
    stash_observe(rig.stash, &observer);
    rig.log[0] = '\0';
    rig_state(&rig,
              "block 0: bytes 0 to 63, maps 1\n"
              "entry 0: ended, coherent, bytes 0 to 63, 0x80000000, dirty 1\n"
              "entry 1 (tail): map 0 of block 0, coherent, bytes 0 to 63, 0x80000000, dirty 0, reuses 0\n"
              "page 0x80000000: 0x90000000, entry 1\n"
              "chunk 0: MM.............., entry 0\n");
    assert_int_equal(rig_access(&rig, block, false, 1, 0, 1), STASH_DONE);
    assert_int_equal(rig_access(&rig, block, true, 1, 1, 2), STASH_DONE);
    rig_logged(&rig, "enroll 0x90000000 map 0 0x100\n");
    assert_int_equal(told, 1);
    assert_int_equal(stash_counted(rig.stash, 1)->kept, 2);
    assert_int_equal(stash_words(rig.stash, 0x90000000, 0, STASH_REGISTERED), 0x111);
    stash_end_block(rig.stash, block);
    rig_state(&rig, "entry 0: ended, coherent, bytes 0 to 63, 0x80000000, dirty 1\n"
                    "entry 1 (tail): invalid, coherent, bytes 0 to 63, 0x80000000, dirty 0, reuses 0\n"
                    "page 0x80000000: 0x90000000, entry 1\n"
                    "chunk 0: MMM............., entry 0\n");
    rig_end(&rig);
}

/* A line of the same tile lies in two chunks, of which one has the index of the old map: each gets its registration. */
static void two_indexes(void **state)
{
    const struct stash_tile tile = {.global_base = 0x80000020,
                                    .field_size = 4,
                                    .object_size = 4,
                                    .row_size = 128,
                                    .stride_size = 128,
                                    .strides = 1,
                                    .coherent = 1};
    struct rig rig;
    unsigned block = 0;
    (void)state;
    rig_start(&rig, NULL);
    for (unsigned i = 0; i < 2; i++) {
        uint32_t first;
        if (i == 1)
            stash_end_block(rig.stash, block);
        block = stash_begin_block(rig.stash, 128, &first);
        assert_int_equal(stash_add(rig.stash, block, &tile, 0), STASH_DONE);
        assert_int_equal(rig_access(&rig, block, true, 1, i ? 9 : 8, i ? 17 : 8), STASH_DONE);
    }
    rig_logged(&rig,
               "enroll 0x90000040 map 0 0x1\nenroll 0x90000040 map 0 0xfe\nenroll 0x90000040 map 1 0x300\n");
    rig_end(&rig);
}

/* The same tile at the same place, non-coherent: the old dirty words are written back before the first access. */
static void same_place_non_coherent(void **state)
{
    struct rig rig;
    (void)state;
    rig_start(&rig, NULL);
    stash_end_block(rig.stash, begin_used(&rig, true));
    const unsigned block = begin(&rig, 0x80000000, false);
    assert_int_equal(rig_access(&rig, block, true, 1, 1, 1), STASH_DONE);
    rig_logged(&rig, "write 0x90000000 map 0 0x11\n");
    assert_int_equal(stash_words(rig.stash, 0x90000000, 1, STASH_REGISTERED), 0);
    rig_state(&rig,
              "block 0: bytes 0 to 63, maps 1\n"
              "entry 0: invalid, coherent, bytes 0 to 63, 0x80000000, dirty 0, writing 2\n"
              "entry 1 (tail): map 0 of block 0, non-coherent, bytes 0 to 63, 0x80000000, dirty 1, reuses 0\n"
              "page 0x80000000: 0x90000000, entry 1\n"
              "chunk 0: .R.............., entry 1, dirty\n");
    rig_end(&rig);
}

/* The same tile at another place, coherent: registered words move and the registry is told, Valid ones are copied while their
 * map is active, and others are asked for. */
static void other_place(void **state)
{
    struct rig rig;
    (void)state;
    rig_start(&rig, NULL);
    const unsigned old = begin_used(&rig, true), block = begin(&rig, 0x80000000, true);
    assert_int_equal(rig_access(&rig, block, false, 1, 16 + 1, 16 + 4), STASH_DONE);
    rig_logged(&rig, "remap 0x90000000 map 1 0x10\nread 0x90000040 map 1 0x1 of 0x1111\n");
    assert_int_equal(rig_access(&rig, block, true, 1, 16, 16), STASH_DONE);
    rig_logged(&rig, "remap 0x90000000 map 1 0x1\n");
    rig_state(&rig,
              "block 0: bytes 0 to 63, maps 1\n"
              "block 1: bytes 64 to 127, maps 1\n"
              "entry 0: map 0 of block 0, coherent, bytes 0 to 63, 0x80000000, dirty 0\n"
              "entry 1 (tail): map 0 of block 1, coherent, bytes 64 to 127, 0x80000000, dirty 1, reuses 0\n"
              "page 0x80000000: 0x90000000, entry 1\n"
              "chunk 0: ..VV............\n"
              "chunk 1: RRVV............, entry 1, dirty\n");
    /* until the registry has the new index, forwards carry the old one */
    assert_int_equal(stash_words(rig.stash, 0x90000000, 0, STASH_REGISTERED), 0x11);
    assert_int_equal(stash_words(rig.stash, 0x90000000, 1, STASH_REGISTERED), 0x11);
    stash_end_block(rig.stash, old);
    assert_int_equal(stash_counted(rig.stash, 1)->copies, 4);
    rig_end(&rig);
}

/* At another place, non-coherent: copies, and the old place keeps its words. */
static void other_place_non_coherent(void **state)
{
    struct rig rig;
    (void)state;
    rig_start(&rig, NULL);
    (void)begin_used(&rig, true);
    const unsigned block = begin(&rig, 0x80000000, false);
    assert_int_equal(rig_access(&rig, block, false, 1, 16, 17), STASH_DONE);
    assert_int_equal(rig_access(&rig, block, true, 1, 17, 17), STASH_DONE);
    rig_logged(&rig, "");
    rig_state(
        &rig,
        "block 0: bytes 0 to 63, maps 1\n"
        "block 1: bytes 64 to 127, maps 1\n"
        "entry 0: map 0 of block 0, coherent, bytes 0 to 63, 0x80000000, dirty 1\n"
        "entry 1 (tail): map 0 of block 1, non-coherent, bytes 64 to 127, 0x80000000, dirty 1, reuses 0\n"
        "page 0x80000000: 0x90000000, entry 1\n"
        "chunk 0: RRVV............, entry 0, dirty\n"
        "chunk 1: VR.............., entry 1, dirty\n");
    rig_end(&rig);
}

/* Only a perfect match is reused; what an overlapping map holds as registered moves all the same. */
static void overlap(void **state)
{
    struct rig rig;
    uint32_t first;
    const struct stash_tile tile = rig_row(0, 0x80000010, 8, true);
    (void)state;
    rig_start(&rig, NULL);
    (void)begin_used(&rig, true);
    const unsigned block = stash_begin_block(rig.stash, 64, &first);
    assert_int_equal(stash_add(rig.stash, block, &tile, 0), STASH_DONE);
    assert_int_equal(rig_access(&rig, block, true, 1, 16, 16), STASH_DONE);
    rig_logged(&rig, "remap 0x90000000 map 1 0x10\n");
    rig_state(&rig, "block 0: bytes 0 to 63, maps 1\n"
                    "block 1: bytes 64 to 127, maps 1\n"
                    "entry 0: map 0 of block 0, coherent, bytes 0 to 63, 0x80000000, dirty 1\n"
                    "entry 1 (tail): map 0 of block 1, coherent, bytes 64 to 95, 0x80000010, dirty 1\n"
                    "page 0x80000000: 0x90000000, entry 1\n"
                    "chunk 0: R.VV............, entry 0, dirty\n"
                    "chunk 1: R..............., entry 1, dirty\n");
    rig_end(&rig);
}

/* Without the key, nothing is reused: a map of the same tile writes back what the old one has left. */
static void no_replication(void **state)
{
    struct rig rig;
    (void)state;
    rig_start(&rig, &(struct stash_config){.maps = 4, .entries = 64, .pages = 64});
    stash_end_block(rig.stash, begin_used(&rig, true));
    const unsigned block = begin(&rig, 0x80000000, true);
    assert_int_equal(rig_access(&rig, block, false, 1, 0, 0), STASH_DONE);
    rig_logged(&rig, "write 0x90000000 map 0 0x11\nread 0x90000000 map 1 0x1 of 0x1\n");
    rig_end(&rig);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(new_addresses),     cmocka_unit_test(to_non_coherent),
        cmocka_unit_test(to_coherent),       cmocka_unit_test(to_coherent_refused),
        cmocka_unit_test(to_coherent_moves), cmocka_unit_test(pages_of_the_old_map),
        cmocka_unit_test(pages_in_common),   cmocka_unit_test(two_indexes),
        cmocka_unit_test(same_place),        cmocka_unit_test(same_place_non_coherent),
        cmocka_unit_test(other_place),       cmocka_unit_test(other_place_non_coherent),
        cmocka_unit_test(overlap),           cmocka_unit_test(no_replication),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
