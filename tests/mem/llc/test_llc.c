/* The last level with scripted clients: latencies by the formula in llc.h, states, and every race.
 *
 * Defaults: tags 4 clocks, hit 12, probe 6 more, fill 2; the rig's memory takes 100. */
#include "emu/sim/mix.h"
#include "tests/mem/llc/rig.h"
#include "tests/sim/track_text.h"

static void miss_then_hit(void **state)
{
    (void)state;
    struct rig *rig = rig_default();
    struct scripted *a = &rig->clients[0];
    assert_int_equal(rig_do(rig, 0, READ, 0x1000), MISS);
    assert_int_equal(a->request.level, MEM_LEVEL_MEMORY);
    assert_true(a->request.exclusive);
    check_line(rig, 0x1000, 1, 0, false);
    /* The client evicted the line silently: no probe. */
    assert_int_equal(rig_do(rig, 0, READ, 0x1000), HIT);
    assert_int_equal(a->request.level, MEM_LEVEL_L2);
    assert_true(a->request.exclusive);
    assert_int_equal(a->probes, 0);
    /* 1 fs after a clock edge: the rest of the clock is added. */
    event_queue_run(&rig->queue, 3000 * (uint64_t)CLOCK + 1);
    rig_ask(a, READ, 0x1000);
    rig_drain(rig);
    assert_int_equal(a->done, (3001 + HIT) * (uint64_t)CLOCK);
    assert_int_equal(llc_counted(rig->llc)->hits, 2);
    assert_int_equal(llc_counted(rig->llc)->misses, 1);
    rig_free(rig);
}

static void second_reader_shares(void **state)
{
    (void)state;
    struct rig *rig = rig_default();
    (void)rig_do(rig, 0, EXCLUSIVE, 0x40);
    check_line(rig, 0x40, 1, 0, false);
    rig->clients[0].dirty = true;
    assert_int_equal(rig_do(rig, 1, READ, 0x40), HIT + PROBE);
    assert_false(rig->clients[1].request.exclusive);
    assert_int_equal(rig->clients[0].probes, 1);
    assert_int_equal(rig->clients[0].probed, 0x40);
    assert_int_equal(rig->clients[0].event, PROTOCOL_PROBE_SHARE);
    check_line(rig, 0x40, 3, -1, true);
    assert_int_equal(rig_do(rig, 2, READ, 0x40), HIT);
    check_line(rig, 0x40, 7, -1, true);
    rig_free(rig);
}

static void writer_takes_the_line_from_all(void **state)
{
    (void)state;
    struct rig *rig = rig_default();
    for (unsigned client = 0; client < 3; client++)
        (void)rig_do(rig, client, READ, 0x80);
    check_line(rig, 0x80, 7, -1, false);
    assert_int_equal(rig_do(rig, 3, EXCLUSIVE, 0x80), HIT + PROBE);
    assert_true(rig->clients[3].request.exclusive);
    /* The first client was probed twice: it was the owner before the second read. */
    assert_int_equal(rig->clients[0].probes, 2);
    for (unsigned client = 0; client < 3; client++)
        assert_int_equal(rig->clients[client].event, PROTOCOL_PROBE_TAKE);
    check_line(rig, 0x80, 8, 3, false);
    rig_free(rig);
}

/* Both have a copy and want to write: the first to arrive wins. The second loses its copy, looks up the tags
 * when the first is answered, and gets the line as by an exclusive read. */
static void upgrade_of_a_copy_taken_away(void **state)
{
    (void)state;
    struct rig *rig = rig_default();
    (void)rig_do(rig, 0, READ, 0xc0);
    (void)rig_do(rig, 1, READ, 0xc0);
    rig_ask(&rig->clients[0], UPGRADE, 0xc0);
    rig_ask(&rig->clients[1], UPGRADE, 0xc0);
    event_queue_run(&rig->queue, rig->queue.now + (HIT + PROBE) * CLOCK);
    assert_int_equal(rig_clocks(&rig->clients[0]), HIT + PROBE);
    assert_int_equal(rig->clients[1].event, PROTOCOL_PROBE_TAKE);
    rig->clients[0].dirty = true;
    rig_drain(rig);
    assert_int_equal(rig_clocks(&rig->clients[1]), HIT + PROBE + (HIT - TAGS) + PROBE);
    assert_true(rig->clients[1].request.exclusive);
    check_line(rig, 0xc0, 2, 1, false);
    assert_int_equal(llc_counted(rig->llc)->upgrades, 1);
    assert_int_equal(llc_counted(rig->llc)->lost_upgrades, 1);
    assert_int_equal(llc_counted(rig->llc)->line_waits, 1);
    /* A client with the only copy upgrades without a probe. */
    (void)rig_do(rig, 2, READ, 0x100);
    assert_int_equal(rig_do(rig, 2, UPGRADE, 0x100), HIT);
    rig_free(rig);
}

