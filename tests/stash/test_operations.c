/* The operations of a stash (sections 4.2, 4.3 and 4.5 of the paper), one by one: the calls to the level below, and the state
 * before and after. Words are 4 bytes, so chunk n has words 16 n to 16 n + 15; lines of 64 bytes have four of a map's fields. */
#include "tests/stash/rig.h"

#define PAGE_LINE "page 0x80000000: 0x90000000, entry 0\n"

/* A block of 256 bytes, words 0 to 63, with one map of 16 words. */
static unsigned begin(struct rig *rig, bool coherent)
{
    uint32_t first;
    const struct stash_tile tile = rig_row(0, 0x80000000, 16, coherent);
    const unsigned block = stash_begin_block(rig->stash, 256, &first);
    assert_int_equal(stash_add(rig->stash, block, &tile, 0), STASH_DONE);
    return block;
}

static void load_miss_and_hit(void **state)
{
    struct rig rig;
    (void)state;
    rig_start(&rig, NULL);
    const unsigned block = begin(&rig, true);
    rig_state(&rig,
              "block 0: bytes 0 to 255, maps 1\n"
              "entry 0 (tail): map 0 of block 0, coherent, bytes 0 to 63, 0x80000000, dirty 0\n" PAGE_LINE);
    assert_int_equal(rig_access(&rig, block, false, 1, 1, 2), STASH_DONE);
    rig_logged(&rig, "read 0x90000000 map 0 0x110 of 0x1111\n");
    rig_answer(&rig, 0x90000000, 0, 0x10);
    assert_int_equal(rig.waiter.done, 0);
    rig_answer(&rig, 0x90000000, 0, 0x1101);
    assert_int_equal(rig.waiter.done, 1);
    rig_state(&rig,
              "block 0: bytes 0 to 255, maps 1\n"
              "entry 0 (tail): map 0 of block 0, coherent, bytes 0 to 63, 0x80000000, dirty 0\n" PAGE_LINE
              "chunk 0: VVVV............\n");
    assert_int_equal(rig_access(&rig, block, false, 1, 0, 3), STASH_DONE);
    rig_logged(&rig, "");
    assert_int_equal(stash_counted(rig.stash, 1)->fetched, 4);
    rig_end(&rig);
}

/* What an answer brings is a key. */
static void answers(void **state)
{
    static const char *const names[] = {
        [STASH_ANSWER_WORD] = "word", [STASH_ANSWER_MAPPED] = "mapped", [STASH_ANSWER_LINE] = "line"};
    static const char *const logs[] = {[STASH_ANSWER_WORD] = "read 0x90000000 map 0 0x10 of 0x10\n",
                                       [STASH_ANSWER_MAPPED] = "read 0x90000000 map 0 0x10 of 0x1111\n",
                                       [STASH_ANSWER_LINE] = "read 0x90000000 map 0 0x10 of 0xffff\n"};
    (void)state;
    for (enum stash_answer answer = STASH_ANSWER_WORD; answer <= STASH_ANSWER_LINE; answer++) {
        struct rig rig;
        rig_start(&rig, &(struct stash_config){.maps = 4, .entries = 64, .pages = 64, .answer = answer});
        assert_string_equal(stash_answer_names[answer], names[answer]);
        assert_int_equal(rig_access(&rig, begin(&rig, true), false, 1, 1, 1), STASH_DONE);
        rig_logged(&rig, logs[answer]);
        rig_answer(&rig, 0x90000000, 0, answer == STASH_ANSWER_LINE ? 0xffff : 0x10);
        assert_int_equal(stash_code(rig.stash, 1), STASH_CODE_VALID);
        assert_int_equal(stash_code(rig.stash, 2),
                         answer == STASH_ANSWER_LINE ? STASH_CODE_VALID : STASH_CODE_INVALID);
        rig_end(&rig);
    }
}

