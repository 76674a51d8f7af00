/* A trace-driven loop over a memory of Undercroft: memory MEMORY TRACE. The trace has lines LD ADDRESS and ST ADDRESS, as
 * Ramulator 2's; one access is offered in each clock, or when there is room. */
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>

#include <undercroft.h>

static void fail(const struct undercroft_error *error)
{
    fprintf(stderr, "%s\n", error->text);
    exit(1);
}

static void answer(void *context, uint64_t tag, uint64_t now)
{
    uint64_t *latency = context;
    *latency += now - tag;
}

int main(int argc, char **argv)
{
    struct undercroft_error error;
    struct undercroft *memory;
    uint64_t latency = 0, accesses = 0, address, now = 0, period;
    const struct undercroft_source source = {.size = sizeof source, .file = argc > 1 ? argv[1] : "hbm1"};
    const struct undercroft_memory_client client = {
        .size = sizeof client, .context = &latency, .answer = answer};
    FILE *trace = argc > 2 ? fopen(argv[2], "r") : NULL;
    char operation[3];

    if (!trace || undercroft_memory_new(&memory, &source, &client, &error) != UNDERCROFT_OK)
        return fprintf(stderr, "%s\n", trace ? error.text : "usage: memory MEMORY TRACE"), 2;
    undercroft_period(memory, &period, NULL);
    while (fscanf(trace, " %2[LDST] %" SCNi64, operation, (int64_t *)&address) == 2) {
        int status;
        while ((status = undercroft_memory_request(memory, operation[0] == 'S', address, 64, now, &error)) ==
               UNDERCROFT_FULL)
            undercroft_step(memory, NULL), undercroft_now(memory, &now, NULL);
        if (status != UNDERCROFT_OK || undercroft_run(memory, now += period, &error) != UNDERCROFT_OK)
            fail(&error);
        accesses++;
    }
    undercroft_run(memory, UNDERCROFT_FOREVER, NULL);

    struct undercroft_statistic hits;
    if (undercroft_statistic(memory, "dram.row_hits", &hits, &error) != UNDERCROFT_OK)
        fail(&error);
    printf("%" PRIu64 " accesses, %.3f ns on average, %" PRIu64 " %s hit an open row\n", accesses,
           accesses ? (double)latency / (double)accesses * 1e-6 : 0, hits.count, hits.unit);
    fclose(trace);
    undercroft_free(memory, NULL);
    return 0;
}
