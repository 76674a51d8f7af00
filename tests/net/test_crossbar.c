/* A crossbar between scripted requesters and memories of fixed latency. */
#include "tests/net/crossbar_rig.h"

/* latency + n - 1 each way, and 10 clocks of memory: a read of 64 bytes takes 3 + 10 + (3 + 4 - 1). */
static void zero_load_latency(void **state)
{
    (void)state;
    static const struct {
        enum mem_op op;
        uint32_t size;
        uint64_t clocks;
    } cases[] = {
        {MEM_READ, 64, 3 + 10 + 6},    {MEM_READ, 65, 3 + 10 + 7},  {MEM_READ, 16, 3 + 10 + 3},
        {MEM_READ, 1, 3 + 10 + 3},     {MEM_WRITE, 64, 6 + 10 + 3}, {MEM_WRITE, 128, 10 + 10 + 3},
        {MEM_CLEAN, 4096, 3 + 10 + 3},
    };
    struct crossbar_config config = config_of(3, 2);
    config.energy_bit = 7;
    struct rig *rig = rig_new(&config);
    struct client *client = &rig->clients[2];
    for (unsigned i = 0; i < sizeof cases / sizeof *cases; i++) {
        uint64_t start = rig->queue.now;
        assert_true(send(client, 0, cases[i].op, 0x1000, cases[i].size));
        run(rig, 40);
        assert_int_equal(client->done - start, cases[i].clocks * PERIOD);
    }
    /* Off the edge: from the next edge on. */
    event_queue_run(&rig->queue, 1000 * PERIOD + 1);
    assert_true(send(client, 0, MEM_READ, 0x1000, 64));
    event_queue_run(&rig->queue, 1050 * PERIOD);
    assert_int_equal(client->done, (1001 + 3 + 10 + 6) * PERIOD);
    /* A grant without data. */
    uint64_t start = rig->queue.now;
    mem_request_init(&client->requests[0], MEM_READ, 0x1000, 64);
    client->requests[0].exclusive = client->requests[0].upgrade = true;
    client->requests[0].requester = 2;
    client->requests[0].mask = ++client->sent;
    client->away[0] = true;
    assert_true(client_offer(client, 0, start));
    run(rig, 40);
    assert_int_equal(client->done - start, (3 + 10 + 3) * PERIOD);
    /* Nothing is left to do, and all was counted where it passed. */
    assert_int_equal(event_queue_next(&rig->queue), CLOCK_NEVER);
    assert_int_equal(rig->memories[1].taken, 9);
    assert_int_equal(counted(rig, "in.2.requests"), 9);
    assert_int_equal(counted(rig, "out.1.requests"), 9);
    assert_int_equal(counted(rig, "in.2.request_bytes"), 64 + 128);
    assert_int_equal(counted(rig, "out.1.response_bytes"), 64 + 65 + 16 + 1 + 64);
    assert_int_equal(counted(rig, "out.1.request_clocks"), 7 + 4 + 8);
    assert_int_equal(counted(rig, "in.2.response_clocks"), 4 + 5 + 1 + 1 + 1 + 1 + 1 + 4 + 1);
    assert_int_equal(counted(rig, "in.1.requests"), 0);
    struct energy_ledger ledger;
    energy_init(&ledger);
    crossbar_energy(rig->crossbar, &ledger, scope_enter(NULL, "x"));
    assert_int_equal(energy_total(&ledger), (64 + 128 + 64 + 65 + 16 + 1 + 64) * 8 * 7);
    assert_string_equal(ledger.accounts[0]->name, "x.transfer");
    energy_free(&ledger);
    rig_free(rig);
}

static bool write_to_0(struct client *client, struct mem_request *request)
{
    (void)client;
    mem_request_init(request, MEM_WRITE, 0x8000, 64);
    return true;
}

static bool read_from_0(struct client *client, struct mem_request *request)
{
    (void)client;
    mem_request_init(request, MEM_READ, 0x8000, 16);
    return true;
}

static bool write_to_own(struct client *client, struct mem_request *request)
{
    mem_request_init(request, MEM_WRITE, (uint64_t)(client - client->rig->clients) << 12, 64);
    return true;
}

/* Writes of 4 clocks from 4 inputs into one output: 16 bytes a clock, and an equal share for each. Reads: one
 * a clock. To outputs of their own: 4 times as much. */