/* The first store miss of a chunk sets its dirty bit and index; the second one does not count again. */
static void store_miss(void **state)
{
    struct rig rig;
    (void)state;
    rig_start(&rig, NULL);
    const unsigned block = begin(&rig, true);
    assert_int_equal(rig_access(&rig, block, true, 1, 3, 5), STASH_DONE);
    rig_logged(&rig, "enroll 0x90000000 map 0 0x1000\nenroll 0x90000040 map 0 0x11\n");
    assert_int_equal(rig.waiter.waits, 0);
    assert_int_equal(rig_access(&rig, block, true, 1, 5, 6), STASH_DONE);
    rig_logged(&rig, "enroll 0x90000040 map 0 0x100\n");
    rig_state(&rig,
              "block 0: bytes 0 to 255, maps 1\n"
              "entry 0 (tail): map 0 of block 0, coherent, bytes 0 to 63, 0x80000000, dirty 1\n" PAGE_LINE
              "chunk 0: ...RRRR........., entry 0, dirty\n");
    assert_int_equal(rig_access(&rig, block, false, 1, 3, 6), STASH_DONE);
    rig_logged(&rig, "");
    assert_int_equal(stash_counted(rig.stash, 1)->hits, 4 + 1); /* word 5 was stored to twice */
    assert_int_equal(rig_access(&rig, block, true, 1, 3, 6), STASH_DONE);
    rig_logged(&rig, "");
    assert_int_equal(stash_counted(rig.stash, 1)->hits, 8 + 1);
    assert_int_equal(stash_counted(rig.stash, 1)->misses, 4);
    rig_end(&rig);
}

/* A refused registration leaves the word as it was; the access is tried again. */
static void refused(void **state)
{
    struct rig rig;
    (void)state;
    rig_start(&rig, NULL);
    const unsigned block = begin(&rig, true);
    rig.full = true;
    assert_int_equal(rig_access(&rig, block, true, 1, 0, 0), STASH_WAIT);
    assert_int_equal(rig_access(&rig, block, false, 1, 1, 1), STASH_WAIT);
    assert_int_equal(stash_code(rig.stash, 0), STASH_CODE_INVALID);
    rig.full = false;
    stash_room(rig.stash, 0);
    assert_int_equal(rig.retries, 1);
    assert_int_equal(rig_access(&rig, block, true, 1, 0, 0), STASH_DONE);
    rig_logged(&rig, "enroll 0x90000000 map 0 0x1\n");
    rig_end(&rig);
}

/* The end of a block turns the dirty bit into marks. The next block's first access to the chunk, mapped or not, writes back all
 * of it, line by line, and the entry becomes invalid. */
static void lazy_write_back(void **state)
{
    (void)state;
    for (unsigned selector = 0; selector < 2; selector++) {
        struct rig rig;
        uint32_t first;
        rig_start(&rig, NULL);
        unsigned block = begin(&rig, true);
        assert_int_equal(rig_access(&rig, block, true, 1, 2, 4), STASH_DONE);
        rig_logged(&rig, "enroll 0x90000000 map 0 0x1100\nenroll 0x90000040 map 0 0x1\n");
        stash_end_block(rig.stash, block);
        rig_state(&rig, "entry 0 (tail): ended, coherent, bytes 0 to 63, 0x80000000, dirty 1\n" PAGE_LINE
                        "chunk 0: ..MMM..........., entry 0\n");
        block = stash_begin_block(rig.stash, 256, &first);
        const struct stash_tile tile = rig_row(0, 0x80001000, 4, true);
        assert_int_equal(stash_add(rig.stash, block, &tile, 0), STASH_DONE);
        rig_logged(&rig, "");
        assert_int_equal(rig_access(&rig, block, true, selector, 0, 0), STASH_DONE);
        rig_logged(&rig, selector ? "write 0x90000000 map 0 0x1100\nwrite 0x90000040 map 0 0x1\n"
                                    "enroll 0x90001000 map 1 0x1\n"
                                  : "write 0x90000000 map 0 0x1100\nwrite 0x90000040 map 0 0x1\n");
        rig_state(
            &rig,
            selector
                ? "block 0: bytes 0 to 255, maps 1\n"
                  "entry 0: invalid, coherent, bytes 0 to 63, 0x80000000, dirty 0, writing 3\n"
                  "entry 1 (tail): map 0 of block 0, coherent, bytes 0 to 15, 0x80001000, dirty 1\n" PAGE_LINE
                  "page 0x80001000: 0x90001000, entry 1\n"
                  "chunk 0: R..............., entry 1, dirty\n"
                : "block 0: bytes 0 to 255, maps 1\n"
                  "entry 0: invalid, coherent, bytes 0 to 63, 0x80000000, dirty 0, writing 3\n"
                  "entry 1 (tail): map 0 of block 0, coherent, bytes 0 to 15, 0x80001000, dirty 0\n" PAGE_LINE
                  "page 0x80001000: 0x90001000, entry 1\n");
        rig_end(&rig);
    }
}

