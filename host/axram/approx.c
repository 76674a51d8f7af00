/* The start of programs with CROFT_BY_AXRAM. */
#include <croft/approx.h>
#include <croft/approx/axram.h>
#include <croft/axram_memory.h>
#include <croft/simt_call.h>
#include <errno.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>

#include "host/axram/memory.h"
#include "host/calls/call.h"

static struct croft_axram_function *functions; /* the last one first */
static uint32_t count;
static bool begun;

void croft_axram_add(struct croft_axram_function *function)
{
    function->next = functions;
    functions = function;
    count++;
}

static _Noreturn void refuse(const char *name)
{
    (void)fprintf(stderr, "croft: CROFT_BY_AXRAM: %s: %s\n", name, axram_error());
    exit(1);
}

/* Returns an answer of the multiprocessors; 0: there are none. */
static uint32_t ask(enum simt_query what)
{
    const long answer = call_raw((enum call)SIMT_CALL_QUERY, what, 0, 0, 0, 0);
    return answer > 0 ? (uint32_t)answer : 0;
}

/* Gives a function `chips` chips from number `first` on. Returns false if that fails; axram_error() says why. */
static bool place(struct croft_axram_function *function, uint32_t first, uint32_t chips)
{
    const uint32_t layers = function->image[1] >> 8 & 255, slots = ask(SIMT_QUERY_WARPS),
                   values = (function->image[2] & 255) + (function->image[2] >> (8 * layers) & 255),
                   each = (slots + chips) / chips;
    const uint64_t threads = (uint64_t)each * croft_axram_geometry.chips * CROFT_AXRAM_WORDS;
    const void *region;
    if (!axram_network_at(function->image, first, chips))
        return false;
    region = axram_malloc(values, threads);
    function->records = malloc((slots + 1) * sizeof *function->records);
    if (!region || !function->records)
        return region ? axram_fail(0, "no ordinary memory for %u records", (unsigned)slots) == 0 : false;
    for (uint32_t i = 0; i <= slots; i++)
        function->records[i] = axram_record_at(region, values, first + i % chips, i / chips);
    function->slots = slots;
    function->first = first;
    function->chips = chips;
    function->warp_shift =
        slots ? (uint32_t)__builtin_ctzl((unsigned long)ask(SIMT_QUERY_STACK) * ask(SIMT_QUERY_WIDTH)) : 0;
    return true;
}

void croft_axram_begin(void)
{
    uint32_t first = 0;
    if (begun)
        return;
    begun = true;
    if (!axram_begin())
        refuse(functions->name);
    const uint32_t together = (uint32_t)croft_axram_query(CROFT_AXRAM_TOGETHER),
                   chips = croft_axram_geometry.chips / count / together * together;
    if (chips == 0) {
        (void)axram_fail(
            0,
            together > 1 ? "the program has %u functions, but the machine %u chips, and each %u that work "
                           "together have one network"
                         : "the program has %u functions, but the machine %u chips, each with one network",
            (unsigned)count, (unsigned)croft_axram_geometry.chips, (unsigned)together);
        refuse(functions->name);
    }
    for (struct croft_axram_function *function = functions; function;
         function = function->next, first += chips)
        if (!place(function, first, chips))
            refuse(function->name);
}

int croft_axram_batch(const struct croft_axram_function *function, struct croft_batch *batch, uint64_t calls)
{
    const uint32_t layers = function->image[1] >> 8 & 255, chips = function->chips,
                   values = (function->image[2] & 255) + (function->image[2] >> (8 * layers) & 255);
    const uint64_t records = calls / CROFT_AXRAM_WORDS + (calls % CROFT_AXRAM_WORDS > 0),
                   each = records / chips + (records % chips > 0);
    *batch = (struct croft_batch){.count = calls};
    /* A region has as many records in every chip, those of other functions included. */
    batch->region = axram_malloc(values, each * croft_axram_geometry.chips * CROFT_AXRAM_WORDS);
    if (!batch->region)
        return -1;
    batch->records = calloc(records, sizeof *batch->records);
    if (!batch->records) {
        (void)axram_free(batch->region);
        return axram_fail(ENOMEM, "no ordinary memory for %llu records", (unsigned long long)records);
    }
    for (uint64_t i = 0; i < records; i++)
        batch->records[i] =
            axram_record_at(batch->region, values, function->first + (uint32_t)(i % chips), i / chips);
    return 0;
}

void croft_axram_batch_free(struct croft_batch *batch)
{
    (void)axram_free(batch->region);
    free(batch->records);
}
