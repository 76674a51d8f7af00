/* Hostile calls of the library return errors with a message. Each test is one kind of them. */
#include "tests/api/rig.h"

/* Values that programs were compiled with. */
_Static_assert(UNDERCROFT_OK == 0 && UNDERCROFT_FULL == 1 && UNDERCROFT_ARGUMENT == -1 &&
                   UNDERCROFT_HANDLE == -2 && UNDERCROFT_DESCRIPTION == -3 && UNDERCROFT_TIME == -4 &&
                   UNDERCROFT_CALLBACK == -5 && UNDERCROFT_NAME == -6 && UNDERCROFT_PROGRAM == -7 &&
                   UNDERCROFT_READ == 0 && UNDERCROFT_WRITE == 1 && UNDERCROFT_PC == 32 &&
                   UNDERCROFT_F0 == 33 && UNDERCROFT_TEXT == 1024,
               "the library's interface has changed");

static struct undercroft_error error;

/* Asserts the status of a call, and that its message has a text. */
static void is(int status, int expected, const char *text)
{
    if (status != expected || error.status != expected || !strstr(error.text, text))
        fail_msg("status %d, error %d '%s', not %d '%s'", status, error.status, error.text, expected, text);
}

#define REFUSED(call, status, text) is(call, UNDERCROFT_##status, text)

static void null_handles(void **state)
{
    (void)state;
    uint64_t value;
    uint32_t nodes;
    struct undercroft_statistic statistic;
    const struct undercroft_packet packet = {.flits = 1};
    REFUSED(undercroft_run(NULL, 0, &error), HANDLE, "NULL");
    REFUSED(undercroft_tick(NULL, &error), HANDLE, "NULL");
    REFUSED(undercroft_step(NULL, &error), HANDLE, "NULL");
    REFUSED(undercroft_now(NULL, &value, &error), HANDLE, "NULL");
    REFUSED(undercroft_next(NULL, &value, &error), HANDLE, "NULL");
    REFUSED(undercroft_period(NULL, &value, &error), HANDLE, "NULL");
    REFUSED(undercroft_statistic(NULL, "x", &statistic, &error), HANDLE, "NULL");
    REFUSED(undercroft_statistics(NULL, NULL, NULL, &error), HANDLE, "NULL");
    REFUSED(undercroft_memory_request(NULL, 0, 0, 1, 0, &error), HANDLE, "NULL");
    REFUSED(undercroft_memory_size(NULL, &value, &error), HANDLE, "NULL");
    REFUSED(undercroft_memory_outstanding(NULL, &value, &error), HANDLE, "NULL");
    REFUSED(undercroft_network_send(NULL, &packet, &error), HANDLE, "NULL");
    REFUSED(undercroft_network_unblock(NULL, 0, 0, &error), HANDLE, "NULL");
    REFUSED(undercroft_network_nodes(NULL, &nodes, &error), HANDLE, "NULL");
    struct undercroft_machine_state reached;
    REFUSED(undercroft_machine_run(NULL, 1, &error), HANDLE, "NULL");
    REFUSED(undercroft_machine_state(NULL, &reached, &error), HANDLE, "NULL");
    REFUSED(undercroft_machine_register(NULL, 0, 0, &value, &error), HANDLE, "NULL");
    REFUSED(undercroft_machine_read(NULL, 0, &value, 1, &error), HANDLE, "NULL");
    REFUSED(undercroft_machine_write(NULL, 0, &value, 1, &error), HANDLE, "NULL");
    FINE(undercroft_free(NULL, &error));
    assert_int_equal(undercroft_run(NULL, 0, NULL), UNDERCROFT_HANDLE); /* nobody wants the message */
}