/* A word whose registration is not acknowledged is not written back. */
static void pending_waits(void **state)
{
    struct rig rig;
    uint32_t first;
    (void)state;
    rig_start(&rig, NULL);
    unsigned block = begin(&rig, true);
    assert_int_equal(rig_access(&rig, block, true, 1, 0, 0), STASH_DONE);
    rig_logged(&rig, "enroll 0x90000000 map 0 0x1\n");
    stash_end_block(rig.stash, block);
    block = stash_begin_block(rig.stash, 256, &first);
    rig.pending = 1;
    assert_int_equal(rig_access(&rig, block, true, 0, 0, 0), STASH_WAIT);
    rig_logged(&rig, "");
    rig.pending = 0;
    stash_acknowledged(rig.stash, 0x90000000, 0, 1, 0);
    assert_int_equal(rig.retries, 1);
    assert_int_equal(rig_access(&rig, block, true, 0, 0, 0), STASH_DONE);
    rig_logged(&rig, "write 0x90000000 map 0 0x1\n");
    rig_end(&rig);
}

/* The end of a kernel keeps what is registered. */
static void kernel_end(void **state)
{
    struct rig rig;
    (void)state;
    rig_start(&rig, NULL);
    const unsigned block = begin(&rig, true);
    assert_int_equal(rig_access(&rig, block, true, 1, 0, 1), STASH_DONE);
    assert_int_equal(rig_access(&rig, block, false, 1, 2, 2), STASH_DONE);
    rig_answer(&rig, 0x90000000, 0, 0x1100);
    rig_state(&rig,
              "block 0: bytes 0 to 255, maps 1\n"
              "entry 0 (tail): map 0 of block 0, coherent, bytes 0 to 63, 0x80000000, dirty 1\n" PAGE_LINE
              "chunk 0: RRVV............, entry 0, dirty\n");
    rig.log[0] = '\0';
    stash_self_invalidate(rig.stash, 0);
    rig_logged(&rig, "acquire\n");
    rig_state(&rig,
              "block 0: bytes 0 to 255, maps 1\n"
              "entry 0 (tail): map 0 of block 0, coherent, bytes 0 to 63, 0x80000000, dirty 1\n" PAGE_LINE
              "chunk 0: RR.............., entry 0, dirty\n");
    assert_int_equal(stash_counted(rig.stash, 1)->unused, 2);
    rig_end(&rig);
}

/* A non-coherent map registers nothing, answers no forward, and its end drops what it has stored. */
static void non_coherent(void **state)
{
    struct rig rig;
    (void)state;
    rig_start(&rig, NULL);
    const unsigned block = begin(&rig, false);
    assert_int_equal(rig_access(&rig, block, true, 1, 0, 1), STASH_DONE);
    assert_int_equal(rig_access(&rig, block, false, 1, 2, 2), STASH_DONE);
    rig_logged(&rig, "read 0x90000000 map 0 0x100 of 0x1100\n");
    rig_answer(&rig, 0x90000000, 0, 0x1100);
    rig_state(&rig,
              "block 0: bytes 0 to 255, maps 1\n"
              "entry 0 (tail): map 0 of block 0, non-coherent, bytes 0 to 63, 0x80000000, dirty 1\n" PAGE_LINE
              "chunk 0: RRVV............, entry 0, dirty\n");
    assert_int_equal(stash_words(rig.stash, 0x90000000, 0, STASH_REGISTERED), 0);
    stash_end_block(rig.stash, block);
    rig_state(&rig, "entry 0 (tail): invalid, non-coherent, bytes 0 to 63, 0x80000000, dirty 0\n" PAGE_LINE);
    rig_logged(&rig, "");
    rig_end(&rig);
}