static void write_back_frees_or_keeps(void **state)
{
    (void)state;
    struct rig *rig = rig_default();
    (void)rig_do(rig, 0, EXCLUSIVE, 0x40);
    assert_int_equal(rig_do(rig, 0, BACK_KEEP, 0x40), HIT);
    check_line(rig, 0x40, 1, -1, true);
    (void)rig_do(rig, 0, UPGRADE, 0x40);
    (void)rig_do(rig, 0, BACK, 0x40);
    check_line(rig, 0x40, 0, -1, true);
    assert_int_equal(rig_do(rig, 1, READ, 0x40), HIT);
    assert_true(rig->clients[1].request.exclusive);
    assert_int_equal(rig->clients[0].probes, 0);
    rig_free(rig);
}

/* The line is taken from the write buffer while its write-back is under way: the write-back changes
 * nothing. */
static void late_write_back(void **state)
{
    (void)state;
    struct rig *rig = rig_default();
    (void)rig_do(rig, 0, EXCLUSIVE, 0x40);
    rig->clients[0].dirty = true;
    rig_ask(&rig->clients[1], EXCLUSIVE, 0x40);
    rig_ask(&rig->clients[0], BACK, 0x40);
    rig_drain(rig);
    assert_int_equal(rig_clocks(&rig->clients[1]), HIT + PROBE);
    assert_int_equal(rig_clocks(&rig->clients[0]), HIT + PROBE + HIT - TAGS);
    assert_int_equal(llc_counted(rig->llc)->late_writes, 1);
    check_line(rig, 0x40, 2, 1, true);
    rig_free(rig);
}

/* One request to memory; the second reader looks up the tags when the first is answered, and probes it. */
static void misses_of_one_line_unite(void **state)
{
    (void)state;
    struct rig *rig = rig_default();
    rig_ask(&rig->clients[0], READ, 0x40);
    rig_ask(&rig->clients[1], READ, 0x40);
    rig_drain(rig);
    assert_int_equal(rig_clocks(&rig->clients[0]), MISS);
    assert_int_equal(rig_clocks(&rig->clients[1]), MISS + HIT - TAGS + PROBE);
    assert_int_equal(rig->memory.seen[MEM_READ], 1);
    check_line(rig, 0x40, 3, -1, false);
    rig_free(rig);
}

static void requests_are_accepted_at_a_rate(void **state)
{
    (void)state;
    struct llc_config config;
    part_defaults(&llc_kind, 0, &config);
    config.accept_clocks = 5;
    struct rig *rig = rig_new(&config);
    for (unsigned client = 0; client < 3; client++)
        rig_ask(&rig->clients[client], READ, 0x1000 + 0x40 * client);
    rig_drain(rig);
    for (unsigned client = 0; client < 3; client++)
        assert_int_equal(rig_clocks(&rig->clients[client]), MISS + 5 * client);
    rig_free(rig);
}

static void mshrs_limit_misses(void **state)
{
    (void)state;
    struct llc_config config;
    part_defaults(&llc_kind, 0, &config);
    config.mshrs = 1;
    struct rig *rig = rig_new(&config);
    for (unsigned client = 0; client < 3; client++)
        rig_ask(&rig->clients[client], READ, 0x1000 + 0x40 * client);
    rig_drain(rig);
    for (unsigned client = 0; client < 3; client++)
        assert_int_equal(rig_clocks(&rig->clients[client]), MISS + MEMORY * client);
    assert_int_equal(llc_counted(rig->llc)->stalls, 2);
    rig_free(rig);
}