static void null_arguments(void **state)
{
    (void)state;
    struct seen seen = {0}, other = {0};
    struct undercroft *memory = memory_of(DDR3, &seen), *network = network_of(MESH, &other), *none;
    struct undercroft_statistic statistic;
    struct undercroft_source source = text_of(DDR3);
    struct undercroft_memory_client client = {sizeof client, NULL, seen_answer, NULL};
    REFUSED(undercroft_now(memory, NULL, &error), ARGUMENT, "`now`");
    REFUSED(undercroft_next(memory, NULL, &error), ARGUMENT, "`next`");
    REFUSED(undercroft_period(memory, NULL, &error), ARGUMENT, "`period`");
    REFUSED(undercroft_statistic(memory, NULL, &statistic, &error), ARGUMENT, "`name`");
    REFUSED(undercroft_statistic(memory, "dram.reads", NULL, &error), ARGUMENT, "`statistic`");
    REFUSED(undercroft_statistics(memory, NULL, NULL, &error), ARGUMENT, "`each`");
    REFUSED(undercroft_memory_size(memory, NULL, &error), ARGUMENT, "`bytes`");
    REFUSED(undercroft_memory_outstanding(memory, NULL, &error), ARGUMENT, "`count`");
    REFUSED(undercroft_network_send(network, NULL, &error), ARGUMENT, "packet is NULL");
    REFUSED(undercroft_network_nodes(network, NULL, &error), ARGUMENT, "`nodes`");
    REFUSED(undercroft_memory_new(NULL, &source, &client, &error), ARGUMENT, "`memory`");
    REFUSED(undercroft_memory_new(&none, NULL, &client, &error), ARGUMENT, "source");
    REFUSED(undercroft_memory_new(&none, &source, NULL, &error), ARGUMENT, "client is NULL");
    client.answer = NULL;
    REFUSED(undercroft_memory_new(&none, &source, &client, &error), ARGUMENT, "`answer`");
    client = (struct undercroft_memory_client){3, NULL, seen_answer, NULL};
    REFUSED(undercroft_memory_new(&none, &source, &client, &error), ARGUMENT, "`size` is 3");
    client.size = sizeof client;
    source.size = 0;
    REFUSED(undercroft_memory_new(&none, &source, &client, &error), ARGUMENT, "`size` is 0");
    source = text_of(NULL);
    REFUSED(undercroft_memory_new(&none, &source, &client, &error), ARGUMENT, "a file or a text");
    source = text_of(DDR3);
    source.set_count = 1;
    REFUSED(undercroft_memory_new(&none, &source, &client, &error), ARGUMENT, "sets[0] is NULL");
    assert_null(none);
    FINE(undercroft_free(memory, NULL));
    FINE(undercroft_free(network, NULL));
}

static void wrong_kind(void **state)
{
    (void)state;
    struct seen seen = {0}, other = {0};
    struct undercroft *memory = memory_of(DDR3, &seen), *network = network_of(MESH, &other);
    const struct undercroft_packet packet = {.flits = 1};
    uint64_t value;
    REFUSED(undercroft_network_send(memory, &packet, &error), HANDLE, "that of a memory");
    REFUSED(undercroft_network_unblock(memory, 0, 0, &error), HANDLE, "that of a memory");
    REFUSED(undercroft_memory_request(network, 0, 0, 1, 0, &error), HANDLE, "that of a network");
    REFUSED(undercroft_memory_size(network, &value, &error), HANDLE, "that of a network");
    FINE(undercroft_free(memory, NULL));
    FINE(undercroft_free(network, NULL));
}

/* What is no handle: other memory, a copy of one, and a freed one. */
static void no_handle(void **state)
{
    (void)state;
    struct seen seen = {0};
    struct undercroft *volatile memory = memory_of(DDR3, &seen);
    uint64_t other[16] = {1, 2, 3}, copy[4];
    REFUSED(undercroft_run((struct undercroft *)other, 0, &error), HANDLE, "no handle");
    memcpy(copy, memory, sizeof copy);
    REFUSED(undercroft_run((struct undercroft *)copy, 0, &error), HANDLE, "no handle");
    FINE(undercroft_free(memory, &error));
    REFUSED(undercroft_run(memory, 0, &error), HANDLE, "has been freed");
    REFUSED(undercroft_free(memory, &error), HANDLE, "has been freed");
}

