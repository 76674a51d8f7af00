/* Write-backs to memory whose map changes (emu/mem/home.h): one that is under way reaches the old home before the change takes effect,
 * later ones wait and go to the new home. The stash has the port of machines without the DeNovo protocol. */
#include "emu/mem/home.h"
#include "emu/mem/request.h"
#include "emu/sim/event.h"
#include "emu/stash/port.h"
#include "tests/stash/rig.h"

enum { MOST = 8, FIRST = 0x1000 }; /* FIRST: the second tile lies so far behind the first one */
#define VIRTUAL  UINT64_C(0x80000000)
#define PHYSICAL (VIRTUAL + RIG_SHIFT)

/* A stash above a memory that holds requests until the test answers them. */
struct moves {
    struct rig rig;
    struct event_queue queue;
    struct home_map *map;
    struct mem_link link; /* the multiprocessor's */
    struct stash_port *port;
    struct mem_request *held[MOST];
    unsigned count, changes;
};

/* As a memory: a request's home is that of the present map. */
static bool hold(void *port, struct mem_link *link, struct mem_request *request, uint64_t now)
{
    struct moves *moves = port;
    (void)link, (void)now;
    assert_true(home_current(&request->home));
    assert_true(moves->count < MOST);
    moves->held[moves->count++] = request;
    return true;
}

/* Answers what is held, in order, and lets what follows happen. The homes are still those with which the requests came. */
static void answer(struct moves *moves, uint64_t now)
{
    const unsigned count = moves->count;
    struct mem_request *held[MOST];
    memcpy(held, moves->held, sizeof held);
    moves->count = 0;
    for (unsigned i = 0; i < count; i++) {
        assert_true(home_current(&held[i]->home));
        assert_true(mem_request_respond(held[i], now));
    }
    event_queue_run(&moves->queue, now);
}

static void changed(void *context, uint64_t now)
{
    (void)now;
    ((struct moves *)context)->changes++;
}

static struct home_layout layout_of(const char *text)
{
    struct home_layout layout = {.geometry = {1, 1, 2, 1, 1, 1, 16, 4, RIG_LINE}};
    (void)snprintf(layout.text, sizeof layout.text, "%s", text);
    return layout;
}

static void moves_start(struct moves *moves)
{
    static const struct mem_port_ops port_ops = {.request = hold};
    const struct stash_config config = {
        .maps = 4, .entries = 64, .pages = 64, .answer = STASH_ANSWER_MAPPED, .reads = 4, .writes = 4};
    const struct home_layout layout = layout_of("R4 H1 C2 O6");
    struct error err;
    *moves = (struct moves){.map = home_map_new()};
    assert_true(home_range_add(moves->map, PHYSICAL, 2 * FIRST, &layout, &err));
    event_queue_init(&moves->queue);
    rig_start(&moves->rig, &config);
    moves->link = (struct mem_link){.port_ops = &port_ops, .port = moves, .homes = moves->map};
    moves->port = stash_port_new(&config, &(struct stash_port_parts){.queue = &moves->queue,
                                                                     .link = &moves->link,
                                                                     .stash = moves->rig.stash,
                                                                     .line = RIG_LINE});
    stash_port_start(moves->port);
    stash_connect(moves->rig.stash, &stash_port_ops, moves->port);
}

/* A block that has stored a word of a tile, which is registered. Returns its number. */
static unsigned store(struct moves *moves, uint64_t global)
{
    uint32_t first;
    const struct stash_tile tile = rig_row(0, global, 16, true);
    const unsigned block = stash_begin_block(moves->rig.stash, 64, &first);
    assert_int_equal(stash_add(moves->rig.stash, block, &tile, 0), STASH_DONE);
    assert_int_equal(rig_access(&moves->rig, block, true, 1, first / STASH_WORD, first / STASH_WORD),
                     STASH_DONE);
    event_queue_run(&moves->queue, 0);
    assert_int_equal(moves->count, 1);
    answer(moves, 0);
    return block;
}

/* Another tile takes the place of the block's: its word is written back. */
static void write_back(struct moves *moves, unsigned block, uint64_t global, uint64_t now)
{
    const struct stash_tile tile = rig_row(0, global, 16, true);
    assert_int_equal(stash_change(moves->rig.stash, block, 0, &tile, now), STASH_DONE);
    event_queue_run(&moves->queue, now);
}

static void write_backs_wait(void **state)
{
    struct moves moves;
    struct error err;
    const struct home_layout other = layout_of("H1 R4 C2 O6");
    (void)state;
    moves_start(&moves);
    const unsigned early = store(&moves, VIRTUAL), late = store(&moves, VIRTUAL + FIRST);
    write_back(&moves, early, VIRTUAL + 0x400, 10);
    assert_int_equal(moves.count, 1);
    assert_true(moves.held[0]->op == MEM_WRITE && moves.held[0]->address == PHYSICAL);

    assert_true(home_range_change(moves.map, PHYSICAL, 2 * FIRST, &other, changed, &moves, 20, &err));
    assert_int_equal(moves.changes, 0); /* it waits for the write-back */
    write_back(&moves, late, VIRTUAL + FIRST + 0x400, 30);
    assert_int_equal(moves.count, 1); /* and the next one for it */

    answer(&moves, 40);
    assert_int_equal(moves.changes, 1);
    assert_int_equal(moves.count, 1);
    assert_true(moves.held[0]->op == MEM_WRITE && moves.held[0]->address == PHYSICAL + FIRST);
    assert_int_equal(moves.held[0]->home.controller, 1); /* 0 by the old map */
    answer(&moves, 50);
    assert_int_equal(moves.count, 0);
    assert_int_equal(stash_port_counted(moves.port)->write_backs, 2);
    stash_port_free(moves.port);
    rig_end(&moves.rig);
    home_map_free(moves.map);
}

int main(void)
{
    const struct CMUnitTest tests[] = {cmocka_unit_test(write_backs_wait)};
    return cmocka_run_group_tests(tests, NULL, NULL);
}