/* Forwards: by the RTLB and the entry. The last word that is taken away makes the chunk clean, and an ended entry invalid. */
static void forwards(void **state)
{
    struct rig rig;
    (void)state;
    rig_start(&rig, NULL);
    const unsigned block = begin(&rig, true);
    assert_int_equal(rig_access(&rig, block, true, 1, 4, 6), STASH_DONE);
    assert_int_equal(stash_words(rig.stash, 0x90000040, 0, STASH_REGISTERED), 0x111);
    assert_int_equal(stash_words(rig.stash, 0x90000080, 0, STASH_REGISTERED), 0);
    assert_int_equal(stash_place(rig.stash, 0x90000054, 0), UINT32_MAX);
    stash_set(rig.stash, 0x90000040, 0, 0x1, STASH_INVALID, 0);
    stash_set(rig.stash, 0x90000040, 0, 0x10, STASH_VALID, 0);
    rig_state(&rig, "block 0: bytes 0 to 255, maps 1\n"
                    "entry 0 (tail): map 0 of block 0, coherent, bytes 0 to 63, 0x80000000, dirty 1, writing "
                    "1\n" PAGE_LINE "chunk 0: .....VR........., entry 0, dirty\n");
    stash_written(rig.stash, 0x90000040, 0, 0x10, 0); /* the write-back that answers the Revoke */
    stash_end_block(rig.stash, block);
    rig_state(&rig, "entry 0 (tail): ended, coherent, bytes 0 to 63, 0x80000000, dirty 1\n" PAGE_LINE
                    "chunk 0: ......M........., entry 0\n");
    assert_int_equal(stash_words(rig.stash, 0x90000040, 0, STASH_REGISTERED), 0x100);
    stash_set(rig.stash, 0x90000040, 0, 0x100, STASH_INVALID, 0);
    rig_state(&rig, "entry 0 (tail): invalid, coherent, bytes 0 to 63, 0x80000000, dirty 0\n" PAGE_LINE);
    assert_int_equal(stash_counted(rig.stash, 1)->taken, 2);
    assert_int_equal(stash_words(rig.stash, 0x90000040, 0, STASH_REGISTERED), 0);
    rig_end(&rig);
}

/* Fills the ring of 8 entries by blocks that end, each with a dirty chunk of its own. */
static void fill_ring(struct rig *rig)
{
    for (unsigned i = 0; i < 8; i++) {
        uint32_t first;
        const struct stash_tile tile = rig_row(64 * (i % 4), 0x80000000 + 0x1000 * (uint64_t)i, 16, true);
        const unsigned hole = stash_begin_block(rig->stash, 256, &first),
                       block = stash_begin_block(rig->stash, 256, &first);
        const unsigned used = i < 4 ? hole : block;
        assert_int_equal(stash_add(rig->stash, used, &tile, 0), STASH_DONE);
        assert_int_equal(rig_access(rig, used, true, 1, 16 * i, 16 * i), STASH_DONE);
        stash_end_block(rig->stash, hole);
        stash_end_block(rig->stash, block);
    }
    rig->log[0] = '\0';
}

/* AddMap onto an entry that is still valid: written back first, and AddMap waits for the acknowledgement. */
static void add_onto_valid(void **state)
{
    struct rig rig;
    uint32_t first;
    const struct stash_tile tile = rig_row(0, 0x80100000, 16, true);
    (void)state;
    rig_start(&rig, &(struct stash_config){.maps = 4, .entries = 8, .pages = 64});
    fill_ring(&rig);
    const unsigned block = stash_begin_block(rig.stash, 256, &first);
    assert_int_equal(stash_add(rig.stash, block, &tile, 0), STASH_WAIT);
    rig_logged(&rig, "write 0x90000000 map 0 0x1\n");
    assert_int_equal(stash_add(rig.stash, block, &tile, 0), STASH_WAIT);
    rig_logged(&rig, "");
    assert_int_equal(stash_maps(rig.stash, block), 0);
    stash_written(rig.stash, 0x90000000, 0, 1, 0);
    assert_int_equal(rig.retries, 1);
    assert_int_equal(stash_add(rig.stash, block, &tile, 0), STASH_DONE);
    assert_int_equal(stash_maps(rig.stash, block), 1);
    /* entry 0 has been replaced, and its page has gone */
    assert_int_equal(stash_place(rig.stash, 0x90000000, 0), UINT32_MAX);
    assert_int_equal(stash_place(rig.stash, 0x90100000, 0), 0);
    rig_end(&rig);
}