static void outputs_reach_their_width_and_share_it(void **state)
{
    (void)state;
    static const struct {
        bool (*next)(struct client *client, struct mem_request *request);
        uint64_t clocks, share, outputs;
    } cases[] = {{write_to_0, 4000, 250, 1}, {read_from_0, 4000, 1000, 1}, {write_to_own, 4000, 1000, 4}};
    for (unsigned c = 0; c < 3; c++) {
        const struct crossbar_config config = config_of(4, 4);
        struct rig *rig = rig_new(&config);
        for (unsigned i = 0; i < 4; i++) {
            rig->clients[i].next = cases[c].next;
            client_go(&rig->clients[i], 0);
        }
        run(rig, 100); /* until all queues are full */
        uint64_t before[4], taken = rig->memories[0].taken;
        for (unsigned i = 0; i < 4; i++)
            before[i] = rig->clients[i].accepted;
        run(rig, cases[c].clocks);
        for (unsigned i = 0; i < 4; i++)
            assert_in_range(rig->clients[i].accepted - before[i], cases[c].share - 1, cases[c].share + 1);
        assert_int_equal(rig->memories[0].taken - taken, 4 * cases[c].share / cases[c].outputs);
        rig_free(rig);
    }
}

static bool write_in_turn(struct client *client, struct mem_request *request)
{
    mem_request_init(request, MEM_WRITE, client->sent % 2 << 12, 64);
    return true;
}

/* One input to two idle outputs: 4 clocks a write, as its own width allows. */
static void inputs_keep_to_their_width(void **state)
{
    (void)state;
    const struct crossbar_config config = config_of(1, 2);
    struct rig *rig = rig_new(&config);
    rig->clients[0].next = write_in_turn;
    client_go(&rig->clients[0], 0);
    run(rig, 100);
    uint64_t taken = rig->memories[0].taken + rig->memories[1].taken;
    run(rig, 4000);
    assert_int_equal(rig->memories[0].taken + rig->memories[1].taken - taken, 1000);
    rig_free(rig);
}

/* A request whose output is full stops the one behind it, which wants another output, but nobody else's. */
static void heads_of_line_block(void **state)
{
    (void)state;
    struct crossbar_config config = config_of(2, 2);
    config.buffer = 1;
    struct rig *rig = rig_new(&config);
    struct client *a = &rig->clients[0], *b = &rig->clients[1];
    rig->memories[0].capacity = 0;
    assert_true(send(a, 0, MEM_READ, 0x0000, 16)); /* fills the buffer of output 0 */
    assert_true(send(a, 1, MEM_READ, 0x0000, 16)); /* stays at the head of input 0 */
    assert_true(send(a, 2, MEM_READ, 0x1000, 16)); /* is behind it */
    run(rig, 50);
    assert_int_equal(rig->memories[1].taken, 0);
    assert_true(send(b, 0, MEM_READ, 0x1000, 16));
    run(rig, 50);
    assert_int_equal(rig->memories[1].taken, 1);
    assert_int_equal(b->answered, 1);
    assert_int_equal(event_queue_next(&rig->queue), CLOCK_NEVER); /* waiting costs nothing */
    rig->memories[0].capacity = 10;
    assert_true(mem_waiters_wake(&rig->memories[0].waiters, rig->queue.now));
    run(rig, 50);
    assert_int_equal(rig->memories[0].taken, 2);
    assert_int_equal(rig->memories[1].taken, 2);
    assert_int_equal(a->answered, 3);
    rig_free(rig);
}

/* With virtual output queues, neither the buffer of an output that is full nor what waits for it stops what wants another. */
static void virtual_queues_do_not_block(void **state)
{
    (void)state;
    struct crossbar_config config = config_of(1, 2);
    config.buffer = 1;
    config.request_queue = 4;
    config.queues = CROSSBAR_VIRTUAL;
    struct rig *rig = rig_new(&config);
    struct client *a = &rig->clients[0];
    rig->memories[0].capacity = 0;
    for (unsigned i = 0; i < 4; i++) /* one fills the buffer of output 0, one waits for it */
        assert_true(send(a, i, MEM_READ, i < 2 ? 0x0000 : 0x1000, 16));
    run(rig, 50);
    assert_int_equal(rig->memories[1].taken, 2);
    assert_int_equal(a->answered, 2);
    assert_int_equal(event_queue_next(&rig->queue), CLOCK_NEVER);
    rig->memories[0].capacity = 10;
    assert_true(mem_waiters_wake(&rig->memories[0].waiters, rig->queue.now));
    run(rig, 50);
    assert_int_equal(a->answered, 4);
    rig_free(rig);
}