static void full_queue_refuses(void **state)
{
    (void)state;
    struct llc_config config;
    part_defaults(&llc_kind, 0, &config);
    config.queue = 2;
    struct rig *rig = rig_new(&config);
    for (unsigned client = 0; client < 4; client++)
        rig_ask(&rig->clients[client], READ, 0x1000 + 0x40 * client);
    assert_false(rig->clients[1].waits);
    assert_true(rig->clients[2].waits);
    assert_true(rig->clients[3].waits);
    rig_drain(rig);
    /* The first is answered at MISS, the second a clock later; then the others arrive. */
    assert_int_equal(rig_clocks(&rig->clients[2]), 2 * MISS);
    assert_int_equal(rig_clocks(&rig->clients[3]), 2 * MISS + 1);
    assert_int_equal(llc_counted(rig->llc)->refusals, 2);
    rig_free(rig);
}

/* The least recently used line is evicted with its copies, and its newest version is written to memory. */
static void eviction_takes_copies(void **state)
{
    (void)state;
    struct llc_config config = one_set(2);
    struct rig *rig = rig_new(&config);
    (void)rig_do(rig, 0, EXCLUSIVE, 0x000);
    (void)rig_do(rig, 1, READ, 0x040);
    rig->clients[0].dirty = true;
    assert_int_equal(rig_do(rig, 2, READ, 0x080), MISS);
    assert_int_equal(rig->clients[0].event, PROTOCOL_PROBE_TAKE);
    assert_int_equal(rig->clients[0].probed, 0x000);
    assert_int_equal(rig->clients[1].probes, 0);
    assert_int_equal(rig->memory.seen[MEM_WRITE], 1);
    assert_false(llc_line_state(rig->llc, 0x000).present);
    /* The clean line is evicted without a write. */
    (void)rig_do(rig, 2, READ, 0x0c0);
    assert_int_equal(rig->clients[1].event, PROTOCOL_PROBE_TAKE);
    assert_int_equal(rig->memory.seen[MEM_WRITE], 1);
    assert_int_equal(llc_counted(rig->llc)->back_invalidations, 2);
    rig_free(rig);
}

/* One way; clocks of 1000 ps, a request every 1000 clocks. A reader's lookup finds the line dirty in its
 * writer's cache; then a miss takes both copies, writes the line back and reads memory. */
static void what_happens_is_shown(void **state)
{
    (void)state;
    static struct track_text shown;
    struct llc_config config = one_set(1);
    struct rig *rig = rig_new(&config);
    track_text_init(&shown);
    llc_track(rig->llc, &shown.sink);
    (void)rig_do(rig, 0, EXCLUSIVE, 0x1000);
    rig->clients[0].dirty = true;
    (void)rig_do(rig, 1, READ, 0x1000);
    (void)rig_do(rig, 2, READ, 0x2000);
    track_text_end(&shown, rig->queue.now);
    assert_string_equal(shown.text, "l2: span 0x1000 0 104000 level=memory\n"
                                    "l2/probes: instant 0x1000 1004000 copy=dirty\n"
                                    "l2/probes: instant 0x1000 2004000 copy=clean\n"
                                    "l2/probes: instant 0x1000 2004000 copy=clean\n"
                                    "l2/write-backs: instant 0x1000 2004000\n"
                                    "l2: span 0x2000 2000000 2104000 level=memory\n");
    rig_free(rig);
}

/* The only way is busy with another line: the request waits, then uses it. */
static void busy_lines_are_no_victims(void **state)
{
    (void)state;
    struct llc_config config = one_set(1);
    struct rig *rig = rig_new(&config);
    rig_ask(&rig->clients[0], READ, 0x000);
    rig_ask(&rig->clients[1], READ, 0x040);
    rig_drain(rig);
    assert_int_equal(rig_clocks(&rig->clients[0]), MISS);
    assert_int_equal(rig_clocks(&rig->clients[1]), MISS + MEMORY + FILL);
    assert_int_equal(rig->clients[0].event, PROTOCOL_PROBE_TAKE);
    check_line(rig, 0x040, 2, 1, false);
    rig_free(rig);
}

/* The write buffer holds one line, which memory does not accept: the second victim has to wait for it, and so
 * does a read of the line being written back. */
