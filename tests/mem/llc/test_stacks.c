/* Lines of thread stacks in the last level: held in part, without being read from memory. */
#include "tests/mem/llc/rig.h"

enum { LINE = 64, OUTSIDE = RIG_CLIENTS - 1 };

static uint64_t last_mask, last_size; /* of the last write to memory */

static void accepted(void *context, const struct mem_request *request)
{
    struct rig *rig = context;
    if (request->op != MEM_WRITE)
        return;
    rig->written = request->address;
    last_mask = request->mask;
    last_size = request->size;
}

static struct rig *stacks_new(uint32_t ways)
{
    struct llc_config config = one_set(ways);
    struct rig *rig = rig_new(&config);
    rig->memory.accepted = accepted;
    return rig;
}

/* Accesses 32-bit words from `first` on; the mask counts from there. Returns the latency in clocks. */
static uint64_t access_words(struct rig *rig, enum mem_op op, uint64_t line, unsigned first, unsigned count,
                             uint64_t mask, bool stack)
{
    struct scripted *client = &rig->clients[OUTSIDE];
    mem_request_init(&client->request, op, line + 4 * first, 4 * count);
    client->request.mask = mask;
    client->request.stack = stack;
    rig_send(client);
    rig_drain(rig);
    return rig_clocks(client);
}

/* Words 2, 3 and 6 are stored to a line that is not there: nothing is read. A read that needs words 2 and 6 hits, and
 * learns which words came. A read of word 4 brings the line in, and it stays dirty. A store that is not to a stack
 * reads its line first. */
static void words_are_held(void **state)
{
    (void)state;
    struct rig *rig = stacks_new(4);
    assert_int_equal(access_words(rig, MEM_WRITE, 0, 2, 5, 0x13, true), HIT);
    assert_int_equal(rig->memory.seen[MEM_READ], 0);
    assert_int_equal(access_words(rig, MEM_READ, 0, 0, 16, 0x44, true), HIT);
    assert_int_equal(rig->clients[OUTSIDE].request.mask, 0x4c);
    assert_int_equal(access_words(rig, MEM_WRITE, 0, 0, 1, UINT64_MAX, true), HIT);
    assert_int_equal(access_words(rig, MEM_READ, 0, 0, 16, 0x1, true), HIT);
    assert_int_equal(rig->clients[OUTSIDE].request.mask, 0x4d);
    assert_int_equal(access_words(rig, MEM_READ, 0, 0, 16, 0x10, true), MISS);
    assert_true(rig->clients[OUTSIDE].request.mask == UINT64_MAX);
    assert_int_equal(rig->memory.seen[MEM_READ], 1);
    assert_true(llc_line_state(rig->llc, 0).dirty);
    assert_int_equal(access_words(rig, MEM_READ, 0, 0, 16, UINT64_MAX, false), HIT);
    (void)access_words(rig, MEM_WRITE, LINE, 2, 5, 0x13, false);
    assert_int_equal(rig->memory.seen[MEM_READ], 2);
    assert_int_equal(llc_counted(rig->llc)->fills, 2);
    rig_free(rig);
}

/* One way: the next line displaces it, and only its words go to memory, from the first to the last one. When the line
 * has been stored to as a whole, all of it does. */
static void words_are_written(void **state)
{
    (void)state;
    struct rig *rig = stacks_new(1);
    (void)access_words(rig, MEM_WRITE, 0, 2, 5, 0x13, true);
    (void)access_words(rig, MEM_WRITE, LINE, 0, 8, UINT64_MAX, true);
    assert_int_equal(rig->written, 8);
    assert_int_equal(last_size, 20);
    assert_int_equal(last_mask, 0x13);
    (void)access_words(rig, MEM_WRITE, LINE, 8, 8, UINT64_MAX, true);
    (void)access_words(rig, MEM_READ, 2 * LINE, 0, 16, UINT64_MAX, false);
    assert_int_equal(rig->written, LINE);
    assert_int_equal(last_size, LINE);
    assert_true(last_mask == UINT64_MAX);
    assert_int_equal(rig->memory.seen[MEM_READ], 1);
    rig_free(rig);
}

/* A line that is on its way to memory in part is not read before memory has it. A dropped one is not written. */
static void lines_are_dropped(void **state)
{
    (void)state;
    struct rig *rig = stacks_new(1);
    struct scripted *client = &rig->clients[OUTSIDE];
    (void)access_words(rig, MEM_WRITE, 0, 2, 1, UINT64_MAX, true);
    llc_ops.maintain(rig->llc, &client->link, MEM_INVALIDATE, 0, LINE);
    assert_false(llc_line_state(rig->llc, 0).present);
    (void)access_words(rig, MEM_WRITE, LINE, 2, 1, UINT64_MAX, true);
    assert_int_equal(rig->memory.seen[MEM_WRITE], 0);
    rig->memory.closed_to_writes = true;
    (void)access_words(rig, MEM_WRITE, 2 * LINE, 2, 1, UINT64_MAX, true); /* displaces line 1 */
    mem_request_init(&client->request, MEM_READ, LINE, LINE);
    rig_send(client);
    rig_drain(rig);
    assert_int_equal(client->done, 0);
    rig->memory.closed_to_writes = false;
    slow_open(&rig->memory);
    rig_drain(rig);
    assert_true(client->done > 0);
    rig_free(rig);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(words_are_held),
        cmocka_unit_test(words_are_written),
        cmocka_unit_test(lines_are_dropped),
    };
    return cmocka_run_group_tests_name("thread stacks in the last level", tests, NULL, NULL);
}