static bool write_anywhere(struct client *client, struct mem_request *request)
{
    mem_request_init(request, MEM_WRITE, random_number(client->rig) % 8 << 12, 64);
    return true;
}

/* Eight inputs write to eight outputs at random: heads of line that block leave 62 % of the width (Karol et al., table I: 0.6184 for
 * eight ports), virtual output queues more than 90 %. */
static void queues_limit_uniform_traffic(void **state)
{
    (void)state;
    for (unsigned virtual = 0; virtual < 2; virtual ++) {
        struct crossbar_config config = config_of(8, 8);
        config.queues = virtual ? CROSSBAR_VIRTUAL : CROSSBAR_FIFO;
        config.request_queue = 48;
        struct rig *rig = rig_new(&config);
        for (unsigned i = 0; i < 8; i++) {
            rig->memories[i].capacity = REQUESTS;
            rig->clients[i].next = write_anywhere;
            rig->clients[i].window = REQUESTS;
            client_go(&rig->clients[i], 0);
        }
        run(rig, 1000);
        uint64_t taken = 0;
        for (unsigned i = 0; i < 8; i++)
            taken -= rig->memories[i].taken;
        run(rig, 40000);
        for (unsigned i = 0; i < 8; i++)
            taken += rig->memories[i].taken;
        const uint64_t percent = taken * 100 / (8 * 10000);
        assert_in_range(percent, virtual ? 90 : 58, virtual ? 100 : 66);
        rig_free(rig);
    }
}

/* A port that refuses: 8 in the buffer of its output, 3 in the queue of the input, and the next is refused.
 */
static void requests_press_back(void **state)
{
    (void)state;
    const struct crossbar_config config = config_of(1, 1);
    struct rig *rig = rig_new(&config);
    struct client *client = &rig->clients[0];
    rig->memories[0].capacity = 0;
    client->next = read_from_0;
    client->limit = 20;
    client_go(client, 0);
    run(rig, 100);
    assert_int_equal(client->accepted, 8 + 3);
    assert_true(client->waits);
    assert_int_equal(counted(rig, "out.0.request_refusals"), 1);
    assert_int_equal(counted(rig, "out.0.request_peak"), 8);
    assert_int_equal(counted(rig, "in.0.request_peak"), 3);
    rig->memories[0].capacity = 1; /* one at a time: each answer makes room for one */
    assert_true(mem_waiters_wake(&rig->memories[0].waiters, rig->queue.now));
    run(rig, 1000);
    assert_int_equal(client->answered, 20);
    assert_int_equal(rig->memories[0].taken, 20);
    assert_int_equal(event_queue_next(&rig->queue), CLOCK_NEVER);
    rig_free(rig);
}

/* A client that refuses: 8 responses in its buffer, 3 in the queue of the output, the others stay below; the
 * other client is cut off once they stand in front of its own. */
static void responses_press_back(void **state)
{
    (void)state;
    const struct crossbar_config config = config_of(2, 1);
    struct rig *rig = rig_new(&config);
    struct client *a = &rig->clients[0], *b = &rig->clients[1];
    a->next = read_from_0;
    a->limit = 20;
    a->refusing = 1;
    client_go(a, 0);
    run(rig, 100);
    assert_int_equal(a->accepted, 20);
    assert_int_equal(a->answered, 0);
    assert_int_equal(rig->memories[0].held, 20 - 8 - 3);
    assert_int_equal(counted(rig, "in.0.response_refusals"), 1);
    const struct patient_memory *below = &rig->memories[0];
    const struct mem_link *output = mem_request_link(below->refused[below->first]);
    const uint64_t refusals = counted(rig, "out.0.response_refusals");
    assert_true(output->refuses(output->client, 5)); /* without an offer */
    assert_int_equal(counted(rig, "out.0.response_refusals"), refusals + 5);
    assert_true(send(b, 0, MEM_READ, 0x8000, 16));
    run(rig, 100);
    assert_int_equal(rig->memories[0].taken, 21); /* requests pass all the same */
    assert_int_equal(b->answered, 0);
    assert_int_equal(event_queue_next(&rig->queue), CLOCK_NEVER);
    mem_link_response_room(&a->link, rig->queue.now);
    assert_int_equal(a->answered, 8);
    run(rig, 100);
    assert_int_equal(a->answered, 20);
    assert_int_equal(b->answered, 1);
    assert_int_equal(rig->memories[0].held, 0);
    rig_free(rig);
}