static void write_buffer_holds_up(void **state)
{
    (void)state;
    struct llc_config config = one_set(1);
    config.write_buffer = 1;
    struct rig *rig = rig_new(&config);
    (void)rig_do(rig, 0, EXCLUSIVE, 0x000);
    rig->clients[0].dirty = true;
    rig->memory.closed = true;
    rig_ask(&rig->clients[1], EXCLUSIVE, 0x040);
    event_queue_run(&rig->queue, rig->queue.now + 10 * CLOCK);
    assert_int_equal(rig->clients[0].probes, 1);
    rig_ask(&rig->clients[2], READ, 0x000);
    event_queue_run(&rig->queue, rig->queue.now + 90 * CLOCK);
    slow_open(&rig->memory);
    event_queue_run(&rig->queue, rig->queue.now + (MEMORY - 1) * CLOCK);
    assert_int_equal(rig->memory.seen[MEM_WRITE], 1);
    assert_int_equal(rig->memory.seen[MEM_READ], 2);
    rig->clients[1].dirty = true;
    rig_drain(rig);
    /* Memory opens 100 clocks after the first request: 100 + MEMORY + FILL. The other request then uses its
     * way. */
    assert_int_equal(rig_clocks(&rig->clients[1]), 100 + MEMORY + FILL);
    assert_int_equal(rig_clocks(&rig->clients[2]), 90 + MEMORY + FILL + MEMORY + FILL);
    assert_int_equal(rig->memory.seen[MEM_WRITE], 2);
    rig_free(rig);
}

/* A line on its way to memory is read again after memory has answered: its write is accepted when memory
 * opens at 50. */
static void line_on_its_way_is_waited_for(void **state)
{
    (void)state;
    struct llc_config config = one_set(2);
    struct rig *rig = rig_new(&config);
    (void)rig_do(rig, 0, EXCLUSIVE, 0x000);
    (void)rig_do(rig, 0, BACK, 0x000);
    (void)rig_do(rig, 0, READ, 0x040);
    (void)rig_do(rig, 0, READ, 0x080);
    rig_ask(&rig->clients[0], EXCLUSIVE, 0x000);
    rig_drain(rig);
    (void)rig_do(rig, 0, BACK, 0x000);
    (void)rig_do(rig, 0, READ, 0x040);
    rig->memory.closed_to_writes = true;
    (void)rig_do(rig, 0, READ, 0x0c0);
    assert_int_equal(rig->memory.seen[MEM_WRITE], 1);
    rig_ask(&rig->clients[1], READ, 0x000);
    event_queue_run(&rig->queue, rig->queue.now + 50 * CLOCK);
    slow_open(&rig->memory);
    rig_drain(rig);
    assert_int_equal(rig_clocks(&rig->clients[1]), 50 + MEMORY + MEMORY + FILL);
    rig_free(rig);
}

/* The line stays busy until the response is accepted. */
static void refused_response_keeps_the_line(void **state)
{
    (void)state;
    struct rig *rig = rig_default();
    rig->clients[0].refuses = true;
    rig_ask(&rig->clients[0], READ, 0x40);
    rig_drain(rig);
    rig_ask(&rig->clients[1], READ, 0x40);
    rig_drain(rig);
    assert_true(llc_line_state(rig->llc, 0x40).busy);
    assert_int_equal(rig->clients[1].done, 0);
    rig->clients[0].refuses = false;
    uint64_t now = rig->queue.now;
    mem_link_response_room(&rig->clients[0].link, now);
    assert_int_equal(rig->clients[0].done, now);
    rig_drain(rig);
    assert_int_equal(rig->clients[1].done, now + (HIT - TAGS + PROBE) * CLOCK);
    check_line(rig, 0x40, 3, -1, false);
    rig_free(rig);
}

/* A request that waits for a way does not block a miss in another set. */
static void stalled_misses_are_passed(void **state)
{
    (void)state;
    struct llc_config config = one_set(1);
    config.size *= 2;
    struct rig *rig = rig_new(&config);
    rig_ask(&rig->clients[0], READ, 0x000);
    rig_ask(&rig->clients[1], READ, 0x080);
    rig_ask(&rig->clients[2], READ, 0x040);
    rig_drain(rig);
    assert_int_equal(rig_clocks(&rig->clients[1]), MISS + MEMORY + FILL);
    assert_int_equal(rig_clocks(&rig->clients[2]), MISS + 2);
    rig_free(rig);
}

static void fetches_share(void **state)
{
    (void)state;
    struct rig *rig = rig_default();
    (void)rig_do(rig, 0, FETCH, 0x40);
    assert_false(rig->clients[0].request.exclusive);
    check_line(rig, 0x40, 1, -1, false);
    assert_int_equal(rig_do(rig, 1, READ, 0x40), HIT);
    check_line(rig, 0x40, 3, -1, false);
    rig_free(rig);
}