/* The host gives a freed handle's memory to nobody else, so calls with the handle read what is still the library's. */
static void stale_handle(void **state)
{
    (void)state;
    enum { MOST = 256 };
    struct seen seen = {0};
    uint64_t now;
    struct undercroft *volatile memory = memory_of(DDR3, &seen);
    void *taken[MOST];
    FINE(undercroft_free(memory, &error));
    for (size_t bytes = 1; bytes <= MOST; bytes++) {
        taken[bytes - 1] = malloc(bytes);
        assert_ptr_not_equal(taken[bytes - 1], memory);
    }
    for (size_t bytes = 1; bytes <= MOST; bytes++)
        free(taken[bytes - 1]);
    REFUSED(undercroft_now(memory, &now, &error), HANDLE, "has been freed");
    REFUSED(undercroft_free(memory, &error), HANDLE, "has been freed");
}

static void backwards(void **state)
{
    (void)state;
    struct seen seen = {0};
    struct undercroft *memory = memory_of(DDR3, &seen);
    FINE(undercroft_run(memory, 1000, &error));
    REFUSED(undercroft_run(memory, 999, &error), TIME, "backwards: from 1000 fs to 999 fs");
    FINE(undercroft_run(memory, 1000, &error));
    FINE(undercroft_run(memory, UNDERCROFT_FOREVER - 1, &error));
    REFUSED(undercroft_tick(memory, &error), TIME, "over");
    FINE(undercroft_free(memory, NULL));
}

static void runs(struct seen *seen)
{
    seen->status = undercroft_run(seen->model, UNDERCROFT_FOREVER, &error);
}

static void ticks(struct seen *seen)
{
    seen->status = undercroft_tick(seen->model, &error);
}

static void steps(struct seen *seen)
{
    seen->status = undercroft_step(seen->model, &error);
}

static void frees(struct seen *seen)
{
    seen->status = undercroft_free(seen->model, &error);
}

static void callbacks(void **state)
{
    (void)state;
    void (*const calls[])(struct seen *) = {runs, ticks, steps, frees};
    for (unsigned i = 0; i < sizeof calls / sizeof *calls; i++) {
        struct seen seen = {.then = calls[i]}, other = {.then = calls[i]};
        struct undercroft *memory = memory_of(DDR3, &seen), *network = network_of(MESH, &other);
        const struct undercroft_packet packet = {.destination = 1, .flits = 1};
        FINE(undercroft_memory_request(memory, UNDERCROFT_READ, 0, 64, 0, NULL));
        FINE(undercroft_run(memory, UNDERCROFT_FOREVER, NULL));
        REFUSED(seen.status, CALLBACK, "return first");
        FINE(undercroft_network_send(network, &packet, NULL));
        FINE(undercroft_run(network, UNDERCROFT_FOREVER, NULL));
        REFUSED(other.status, CALLBACK, "return first");
        assert_int_equal(seen.answers + other.answers, 2);
        FINE(undercroft_free(memory, NULL));
        FINE(undercroft_free(network, NULL));
    }
}

/* A callback may run another model. */
static void run_other(struct seen *seen)
{
    struct seen inner = {0};
    struct undercroft *memory = memory_of(DDR3, &inner);
    FINE(undercroft_memory_request(memory, UNDERCROFT_READ, 0, 64, 0, NULL));
    FINE(undercroft_run(memory, UNDERCROFT_FOREVER, NULL));
    seen->status = (int)inner.answers;
    FINE(undercroft_free(memory, NULL));
}

static void nested(void **state)
{
    (void)state;
    struct seen seen = {.then = run_other};
    struct undercroft *memory = memory_of(DDR3, &seen);
    FINE(undercroft_memory_request(memory, UNDERCROFT_READ, 0, 64, 0, NULL));
    FINE(undercroft_run(memory, UNDERCROFT_FOREVER, NULL));
    assert_int_equal(seen.status, 1);
    FINE(undercroft_free(memory, NULL));
}

