/* An invocation's work on bytes, without time. */
#include <assert.h>
#include <string.h>

#include "emu/axram/controller/state.h"

enum { WORD = 4 };

uint8_t *axram_bytes_at(const struct axram_shared *shared, uint64_t address)
{
    uint8_t *bytes = phys_at(shared->bytes, address, AXRAM_BLOCK);
    assert(bytes);
    return bytes;
}

void axram_written(const struct axram_shared *shared, uint64_t address)
{
    if (shared->stored)
        shared->stored(shared->context, address, AXRAM_BLOCK);
}

static void count_step(const struct axram_units *units, uint32_t number, struct axram_counters *counters)
{
    uint64_t *const steps[] = {[ARITH_SHA] = &counters->sha_iterations,
                               [ARITH_FXP] = &counters->fxp_macs,
                               [ARITH_FP] = &counters->fp_macs};
    counters->register_accesses += units->end - units->first;
    for (unsigned half = units->first, end; half < units->end; half = end) {
        const uint32_t weight = units->weights[half][number % AXRAM_ENTRIES];
        end = axram_units_equal(units, number, half);
        *steps[units->kind] += (uint64_t)arith_clocks(units->kind, weight) * (end - half) * AXRAM_HALF_UNITS;
    }
}

void axram_do_step(struct axram_units *units, const struct axram_op *op, const uint8_t *block,
                   struct axram_counters *counters)
{
    if (op->step == AXRAM_WEIGHTS) {
        axram_units_refill(units, op->number, block);
        counters->weight_reads++;
        counters->register_accesses += (uint64_t)(units->end - units->first) * AXRAM_REFILL;
        return;
    }
    if (op->first)
        axram_units_clear(units);
    axram_units_add(units, op->number, block);
    if (op->held)
        counters->register_accesses += (uint64_t)(units->end - units->first) * AXRAM_HALF_UNITS;
    else
        counters->input_reads++;
    count_step(units, op->number, counters);
}

void axram_put_results(const struct axram_shared *shared, const struct axram_request *request,
                       uint32_t neuron, const uint8_t *results)
{
    const uint64_t address = request->results + (uint64_t)neuron * AXRAM_BLOCK;
    uint8_t *block = axram_bytes_at(shared, address);
    for (uint32_t left = request->units; left; left &= left - 1) {
        const size_t at = (size_t)__builtin_ctz(left) * WORD;
        memcpy(block + at, results + at, WORD);
    }
    axram_written(shared, address);
}

/* Executes a sequence. Results of the last layer go to results[] by their numbers. */
static void execute(const struct axram_shared *shared, enum arith_kind kind, struct axram_sequence *sequence,
                    uint8_t (*results)[AXRAM_BLOCK], struct axram_counters *counters)
{
    struct axram_units units = {.kind = kind};
    for (;;) {
        const struct axram_op op = axram_sequence_next(sequence);
        if (op.step == AXRAM_END)
            break;
        axram_units_select(&units, op.part, shared->parts);
        if (op.step != AXRAM_OUTPUT) {
            axram_do_step(&units, &op, axram_bytes_at(shared, op.address), counters);
        } else {
            counters->result_writes += !op.held;
            axram_units_write(&units, op.result ? results[op.number] : axram_bytes_at(shared, op.address));
        }
        axram_sequence_step(sequence);
    }
}

struct axram_sharing axram_sharing_of(const struct axram_shared *shared, const struct axram_request *request)
{
    struct axram_sharing sharing = {.count = request->together > 1 ? request->together : 1,
                                    .space = shared->space,
                                    .configurations = {request->configuration},
                                    .inputs = request->inputs,
                                    .results = request->results,
                                    .topology = &request->topology};
    if (sharing.count > 1)
        memcpy(sharing.configurations, request->configurations, sizeof sharing.configurations);
    return sharing;
}

/* Copies the values of a layer to a member that needs them. */
static void take_values(const struct axram_shared *shared, const struct axram_sharing *sharing,
                        unsigned member, unsigned layer)
{
    for (unsigned i = 0; i < sharing->topology->size[layer]; i++) {
        if (!axram_share_wants(sharing, member, layer, i))
            continue;
        const uint64_t from = axram_share_place(sharing, axram_share_holder(sharing, layer, i), layer, i);
        memcpy(axram_bytes_at(shared, axram_share_place(sharing, member, layer, i)),
               axram_bytes_at(shared, from), AXRAM_BLOCK);
    }
}

void axram_execute(const struct axram_shared *shared, const struct axram_request *request,
                   struct axram_counters *counters)
{
    const struct axram_sharing sharing = axram_sharing_of(shared, request);
    struct axram_counters ignored = {0};
    struct axram_sequence sequence;
    uint8_t results[NETWORK_NEURONS][AXRAM_BLOCK];
    counters = counters ? counters : &ignored;
    if (sharing.count == 1) {
        axram_sequence_begin(&sequence, &request->topology, request->configuration, request->inputs,
                             request->results, request->units, shared->parts);
        axram_sequence_hold(&sequence, shared->held);
        execute(shared, request->topology.kind, &sequence, results, counters);
    }
    for (unsigned layer = 1; sharing.count > 1 && layer <= request->topology.layers; layer++)
        for (unsigned member = 0; member < sharing.count; member++) {
            const struct axram_range neurons = axram_share_neurons(&sharing, member, layer);
            if (neurons.first == neurons.end)
                continue;
            take_values(shared, &sharing, member, layer - 1);
            axram_sequence_begin(&sequence, &request->topology, sharing.configurations[member],
                                 request->inputs, request->results, request->units, shared->parts);
            axram_sequence_share(&sequence, &sharing, member, layer);
            execute(shared, request->topology.kind, &sequence, results, counters);
        }
    const unsigned outputs = request->topology.size[request->topology.layers];
    for (uint32_t i = 0; i < outputs; i++)
        axram_put_results(shared, request, i, results[i]);
}