/* One of two slices of 4 sets and one way: its lines 0, 2, 4, 6 are in different sets; line 8 is in the set
 * of line 0. */
static void slices_use_all_sets(void **state)
{
    (void)state;
    struct llc_config config;
    part_defaults(&llc_kind, 0, &config);
    config.ways = 1;
    config.size = (uint64_t)4 * config.line;
    config.slices = 2;
    struct rig *rig = rig_new(&config);
    for (unsigned line = 0; line < 8; line += 2)
        assert_int_equal(rig_do(rig, 0, READ, line * config.line), MISS);
    for (unsigned line = 0; line < 8; line += 2)
        assert_int_equal(rig_do(rig, 0, READ, line * config.line), HIT);
    assert_int_equal(rig_do(rig, 0, READ, 8 * config.line), MISS);
    assert_false(llc_line_state(rig->llc, 0).present);
    rig_free(rig);
}

/* Slice 2 of 6, of 4 sets and one way: of its lines 2, 8, 14, 20, 26, ..., the first four are in different
 * sets, and the fifth is in the set of the first. With blocks of 2 lines, it has the lines 4, 5, 16, 17, 28,
 * ... */
static void six_slices(void **state)
{
    (void)state;
    static const unsigned by_line[] = {2, 8, 14, 20, 26}, by_block[] = {4, 5, 16, 17, 28};
    for (unsigned blocks = 0; blocks < 2; blocks++) {
        const unsigned *lines = blocks ? by_block : by_line;
        struct llc_config config = one_set(1);
        config.size *= 4;
        config.slices = 6;
        config.slice_bytes = blocks ? 2 * config.line : 0;
        struct rig *rig = rig_new(&config);
        for (unsigned i = 0; i < 4; i++)
            assert_int_equal(rig_do(rig, 0, EXCLUSIVE, lines[i] * 64), MISS);
        for (unsigned i = 0; i < 4; i++)
            assert_int_equal(rig_do(rig, 0, READ, lines[i] * 64), HIT);
        /* The victim is probed and written back by its own address. */
        rig->clients[0].dirty = true;
        assert_int_equal(rig_do(rig, 0, READ, lines[4] * 64), MISS);
        assert_int_equal(rig->clients[0].probed, lines[0] * 64);
        assert_int_equal(rig->written, lines[0] * 64);
        assert_false(llc_line_state(rig->llc, lines[0] * 64).present);
        for (unsigned i = 1; i < 5; i++)
            assert_true(llc_line_state(rig->llc, lines[i] * 64).present);
        /* Ranges find lines by their addresses, line by line and over all entries. */
        mem_request_init(&rig->clients[1].request, MEM_INVALIDATE, lines[1] * 64, 64);
        rig_send(&rig->clients[1]);
        rig_drain(rig);
        assert_false(llc_line_state(rig->llc, lines[1] * 64).present);
        assert_true(llc_line_state(rig->llc, lines[2] * 64).present);
        mem_request_init(&rig->clients[1].request, MEM_INVALIDATE, lines[3] * 64, 64 * 64);
        rig_send(&rig->clients[1]);
        rig_drain(rig);
        assert_true(llc_line_state(rig->llc, lines[2] * 64).present);
        assert_false(llc_line_state(rig->llc, lines[3] * 64).present);
        assert_false(llc_line_state(rig->llc, lines[4] * 64).present);
        rig_free(rig);
    }
}

/* Every line of every slice is returned under its own address, also at the ends of the address space. */
static void slices_keep_addresses(void **state)
{
    (void)state;
    static const uint32_t counts[] = {1, 2, 3, 6, 7, 64, 255, 256};
    for (size_t i = 0; i < sizeof counts / sizeof *counts; i++)
        for (uint32_t block = 64; block <= 4096; block *= 8) {
            struct llc_config config = one_set(16);
            config.slices = counts[i];
            config.slice_bytes = block;
            struct rig *rig = rig_new(&config);
            for (unsigned k = 0; k < 8; k++) {
                uint64_t number = (k * MIX_FACTOR) >> 14; /* 50 bits */
                uint64_t line = k == 0 ? 0 : k == 1 ? (UINT64_C(1) << 56) - 64 : number * 64;
                (void)rig_do(rig, 0, READ, line);
                (void)rig_do(rig, 1, EXCLUSIVE, line);
                assert_int_equal(rig->clients[0].probed, line);
                assert_true(llc_line_state(rig->llc, line).present);
            }
            assert_int_equal(llc_counted(rig->llc)->misses, 8);
            rig_free(rig);
        }
}