/* A scout pointer writes back ahead of the tail, and AddMap does not wait. */
static void scout(void **state)
{
    struct rig rig;
    uint32_t first;
    const struct stash_tile tile = rig_row(0, 0x80100000, 16, true);
    (void)state;
    rig_start(&rig, &(struct stash_config){.maps = 4, .entries = 8, .pages = 64, .scout = 2});
    fill_ring(&rig);
    rig_state(&rig, "entry 0: invalid, coherent, bytes 0 to 63, 0x80000000, dirty 0, writing 1\n"
                    "entry 1: invalid, coherent, bytes 64 to 127, 0x80001000, dirty 0, writing 1\n"
                    "entry 2: ended, coherent, bytes 128 to 191, 0x80002000, dirty 1\n"
                    "entry 3: ended, coherent, bytes 192 to 255, 0x80003000, dirty 1\n"
                    "entry 4: ended, coherent, bytes 256 to 319, 0x80004000, dirty 1\n"
                    "entry 5: ended, coherent, bytes 320 to 383, 0x80005000, dirty 1\n"
                    "entry 6: ended, coherent, bytes 384 to 447, 0x80006000, dirty 1\n"
                    "entry 7 (tail): ended, coherent, bytes 448 to 511, 0x80007000, dirty 1\n"
                    "page 0x80000000: 0x90000000, entry 0\npage 0x80001000: 0x90001000, entry 1\n"
                    "page 0x80002000: 0x90002000, entry 2\npage 0x80003000: 0x90003000, entry 3\n"
                    "page 0x80004000: 0x90004000, entry 4\npage 0x80005000: 0x90005000, entry 5\n"
                    "page 0x80006000: 0x90006000, entry 6\npage 0x80007000: 0x90007000, entry 7\n"
                    "chunk 2: M..............., entry 2\nchunk 3: M..............., entry 3\n"
                    "chunk 4: M..............., entry 4\nchunk 5: M..............., entry 5\n"
                    "chunk 6: M..............., entry 6\nchunk 7: M..............., entry 7\n");
    stash_written(rig.stash, 0x90000000, 0, 1, 0);
    stash_written(rig.stash, 0x90001000, 1, 1, 0);
    const unsigned block = stash_begin_block(rig.stash, 256, &first);
    assert_int_equal(stash_add(rig.stash, block, &tile, 0), STASH_DONE);
    rig_logged(&rig, "write 0x90002000 map 2 0x1\n");
    rig_end(&rig);
}

/* Entries of blocks that stay are not replaced: the ring passes over them. */
static void active_entries_stay(void **state)
{
    struct rig rig;
    uint32_t first;
    (void)state;
    rig_start(&rig, &(struct stash_config){.maps = 1, .entries = 4, .pages = 64});
    const unsigned stays = begin(&rig, true);
    for (uint64_t i = 1; i < 10; i++) {
        const struct stash_tile tile = rig_row(0, 0x80000000 + 0x1000 * i, 16, true);
        const unsigned block = stash_begin_block(rig.stash, 64, &first);
        assert_int_equal(stash_add(rig.stash, block, &tile, 0), STASH_DONE);
        assert_null(stash_check(rig.stash));
        stash_end_block(rig.stash, block);
    }
    assert_int_equal(stash_map(rig.stash, stays, 0)->global, 0x80000000);
    rig_end(&rig);
}