/* No response comes before the time that an input has told, and the client could wait for longer than a clock. */
static void inputs_are_quiet_until_then(void **state)
{
    (void)state;
    const struct crossbar_config config = config_of(2, 1);
    struct rig *rig = rig_new(&config);
    struct client *client = &rig->clients[0];
    uint64_t told = 0, longest = 0;
    client->next = read_from_0;
    client->limit = 200;
    client_go(client, 0);
    for (uint64_t before = 0; client->answered < 200; before = client->answered) {
        const uint64_t quiet = crossbar_ops.quiet(client->link.port, rig->queue.now);
        assert_true(quiet >= rig->queue.now);
        told = quiet > told ? quiet : told;
        longest = quiet - rig->queue.now > longest ? quiet - rig->queue.now : longest;
        assert_true(event_queue_step(&rig->queue));
        assert_true(client->answered == before || rig->queue.now >= told);
    }
    assert_true(longest > PERIOD);
    rig_free(rig);
}

static bool anything(struct client *client, struct mem_request *request)
{
    struct rig *rig = client->rig;
    static const enum mem_op ops[] = {MEM_READ, MEM_READ, MEM_READ, MEM_WRITE, MEM_WRITE, MEM_CLEAN};
    mem_request_init(request, ops[random_number(rig) % 6], random_number(rig) % 3 << 12,
                     1 + (uint32_t)random_number(rig) % 128);
    return true;
}

/* 6 clients that refuse responses for some time, 3 memories that hold little. Returns a hash of all arrivals. */
static uint64_t random_run(const struct crossbar_config *config, unsigned capacity)
{
    enum { EACH = 2000 };
    struct rig *rig = rig_new(config);
    rig->jitter = 30;
    for (unsigned i = 0; i < 3; i++)
        rig->memories[i].capacity = capacity;
    for (unsigned i = 0; i < 6; i++) {
        struct client *client = &rig->clients[i];
        client->next = anything;
        client->limit = EACH;
        client->endless = true;
        client->window = 1 + 7 * i;
        client_go(client, 0);
    }
    event_queue_run(&rig->queue, CLOCK_NEVER);
    for (unsigned i = 0; i < 6; i++) {
        assert_int_equal(rig->clients[i].answered, EACH);
        assert_int_equal(free_slot(&rig->clients[i]), 0);
        assert_false(rig->clients[i].waits);
    }
    assert_int_equal(rig->memories[0].taken + rig->memories[1].taken + rig->memories[2].taken, 6 * EACH);
    uint64_t hash = rig->hash;
    rig_free(rig);
    return hash;
}

static void all_is_answered_once_and_the_same_in_each_run(void **state)
{
    (void)state;
    struct crossbar_config config = config_of(6, 3);
    uint64_t wide = random_run(&config, 16);
    assert_int_equal(wide, random_run(&config, 16));
    config.queues = CROSSBAR_VIRTUAL;
    uint64_t each = random_run(&config, 16);
    assert_int_equal(each, random_run(&config, 16));
    assert_true(each != wide);
    config.queues = CROSSBAR_FIFO;
    config.request_queue = config.response_queue = config.buffer = config.latency = 1;
    uint64_t narrow = random_run(&config, 1);
    assert_int_equal(narrow, random_run(&config, 1));
    assert_true(narrow != wide);
}

enum { SIGNALS = 40 };

/* Signals, and the order and times of their arrivals. */
struct signals {
    struct rig *rig;
    struct mem_link link;
    struct mem_request requests[SIGNALS];
    unsigned count, number[SIGNALS];
    uint64_t time[SIGNALS];
};

static bool signal_arrives(void *owner, struct mem_link *link, struct mem_request *request, uint64_t now)
{
    struct signals *s = owner;
    assert_ptr_equal(link, &s->link);
    assert_int_equal(request->depth, 0);
    s->number[s->count] = (unsigned)(request - s->requests);
    s->time[s->count++] = now;
    return true;
}

static void signal_to(struct signals *s, unsigned number, uint32_t output, uint32_t input)
{
    static const struct mem_client_ops ops = {.respond = signal_arrives};
    struct mem_request *request = &s->requests[number];
    s->link = (struct mem_link){.client_ops = &ops, .client = s};
    mem_request_init(request, MEM_INVALIDATE, 0, 64);
    request->route[request->depth++] = &s->link;
    crossbar_signal(s->rig->crossbar, output, input, request, s->rig->queue.now);
}