static void requests(void **state)
{
    (void)state;
    struct seen seen = {0};
    struct undercroft *memory = memory_of(DDR3, &seen);
    const uint64_t end = UINT64_C(4) << 30;
    REFUSED(undercroft_memory_request(memory, 2, 0, 64, 0, &error), ARGUMENT, "operation 2");
    REFUSED(undercroft_memory_request(memory, UNDERCROFT_READ, 0, 0, 0, &error), ARGUMENT, "0 bytes");
    REFUSED(undercroft_memory_request(memory, UNDERCROFT_READ, end, 1, 0, &error), ARGUMENT,
            "which has 4 GiB");
    REFUSED(undercroft_memory_request(memory, UNDERCROFT_READ, end - 1, 2, 0, &error), ARGUMENT, "4 GiB");
    REFUSED(undercroft_memory_request(memory, UNDERCROFT_READ, 64, UINT64_MAX, 0, &error), ARGUMENT, "4 GiB");
    REFUSED(undercroft_memory_request(memory, UNDERCROFT_READ, 0, 4096, 0, &error), ARGUMENT, "read_queue");
    REFUSED(undercroft_memory_request(memory, UNDERCROFT_WRITE, 32, 2048, 0, &error), ARGUMENT,
            "write_queue");
    FINE(undercroft_memory_request(memory, UNDERCROFT_READ, 0, 2048, 0, &error));
    FINE(undercroft_memory_request(memory, UNDERCROFT_WRITE, end - 1, 1, 0, &error));
    FINE(undercroft_run(memory, UNDERCROFT_FOREVER, &error));
    assert_int_equal(seen.answers, 2);
    FINE(undercroft_free(memory, NULL));
}

static void packets(void **state)
{
    (void)state;
    struct seen seen = {0};
    struct undercroft *network = network_of(MESH, &seen);
    struct undercroft_packet packet = {.source = 4, .flits = 1};
    REFUSED(undercroft_network_send(network, &packet, &error), ARGUMENT,
            "source 4; the network has nodes 0 to 3");
    packet = (struct undercroft_packet){.destination = UINT32_MAX, .flits = 1};
    REFUSED(undercroft_network_send(network, &packet, &error), ARGUMENT, "destination 4294967295");
    packet = (struct undercroft_packet){.message_class = 2, .flits = 1};
    REFUSED(undercroft_network_send(network, &packet, &error), ARGUMENT, "class 2; the network has 2");
    packet = (struct undercroft_packet){.flits = 0};
    REFUSED(undercroft_network_send(network, &packet, &error), ARGUMENT, "0 flits; allowed: 1 to 4");
    packet = (struct undercroft_packet){.flits = 5};
    REFUSED(undercroft_network_send(network, &packet, &error), ARGUMENT, "5 flits; allowed: 1 to 4");
    REFUSED(undercroft_network_unblock(network, 9, 0, &error), ARGUMENT, "node 9");
    REFUSED(undercroft_network_unblock(network, 0, 9, &error), ARGUMENT, "class 9");
    FINE(undercroft_network_unblock(network, 0, 0, &error)); /* nothing waits */
    FINE(undercroft_free(network, NULL));
}