/* The VP-map is full: the entries behind the tail are evicted in order, those with dirty words after their write-backs. */
static void vp_map_full(void **state)
{
    struct rig rig;
    uint32_t first;
    const struct stash_tile wide = {.global_base = 0x80100000,
                                    .field_size = 4,
                                    .object_size = 4096,
                                    .row_size = 2 * 4096,
                                    .stride_size = 2 * 4096,
                                    .strides = 1,
                                    .coherent = 1};
    (void)state;
    rig_start(&rig, &(struct stash_config){.maps = 1, .entries = 64, .pages = 4});
    for (unsigned i = 0; i < 4; i++) {
        const struct stash_tile tile = rig_row(0, 0x80000000 + 0x1000 * (uint64_t)i, 16, true);
        const unsigned block = stash_begin_block(rig.stash, 64, &first);
        assert_int_equal(stash_add(rig.stash, block, &tile, 0), STASH_DONE);
        if (i == 1 || i == 3)
            assert_int_equal(rig_access(&rig, block, true, 1, i == 1 ? 0 : 16, i == 1 ? 0 : 16), STASH_DONE);
        if (i != 2)
            stash_end_block(rig.stash, block);
    }
    rig.log[0] = '\0';
    const unsigned block = stash_begin_block(rig.stash, 64, &first);
    assert_int_equal(stash_add(rig.stash, block, &wide, 0), STASH_WAIT);
    rig_logged(&rig, "write 0x90001000 map 1 0x1\n");
    stash_written(rig.stash, 0x90001000, 1, 1, 0);
    assert_int_equal(stash_add(rig.stash, block, &wide, 0), STASH_DONE);
    rig_logged(&rig, "");
    rig_state(&rig, "block 0: bytes 0 to 63, maps 1\n"
                    "block 1: bytes 64 to 127, maps 1\n"
                    "entry 0: invalid, coherent, bytes 0 to 63, 0x80000000, dirty 0\n"
                    "entry 1: invalid, coherent, bytes 0 to 63, 0x80001000, dirty 0\n"
                    "entry 2: map 0 of block 0, coherent, bytes 0 to 63, 0x80002000, dirty 0\n"
                    "entry 3: ended, coherent, bytes 64 to 127, 0x80003000, dirty 1\n"
                    "entry 4 (tail): map 0 of block 1, coherent, bytes 64 to 71, 0x80100000, dirty 0\n"
                    "page 0x80100000: 0x90100000, entry 4\n"
                    "page 0x80101000: 0x90101000, entry 4\n"
                    "page 0x80002000: 0x90002000, entry 2\n"
                    "page 0x80003000: 0x90003000, entry 3\n"
                    "chunk 1: M..............., entry 3\n");
    rig_end(&rig);
}

/* More pages than the VP-map has, or than other blocks leave of it: an error, and nothing has changed but evictions. */
static void too_many_pages(void **state)
{
    struct rig rig;
    uint32_t first;
    struct stash_tile wide = {.global_base = 0x80100000,
                              .field_size = 4,
                              .object_size = 4096,
                              .row_size = 5 * 4096,
                              .stride_size = 5 * 4096,
                              .strides = 1,
                              .coherent = 1};
    (void)state;
    rig_start(&rig, &(struct stash_config){.maps = 1, .entries = 64, .pages = 4});
    unsigned block = stash_begin_block(rig.stash, 64, &first);
    assert_int_equal(stash_add(rig.stash, block, &wide, 0), STASH_ERROR);
    wide.row_size = 4 * 4096;
    assert_int_equal(stash_add(rig.stash, block, &wide, 0), STASH_DONE);
    wide.global_base += 0x10000;
    wide.row_size = 4096;
    block = stash_begin_block(rig.stash, 64, &first);
    assert_int_equal(stash_add(rig.stash, block, &wide, 0), STASH_ERROR);
    assert_int_equal(stash_maps(rig.stash, block), 0);
    rig_end(&rig);
}

/* Entries of running blocks are not replaced: one more map is an error. */
static void too_many_maps(void **state)
{
    struct rig rig;
    uint32_t first;
    const struct stash_tile tile = rig_row(0, 0x80001000, 16, true);
    (void)state;
    rig_start(&rig, &(struct stash_config){.maps = 1, .entries = 2, .pages = 4});
    const unsigned ends = begin(&rig, true);
    assert_int_equal(stash_add(rig.stash, stash_begin_block(rig.stash, 64, &first), &tile, 0), STASH_DONE);
    assert_int_equal(stash_active(rig.stash), 2);
    const unsigned block = stash_begin_block(rig.stash, 64, &first);
    assert_int_equal(stash_add(rig.stash, block, &tile, 0), STASH_ERROR);
    stash_end_block(rig.stash, ends);
    assert_int_equal(stash_add(rig.stash, block, &tile, 0), STASH_DONE);
    rig_end(&rig);
}