/* Of an output with room for two, signals leave one a clock, in their order, for all inputs, and take three clocks. With reads
 * beside them, all arrive, and all reads are answered. */
static void signals_cross(void **state)
{
    (void)state;
    struct crossbar_config config = config_of(2, 1);
    config.response_queue = 2;
    for (unsigned reads = 0; reads <= 200; reads += 200) {
        struct signals s = {.rig = rig_new(&config)};
        struct client *client = &s.rig->clients[0];
        client->next = read_from_0;
        client->limit = reads;
        client_go(client, 0);
        for (unsigned i = 0; reads && i < 60; i++)
            assert_true(event_queue_step(&s.rig->queue));
        for (unsigned i = 0; i < SIGNALS; i++)
            signal_to(&s, i, 0, i % 2);
        event_queue_run(&s.rig->queue, CLOCK_NEVER);
        assert_int_equal(s.count, SIGNALS);
        assert_int_equal(client->answered, reads);
        for (unsigned i = 0; i < SIGNALS; i++) {
            assert_int_equal(s.number[i], i);
            if (!reads)
                assert_int_equal(s.time[i], (3 + i) * PERIOD);
        }
        rig_free(s.rig);
    }
}

/* Clocks of 800 ps. Two inputs write 64 bytes, of 4 clocks, to one output, and the first reads from another behind that. A
 * message of n clocks arrives after 3 + n - 1, and memory takes 10. */
static void messages_are_shown(void **state)
{
    (void)state;
    static struct track_text shown;
    const struct crossbar_config config = config_of(2, 2);
    struct rig *rig = rig_new(&config);
    track_text_init(&shown);
    crossbar_track(rig->crossbar, &shown.sink, "x");
    assert_true(send(&rig->clients[0], 0, MEM_WRITE, 0x1000, 64));
    assert_true(send(&rig->clients[1], 0, MEM_WRITE, 0x1040, 64));
    assert_true(send(&rig->clients[0], 1, MEM_READ, 0x2000, 64));
    run(rig, 100);
    track_text_end(&shown, rig->queue.now);
    assert_string_equal(shown.text, "x/out.1: slice write 0x1000 0 3200 bytes=64 from=0\n"
                                    "x/out.0: slice read 0x2000 3200 4000 bytes=0 from=0\n"
                                    "x/out.1: slice write 0x1040 3200 6400 bytes=64 from=1\n"
                                    "x/in.0: slice write 0x1000 12800 13600 bytes=0 from=1\n"
                                    "x/in.0: slice read 0x2000 13600 16800 bytes=64 from=0\n"
                                    "x/in.1: slice write 0x1040 16000 16800 bytes=0 from=1\n");
    rig_free(rig);
}

static void warming_passes(void **state)
{
    (void)state;
    const struct crossbar_config config = config_of(1, 2);
    struct rig *rig = rig_new(&config);
    void *port = crossbar_port(rig->crossbar, 0);
    assert_false(crossbar_ops.warm(port, &rig->clients[0].link, 0x1040, false));
    assert_int_equal(rig->memories[1].warmed, 0x1040);
    rig_free(rig);
}

static void bad_configurations_are_named(void **state)
{
    (void)state;
    struct crossbar_config config;
    struct error err;
    part_defaults(&crossbar_kind, 0, &config);
    assert_true(part_check(&crossbar_kind, &config, &err));
    config.width = 0;
    assert_false(part_check(&crossbar_kind, &config, &err));
    assert_memory_equal(err.text, "width: ", 7);
    part_defaults(&crossbar_kind, 0, &config);
    config.inputs = CROSSBAR_PORTS + 1;
    assert_false(part_check(&crossbar_kind, &config, &err));
    assert_memory_equal(err.text, "inputs: ", 8);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(zero_load_latency),
        cmocka_unit_test(outputs_reach_their_width_and_share_it),
        cmocka_unit_test(inputs_keep_to_their_width),
        cmocka_unit_test(heads_of_line_block),
        cmocka_unit_test(virtual_queues_do_not_block),
        cmocka_unit_test(queues_limit_uniform_traffic),
        cmocka_unit_test(requests_press_back),
        cmocka_unit_test(responses_press_back),
        cmocka_unit_test(all_is_answered_once_and_the_same_in_each_run),
        cmocka_unit_test(inputs_are_quiet_until_then),
        cmocka_unit_test(signals_cross),
        cmocka_unit_test(messages_are_shown),
        cmocka_unit_test(warming_passes),
        cmocka_unit_test(bad_configurations_are_named),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