static void descriptions(void **state)
{
    (void)state;
    struct seen seen = {0};
    const struct undercroft_memory_client client = {sizeof client, &seen, seen_answer, NULL};
    const struct undercroft_network_client taker = {sizeof taker, &seen, seen_deliver, NULL};
    const char *const sets[] = {"dram.tCL=0 fs"};
    struct undercroft *none = NULL;
    struct undercroft_source source = text_of("dram:\n  standard: ddr9\n");
    REFUSED(undercroft_memory_new(&none, &source, &client, &error), DESCRIPTION,
            "description:2: dram.standard");
    source = text_of("dram:\n  tRCD: 3 ns\n");
    REFUSED(undercroft_memory_new(&none, &source, &client, &error), DESCRIPTION,
            "description:2: unknown key 'dram.tRCD'");
    source = text_of("");
    REFUSED(undercroft_memory_new(&none, &source, &client, &error), DESCRIPTION, "description");
    source = text_of("{[");
    REFUSED(undercroft_memory_new(&none, &source, &client, &error), DESCRIPTION, "description:");
    source = text_of(DDR3);
    source.sets = sets;
    source.set_count = 1;
    REFUSED(undercroft_memory_new(&none, &source, &client, &error), DESCRIPTION, "--set");
    source = (struct undercroft_source){.size = sizeof source, .file = "/nonexistent/x.yaml"};
    REFUSED(undercroft_memory_new(&none, &source, &client, &error), DESCRIPTION, "/nonexistent/x.yaml");
    source.file = "ddr9";
    REFUSED(undercroft_memory_new(&none, &source, &client, &error), DESCRIPTION, "ddr9");
    source = text_of("network: {topology: mesh, size: 0x2}\n");
    REFUSED(undercroft_network_new(&none, &source, 1, &taker, &error), DESCRIPTION, "description:1");
    source = text_of(MESH);
    REFUSED(undercroft_network_new(&none, &source, 0, &taker, &error), ARGUMENT, "0 flits");
    REFUSED(undercroft_network_new(&none, &source, 1 << 20, &taker, &error), ARGUMENT, "flits");
    assert_null(none);
}

static void names(void **state)
{
    (void)state;
    struct seen seen = {0};
    struct undercroft *memory = memory_of(DDR3, &seen);
    struct undercroft_statistic statistic;
    REFUSED(undercroft_statistic(memory, "dram.raeds", &statistic, &error), NAME,
            "no statistic 'dram.raeds'");
    REFUSED(undercroft_statistic(memory, "", &statistic, &error), NAME, "no statistic ''");
    FINE(undercroft_free(memory, NULL));
}

static void programs(void **state)
{
    (void)state;
    struct undercroft *none;
    const struct undercroft_source source = text_of("extends: ddr3\n");
    const char *const null[] = {NULL};
    struct undercroft_program program = {.size = sizeof program};
    REFUSED(undercroft_machine_new(NULL, &source, &program, &error), ARGUMENT, "`machine`");
    REFUSED(undercroft_machine_new(&none, NULL, &program, &error), ARGUMENT, "source");
    REFUSED(undercroft_machine_new(&none, &source, NULL, &error), ARGUMENT, "program is NULL");
    REFUSED(undercroft_machine_new(&none, &source, &program, &error), ARGUMENT, "file is NULL");
    program.program = "/nonexistent/program";
    program.argument_count = 1;
    REFUSED(undercroft_machine_new(&none, &source, &program, &error), ARGUMENT, "arguments[0]");
    program.arguments = null;
    REFUSED(undercroft_machine_new(&none, &source, &program, &error), ARGUMENT, "arguments[0]");
    program.argument_count = 0;
    program.share = "/nonexistent";
    REFUSED(undercroft_machine_new(&none, &source, &program, &error), DESCRIPTION, "/nonexistent/machines");
    program.size = 1;
    REFUSED(undercroft_machine_new(&none, &source, &program, &error), ARGUMENT, "`size` is 1");
    assert_null(none);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(null_handles), cmocka_unit_test(null_arguments), cmocka_unit_test(wrong_kind),
        cmocka_unit_test(no_handle),    cmocka_unit_test(stale_handle),   cmocka_unit_test(backwards),
        cmocka_unit_test(callbacks),    cmocka_unit_test(nested),         cmocka_unit_test(requests),
        cmocka_unit_test(packets),      cmocka_unit_test(descriptions),   cmocka_unit_test(names),
        cmocka_unit_test(programs),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
