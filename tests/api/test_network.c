/* Networks of the library: times by hand, refusals on both sides. */
#include "tests/api/rig.h"

#define NS UINT64_C(1000000)

static struct undercroft_packet packet(uint32_t source, uint32_t destination, uint32_t flits)
{
    return (struct undercroft_packet){
        .tag = UINT64_C(0x1234567890abcdef), .source = source, .destination = destination, .flits = flits};
}

/* One flit more is one clock more; the tag comes back. */
static void latency(void **state)
{
    (void)state;
    uint64_t ends[2];
    for (uint32_t flits = 1; flits <= 2; flits++) {
        struct seen seen = {0};
        struct undercroft *network = network_of(MESH, &seen);
        const struct undercroft_packet sent = packet(0, 3, flits);
        uint64_t period;
        FINE(undercroft_period(network, &period, NULL));
        assert_int_equal(period, NS);
        FINE(undercroft_network_send(network, &sent, NULL));
        FINE(undercroft_run(network, UNDERCROFT_FOREVER, NULL));
        assert_int_equal(seen.answers, 1);
        assert_int_equal(seen.tag, sent.tag);
        assert_int_equal(seen.destination, 3);
        ends[flits - 1] = seen.now;
        FINE(undercroft_free(network, NULL));
    }
    assert_int_equal(ends[1], ends[0] + NS);
}

/* A node that refuses keeps the packet in the network; senders find it full at last; all arrive in the end. */
static void pressure(void **state)
{
    (void)state;
    struct seen seen = {.refuse = 1};
    struct undercroft *network = network_of(MESH, &seen);
    const struct undercroft_packet sent = packet(0, 1, 4);
    unsigned taken = 0;
    int status = UNDERCROFT_OK;
    for (unsigned i = 0; i < 1000; i++) {
        status = undercroft_network_send(network, &sent, NULL);
        taken += status == UNDERCROFT_OK;
        FINE(undercroft_tick(network, NULL));
    }
    assert_int_equal(status, UNDERCROFT_FULL);
    assert_true(taken > 2 && taken < 100);
    assert_int_equal(seen.answers, 0);
    FINE(undercroft_run(network, UNDERCROFT_FOREVER, NULL));
    seen.refuse = 0;
    FINE(undercroft_network_unblock(network, 1, 0, NULL));
    FINE(undercroft_run(network, UNDERCROFT_FOREVER, NULL));
    assert_int_equal(seen.answers, taken);
    assert_true(seen.rooms > 0);
    FINE(undercroft_free(network, NULL));
}

static void statistics(void **state)
{
    (void)state;
    struct seen seen = {0};
    struct undercroft *network = network_of(MESH, &seen);
    const struct undercroft_packet sent = packet(0, 3, 2);
    struct undercroft_statistic statistic;
    uint32_t nodes;
    FINE(undercroft_network_nodes(network, &nodes, NULL));
    assert_int_equal(nodes, 4);
    FINE(undercroft_network_send(network, &sent, NULL));
    FINE(undercroft_run(network, UNDERCROFT_FOREVER, NULL));
    FINE(undercroft_statistic(network, "network.hops.energy", &statistic, NULL));
    assert_true(statistic.count > 0);
    FINE(undercroft_free(network, NULL));
}

int main(void)
{
    const struct CMUnitTest tests[] = {cmocka_unit_test(latency), cmocka_unit_test(pressure),
                                       cmocka_unit_test(statistics)};
    return cmocka_run_group_tests(tests, NULL, NULL);
}