/* A page that an old and a new map share stays when the new one's entry is replaced, as long as the old one needs it. */
static void shared_page(void **state)
{
    struct rig rig;
    uint32_t first;
    (void)state;
    rig_start(&rig, &(struct stash_config){.maps = 1, .entries = 2, .pages = 4});
    const unsigned stays = begin(&rig, true);
    assert_int_equal(rig_access(&rig, stays, true, 1, 0, 0), STASH_DONE);
    for (uint64_t i = 0; i < 2; i++) {
        const struct stash_tile tile = rig_row(0, 0x80000400 + 0x10000 * i, 16, true);
        const unsigned block = stash_begin_block(rig.stash, 64, &first);
        assert_int_equal(stash_add(rig.stash, block, &tile, 0), STASH_DONE);
        stash_end_block(rig.stash, block);
    }
    rig_state(&rig, "block 0: bytes 0 to 255, maps 1\n"
                    "entry 0: map 0 of block 0, coherent, bytes 0 to 63, 0x80000000, dirty 1\n"
                    "entry 1 (tail): invalid, coherent, bytes 256 to 319, 0x80010400, dirty 0\n"
                    "page 0x80000000: 0x90000000, entry 0\n"
                    "page 0x80010000: 0x90010000, entry 1\n"
                    "chunk 0: R..............., entry 0, dirty\n");
    rig_end(&rig);
}

/* AddMap asks for a map's first words: loads hit those that have come. An answer to what an earlier kernel has asked for is not
 * taken. */
static void prefetch(void **state)
{
    struct rig rig;
    (void)state;
    rig_start(&rig, &(struct stash_config){.maps = 4, .entries = 64, .pages = 64, .prefetch = 6});
    const unsigned block = begin(&rig, true);
    stash_prefetch(rig.stash, block, 0, 0, 0);
    rig_logged(&rig, "read 0x90000000 map 0 0x1111 of 0x1111\nread 0x90000040 map 0 0x11 of 0x11\n");
    assert_int_equal(stash_counted(rig.stash, 1)->prefetched, 6);
    rig_answer(&rig, 0x90000000, 0, 0x1111);
    assert_int_equal(rig_access(&rig, block, false, 1, 0, 3), STASH_DONE);
    assert_int_equal(rig_access(&rig, block, true, 1, 1, 1), STASH_DONE);
    rig_logged(&rig, "enroll 0x90000000 map 0 0x10\n");
    stash_prefetch(rig.stash, block, 0, 0, 0); /* of these words, there are those of the second line */
    rig_logged(&rig, "read 0x90000040 map 0 0x11 of 0x11\n");

    stash_self_invalidate(rig.stash, 0);
    rig_logged(&rig, "acquire\n");
    assert_int_equal(rig_access(&rig, block, false, 1, 4, 4), STASH_WAIT);
    rig_logged(&rig, "");
    stash_arrived(rig.stash, 0x90000040, 0, 0x11, 0);
    assert_int_equal(rig.retries, 1);
    assert_int_equal(rig_access(&rig, block, false, 1, 4, 4), STASH_DONE);
    rig_logged(&rig, "read 0x90000040 map 0 0x1 of 0x1\n");
    rig_answer(&rig, 0x90000040, 0, 0x1);

    rig.full = true;
    stash_prefetch(rig.stash, block, 0, 0, 0);
    rig.full = false;
    rig_logged(&rig, "");
    assert_int_equal(stash_counted(rig.stash, 1)->prefetched, 8);
    rig_end(&rig);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(load_miss_and_hit),
        cmocka_unit_test(answers),
        cmocka_unit_test(store_miss),
        cmocka_unit_test(refused),
        cmocka_unit_test(lazy_write_back),
        cmocka_unit_test(pending_waits),
        cmocka_unit_test(kernel_end),
        cmocka_unit_test(non_coherent),
        cmocka_unit_test(forwards),
        cmocka_unit_test(add_onto_valid),
        cmocka_unit_test(scout),
        cmocka_unit_test(active_entries_stay),
        cmocka_unit_test(vp_map_full),
        cmocka_unit_test(too_many_pages),
        cmocka_unit_test(shared_page),
        cmocka_unit_test(too_many_maps),
        cmocka_unit_test(prefetch),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