/* One of very many holders: counts its probes. */
struct member {
    struct mem_link link;
    struct mem_request request;
    unsigned answers, probes;
};

static bool member_respond(void *context, struct mem_link *link, struct mem_request *request, uint64_t now)
{
    struct member *member = context;
    (void)link;
    (void)request;
    (void)now;
    member->answers++;
    return true;
}

static bool member_probe(void *context, uint64_t line, enum protocol_event event, uint64_t now)
{
    struct member *member = context;
    (void)now;
    assert_int_equal(line, 0x40);
    assert_int_equal(event, PROTOCOL_PROBE_TAKE);
    member->probes++;
    return false;
}

static void ask_as(struct rig *rig, struct member *member, bool exclusive)
{
    mem_request_init(&member->request, MEM_READ, 0x40, 64);
    member->request.exclusive = exclusive;
    assert_true(mem_link_request(&member->link, &member->request, rig->queue.now));
    rig_drain(rig);
}

/* The directory records any number of clients: the rig's 5 read a line, 300 more are attached while it is in
 * the cache and read it too, and the last one takes it from all. */
static void clients_without_number(void **state)
{
    (void)state;
    enum { MEMBERS = 300, LAST = MEMBERS - 1 };
    static const struct mem_client_ops ops = {member_respond, NULL};
    static struct member members[MEMBERS];
    struct rig *rig = rig_default();
    for (unsigned i = 0; i < RIG_CLIENTS - 1; i++)
        (void)rig_do(rig, i, FETCH, 0x40);
    for (unsigned i = 0; i < MEMBERS; i++) {
        members[i] = (struct member){
            .link = {.port_ops = &llc_ops, .port = rig->llc, .client_ops = &ops, .client = &members[i]}};
        llc_attach_client(rig->llc, &(struct llc_client){&members[i].link, member_probe, &members[i], false});
        ask_as(rig, &members[i], false);
    }
    struct llc_line line = llc_line_state(rig->llc, 0x40);
    for (unsigned client = 0; client < RIG_CLIENTS - 1 + MEMBERS; client++)
        assert_true(line.holders[client / 64] >> (client % 64) & 1);
    ask_as(rig, &members[LAST], true);
    for (unsigned i = 0; i < MEMBERS; i++) {
        assert_int_equal(members[i].probes, i != LAST);
        assert_int_equal(members[i].answers, 1 + (i == LAST));
    }
    for (unsigned i = 0; i < RIG_CLIENTS - 1; i++)
        assert_int_equal(rig->clients[i].event, PROTOCOL_PROBE_TAKE);
    line = llc_line_state(rig->llc, 0x40);
    assert_int_equal(line.owner, RIG_CLIENTS - 1 + LAST);
    assert_int_equal(line.holders[(RIG_CLIENTS - 1 + LAST) / 64], UINT64_C(1)
                                                                      << ((RIG_CLIENTS - 1 + LAST) % 64));
    assert_int_equal(line.holders[0] | line.holders[1] | line.holders[2] | line.holders[3], 0);
    rig_free(rig);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(clients_without_number),
        cmocka_unit_test(miss_then_hit),
        cmocka_unit_test(slices_use_all_sets),
        cmocka_unit_test(six_slices),
        cmocka_unit_test(slices_keep_addresses),
        cmocka_unit_test(second_reader_shares),
        cmocka_unit_test(writer_takes_the_line_from_all),
        cmocka_unit_test(upgrade_of_a_copy_taken_away),
        cmocka_unit_test(write_back_frees_or_keeps),
        cmocka_unit_test(late_write_back),
        cmocka_unit_test(misses_of_one_line_unite),
        cmocka_unit_test(requests_are_accepted_at_a_rate),
        cmocka_unit_test(mshrs_limit_misses),
        cmocka_unit_test(full_queue_refuses),
        cmocka_unit_test(eviction_takes_copies),
        cmocka_unit_test(what_happens_is_shown),
        cmocka_unit_test(busy_lines_are_no_victims),
        cmocka_unit_test(write_buffer_holds_up),
        cmocka_unit_test(line_on_its_way_is_waited_for),
        cmocka_unit_test(refused_response_keeps_the_line),
        cmocka_unit_test(stalled_misses_are_passed),
        cmocka_unit_test(fetches_share),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
