#include "emu/axram/controller.h"

#include <assert.h>
#include <stdlib.h>
#include <string.h>

#include "emu/axram/controller/state.h"
#include "emu/sim/alloc.h"

enum {
    INVOKE_WORDS =
        3, /* the set of units, and the numbers of the first blocks of inputs and results in the chip */
    SHARE_WORDS = 1, /* of a team: layer and neurons */
    CONFIGURE_WORDS = 5,
};

/* Returns whether the chip has all its banks to itself. */
static bool holds_all(const struct axram_chip *chip)
{
    const struct dram_agent *agent = &chip->agent;
    return (agent->banks & ~dram_agent_barred(agent) & ~dram_agent_pending(agent)) == axram_banks_of(chip);
}

static void propose(void *owner, struct dram_choice *best)
{
    struct axram_chip *chip = owner;
    if (!holds_all(chip))
        return;
    const struct axram_wanted wanted = axram_wanted_of(chip);
    /* A poll gives way to the other half's commands, but not for longer than to the next one. */
    const bool yields = wanted.command == AXMR && wanted.cycle < chip->poll_at + chip->shared->poll;
    const enum dram_order order = yields ? DRAM_ORDER_TIMEOUT : DRAM_ORDER_COLUMN;
    dram_choice_offer(best, &chip->agent, wanted.cycle, dram_merit(order, chip->agent.age),
                      (enum dram_command)wanted.command, wanted.bank);
}

/* Keeps a block that was read. If it was read before, notes whether it has changed. */
static void keep(struct axram_chip *chip, uint32_t index, uint64_t address, const uint8_t *bytes)
{
    struct axram_copy *copy = &chip->copies[index];
    if (copy->address == address) {
        chip->torn |= memcmp(copy->bytes, bytes, AXRAM_BLOCK) != 0;
        return;
    }
    copy->address = address;
    memcpy(copy->bytes, bytes, AXRAM_BLOCK);
}

/* Keeps a block that others can store to: of inputs, the bias, or weights. */
static void keep_read(struct axram_chip *chip, const struct axram_op *op, const uint8_t *bytes)
{
    const struct axram_sequence *s = &chip->sequence;
    const uint32_t inputs = s->topology->size[0];
    if (op->step == AXRAM_WEIGHTS)
        keep(chip, inputs + 1 + op->number, op->address, bytes);
    else if (s->input == s->topology->size[s->layer - 1])
        keep(chip, inputs, op->address, bytes);
    else if (s->layer == 1)
        keep(chip, s->input, op->address, bytes);
}

/* Returns the least number of clocks from the next command to the end of the request; at least 1. */
static uint64_t least_left(const struct axram_chip *chip)
{
    const struct axram_sequence *s = &chip->sequence;
    const uint64_t columns = s->total - s->done + (chip->held.step == AXRAM_OUTPUT);
    if (chip->state == AXRAM_RUN && s->holds)
        return 1;
    if (chip->state == AXRAM_RUN)
        return 1 + (columns - 1) * axram_clocks_of(chip)->tCCD4;
    if (chip->state == AXRAM_FINISHED)
        return 1;
    return chip->state == AXRAM_SEND && chip->request->invokes ? 1 + chip->words : 1;
}

/* Brings the agent's fields up to date with the state. */
static void settle(struct axram_chip *chip)
{
    chip->agent.wants = chip->state != AXRAM_IDLE && chip->state != AXRAM_AWAY && chip->state != AXRAM_WAIT &&
                        (chip->state != AXRAM_FINISHED || chip->shared->notify == AXRAM_POLL);
    /* While the chip is away, the refresh's commands may give the banks back. In other states, they have no effect outside. */
    chip->agent.notice = chip->state == AXRAM_AWAY ? 1 : chip->agent.wants ? least_left(chip) : CLOCK_NEVER;
    dram_agent_changed(&chip->agent);
}

/* Returns the time of a clock of the channel, not before now. */
static uint64_t time_of(const struct axram_chip *chip, uint64_t cycle)
{
    const uint64_t time = cycle * chip->shared->dram->tCK, now = chip->shared->queue->now;
    return time > now ? time : now;
}

/* Brings the agent up to date with a state that has changed other than by a command of its channel. */
static void changed(struct axram_chip *chip)
{
    settle(chip);
    dram_memory_changed(chip->memory, chip->channel);
}

/* Notes that the controller takes the request or layer to be finished, and schedules end() for clock `cycle`. */
static void finish(struct axram_chip *chip, uint64_t cycle)
{
    chip->state = AXRAM_WAIT;
    chip->over = true;
    event_schedule(chip->shared->queue, &chip->end, time_of(chip, cycle));
}

/* Goes to a state, also while a refresh has the banks. */
static void go_to(struct axram_chip *chip, enum axram_state state)
{
    *(chip->state == AXRAM_AWAY ? &chip->interrupted : &chip->state) = state;
}

/* Goes to the first command of a sequence that has been set. */
static void begin_sequence(struct axram_chip *chip)
{
    chip->op = axram_sequence_next(&chip->sequence);
    chip->held.step = AXRAM_END;
    axram_units_select(&chip->units, chip->sequence.part, chip->shared->parts);
    axram_look_from_here(chip);
}

/* Begins to compute the chip's share of its layer. */
static void compute(struct axram_chip *chip)
{
    const struct axram_request *request = chip->request;
    const struct axram_sharing *sharing = &chip->team->sharing;
    const unsigned member = axram_member(chip);
    axram_sequence_begin(&chip->sequence, &request->topology, sharing->configurations[member],
                         request->inputs, request->results, request->units, chip->shared->parts);
    axram_sequence_share(&chip->sequence, sharing, member, chip->layer);
    begin_sequence(chip);
    chip->words = INVOKE_WORDS + SHARE_WORDS;
    chip->over = false;
    chip->behind = AXRAM_SEND;
    go_to(chip, AXRAM_CLOSE);
}

/* Tells the team that the chip has come to the end of a phase at a clock of its channel. */
static void report(struct axram_chip *chip, uint64_t cycle, uint64_t message)
{
    go_to(chip, AXRAM_WAIT);
    chip->ops->arrived(chip, time_of(chip, cycle), message);
}

/* The values of a layer that chips of a team exchange. */

/* Returns whether the chip gives a value of its layer to others; without `gives`, whether it takes it. */
static bool moves(const struct axram_chip *chip, unsigned value, bool gives)
{
    const struct axram_sharing *sharing = &chip->team->sharing;
    const unsigned own = axram_member(chip);
    if (!gives)
        return axram_share_wants(sharing, own, chip->layer, value);
    if (axram_share_holder(sharing, chip->layer, value) != own)
        return false;
    for (unsigned other = 0; other < chip->team->count; other++)
        if (axram_share_wants(sharing, other, chip->layer, value))
            return true;
    return false;
}

/* Goes to the first value from `value` on that the chip gives, or takes. Returns false if there is none. */
static bool find_value(struct axram_chip *chip, unsigned value, bool gives)
{
    const unsigned count = chip->request->topology.size[chip->layer];
    while (value < count && !moves(chip, value, gives))
        value++;
    chip->value = value;
    chip->burst = 0;
    return value < count;
}

/* Begins to give the values of the chip's layer. */
static void give(struct axram_chip *chip, uint64_t cycle)
{
    if (find_value(chip, 0, true))
        go_to(chip, AXRAM_GIVE);
    else
        report(chip, cycle, chip->shared->message);
}

/* Passes a burst that was read at a clock. */
static void given(struct axram_chip *chip, uint64_t cycle)
{
    const uint64_t block = axram_moved_at(chip) - (uint64_t)chip->burst * (AXRAM_BLOCK / AXRAM_BURSTS);
    uint8_t *value = chip->team->values[chip->layer % 2][chip->value];
    chip->shared->counters.given++;
    if (++chip->burst < AXRAM_BURSTS)
        return;
    if (chip->layer == chip->request->topology.layers)
        memcpy(value, chip->results[chip->value], AXRAM_BLOCK);
    else
        memcpy(value, axram_bytes_at(chip->shared, block), AXRAM_BLOCK);
    if (chip->layer == 0)
        keep(chip, chip->value, block, value);
    if (!find_value(chip, chip->value + 1, true))
        report(chip, cycle, chip->shared->message);
}

/* Lets the chip compute the next layer, or go on to what follows where it has no neurons of it. */
static void go_on(struct axram_chip *chip, uint64_t cycle)
{
    if (chip->layer == chip->request->topology.layers) {
        report(chip, cycle, 0);
        return;
    }
    chip->layer++;
    const struct axram_range neurons =
        axram_share_neurons(&chip->team->sharing, axram_member(chip), chip->layer);
    if (neurons.first < neurons.end)
        compute(chip);
    else
        give(chip, cycle);
}

/* Passes a burst that was written at a clock. */
static void taken(struct axram_chip *chip, uint64_t cycle)
{
    const uint64_t block = axram_moved_at(chip) - (uint64_t)chip->burst * (AXRAM_BLOCK / AXRAM_BURSTS);
    chip->shared->counters.taken++;
    if (++chip->burst < AXRAM_BURSTS)
        return;
    if (chip->layer < chip->request->topology.layers) { /* results are written when all chips have finished */
        memcpy(axram_bytes_at(chip->shared, block), chip->team->values[chip->layer % 2][chip->value],
               AXRAM_BLOCK);
        axram_written(chip->shared, block);
    }
    if (!find_value(chip, chip->value + 1, false))
        go_on(chip, cycle);
}

static void yield_if_asked(struct axram_chip *chip)
{
    if (!chip->asked || chip->state == AXRAM_SAVE)
        return;
    if (chip->state == AXRAM_RUN && chip->held.step == AXRAM_OUTPUT)
        return; /* its WR4 comes first */
    chip->asked = false;
    if (chip->state != AXRAM_RUN) { /* nothing is in the accumulators */
        chip->interrupted = chip->state;
        chip->state = AXRAM_AWAY;
        dram_agent_yield(&chip->agent, chip->agent.banks & chip->agent.lost);
        return;
    }
    chip->state = AXRAM_SAVE;
    chip->begun = false;
    chip->part = 0;
    chip->shared->counters.suspensions++;
}

/* Updates the state after an RD4 or WR4 of the accumulators. */
static void pass_part(struct axram_chip *chip, uint64_t cycle)
{
    struct axram_shared *shared = chip->shared;
    uint8_t *block = axram_bytes_at(shared, axram_saved_at(chip));
    if (chip->state == AXRAM_SAVE) {
        axram_units_save(&chip->units, chip->part, block);
        axram_written(shared, axram_saved_at(chip));
        shared->counters.saved++;
    } else {
        axram_units_load(&chip->units, chip->part, block);
        chip->work_end = cycle + axram_clocks_of(chip)->tCL;
        shared->counters.loaded++;
    }
    if (++chip->part < AXRAM_SAVED)
        return;
    if (chip->state == AXRAM_RESTORE) {
        chip->state = AXRAM_RUN;
        return;
    }
    chip->state = AXRAM_AWAY;
    chip->interrupted = AXRAM_RESTORE;
    chip->asked = false;
    memset(chip->units.sums, 0xee, sizeof chip->units.sums); /* only what was written comes back */
    dram_agent_yield(&chip->agent, chip->agent.banks & chip->agent.lost);
}

/* Adds the time of a step, for which the input is there at a clock, to that of the units. */
static void add_work(struct axram_chip *chip, const struct axram_op *op, uint64_t arrives)
{
    struct axram_shared *shared = chip->shared;
    const uint64_t tCK = shared->dram->tCK, block = op->number / AXRAM_REFILL % 2,
                   work =
                       (axram_units_clocks(&chip->units, op->number) * shared->unit_period + tCK - 1) / tCK;
    arrives = arrives > chip->weights_at[block] ? arrives : chip->weights_at[block];
    chip->work_end = (chip->work_end > arrives ? chip->work_end : arrives) + work;
    chip->weights_end[block] = chip->work_end;
    shared->counters.mac_clocks += work;
}

static void pass_read(struct axram_chip *chip, const struct axram_op *op, uint64_t cycle)
{
    struct axram_shared *shared = chip->shared;
    const uint8_t *bytes = axram_bytes_at(shared, op->address);
    const uint64_t arrives = cycle + axram_clocks_of(chip)->tCL;
    keep_read(chip, op, bytes);
    shared->counters.column_clocks += axram_clocks_of(chip)->tCCD4;
    axram_do_step(&chip->units, op, bytes, &shared->counters);
    if (op->step == AXRAM_INPUT)
        add_work(chip, op, arrives);
    else
        chip->weights_at[op->number % 2] = arrives;
}

/* Does the steps that come next and need no command, because the units hold the values. */
static void do_held(struct axram_chip *chip)
{
    struct axram_shared *shared = chip->shared;
    for (; chip->op.held && chip->op.step != AXRAM_END; axram_go_on(chip)) {
        const struct axram_op op = chip->op;
        uint8_t *bytes = axram_bytes_at(shared, op.address);
        axram_units_select(&chip->units, op.part, shared->parts);
        if (op.step == AXRAM_INPUT) {
            keep_read(chip, &op, bytes);
            axram_do_step(&chip->units, &op, bytes, &shared->counters);
            add_work(chip, &op, 0);
            continue;
        }
        axram_units_write(&chip->units, bytes);
        chip->work_end += shared->sigmoid;
        shared->counters.register_accesses += AXRAM_UNITS / shared->parts;
    }
}

/* Lets the units hold the results of a neuron that is finished, if that comes next. */
static void hold_result(struct axram_chip *chip)
{
    if (chip->op.step != AXRAM_OUTPUT || chip->held.step == AXRAM_OUTPUT)
        return;
    axram_units_write(&chip->units, chip->latch);
    chip->held_layer = chip->sequence.layer;
    chip->held_ready = chip->work_end + chip->shared->sigmoid;
    const struct axram_op op = chip->op;
    axram_go_on(chip);
    chip->held = op;
    do_held(chip);
    axram_units_select(&chip->units, chip->sequence.part, chip->shared->parts);
}

/* Updates the state after an RD4 of the sequence. */
static void pass_step(struct axram_chip *chip, uint64_t cycle)
{
    const struct axram_op op = chip->op;
    pass_read(chip, &op, cycle);
    axram_go_on(chip);
    do_held(chip);
    hold_result(chip);
}

/* Updates the state after the WR4 of a result. */
static void pass_result(struct axram_chip *chip, uint64_t cycle)
{
    struct axram_shared *shared = chip->shared;
    const struct axram_op op = chip->held;
    const size_t bytes = AXRAM_BLOCK / shared->parts, at = bytes * op.part;
    if (op.result)
        memcpy(chip->results[op.number] + at, chip->latch + at, bytes);
    if (!op.result || op.aside) {
        memcpy(axram_bytes_at(shared, op.address) + at, chip->latch + at, bytes);
        axram_written(shared, op.address);
    }
    shared->counters.result_writes++;
    axram_let_go(chip);
    hold_result(chip);
    if (!op.last)
        return;
    chip->state = AXRAM_FINISHED;
    if (chip->layer == 0)
        event_schedule(shared->queue, &chip->commit, time_of(chip, cycle + 1));
}

/* Returns the clocks of CK after which the controller takes an invocation to be finished (notify: fixed). Without a configured
 * time, this is a bound without refreshes: for each column the slowest arithmetic or tCCDL, for each result both turns of the
 * bus, and three rows for each bank. */
static uint64_t fixed_clocks(const struct axram_chip *chip)
{
    const struct dram_clocks *c = axram_clocks_of(chip);
    const struct axram_sequence *s = &chip->sequence;
    const uint32_t step = c->tCCDL > ARITH_SHIFTS ? c->tCCDL : ARITH_SHIFTS,
                   turn = c->tCL + ARITH_SHIFTS + chip->shared->sigmoid + c->tCWL + c->tBURST + c->tWTRL +
                          c->tRP + c->tRCDRD + c->tWR;
    if (chip->shared->fixed)
        return chip->shared->fixed;
    const uint32_t parts = (uint32_t)__builtin_popcount(s->left),
                   writes = parts *
                            (s->only ? s->neurons.end - s->neurons.first : axram_neuron_count(s->topology));
    return (uint64_t)(s->total - writes) * step + (uint64_t)writes * turn + (uint64_t)12 * parts * c->tRC;
}

static void begin_run(struct axram_chip *chip, uint64_t cycle)
{
    const struct axram_shared *shared = chip->shared;
    chip->state = AXRAM_RUN;
    chip->work_end = 0;
    memset(chip->weights_at, 0, sizeof chip->weights_at);
    memset(chip->weights_end, 0, sizeof chip->weights_end);
    if (shared->notify == AXRAM_POLL) {
        chip->poll_at = cycle + shared->poll;
        return;
    }
    chip->poll_at = cycle + fixed_clocks(chip);
    event_schedule(shared->queue, &chip->end, time_of(chip, chip->poll_at));
}

/* Updates the state after a word, or the AXCT that starts the chip. */
static void pass_send(struct axram_chip *chip, uint32_t command, uint64_t cycle)
{
    if (command == AXCT) {
        chip->shared->counters.controls++;
        begin_run(chip, cycle);
        return;
    }
    if (command != AXCF) /* a row is opened ahead */
        return;
    chip->shared->counters.words++;
    if (--chip->words == 0 && !chip->request->invokes)
        finish(chip, cycle + 1);
}

static void pass_control(struct axram_chip *chip)
{
    chip->begun = true;
    chip->shared->counters.controls++;
}

/* Updates the state after a command that was issued at clock `cycle`. */
static void pass(struct axram_chip *chip, uint32_t command, uint64_t cycle)
{
    const struct dram_clocks *c = axram_clocks_of(chip);
    if (command == AXMR) {
        chip->shared->counters.polls++;
        chip->poll_at = cycle + chip->shared->poll;
        if (chip->state == AXRAM_FINISHED)
            finish(chip, cycle + c->tCL + c->tBURST);
        return;
    }
    switch (chip->state) {
    case AXRAM_CLOSE:
        chip->state = chip->behind;
        if (chip->state == AXRAM_GIVE)
            give(chip, cycle);
        return;
    case AXRAM_GIVE:
        if (command == DRAM_RD)
            given(chip, cycle + c->tCL + c->tBURST);
        return;
    case AXRAM_TAKE:
        if (command == DRAM_WR)
            taken(chip, cycle);
        return;
    case AXRAM_HEADER: chip->state = command == DRAM_RD ? AXRAM_SEND : AXRAM_HEADER; return;
    case AXRAM_SEND: pass_send(chip, command, cycle); return;
    case AXRAM_RUN:
        if (command == RD4)
            pass_step(chip, cycle);
        else if (command == WR4)
            pass_result(chip, cycle);
        return;
    default:
        if (command == AXCT)
            pass_control(chip);
        else if (command == RD4 || command == WR4)
            pass_part(chip, cycle);
    }
}

/* Finds the next command of the chip, and sets floor to its clock. Returns false if something else may come before it. */
static bool follows(struct axram_chip *chip, struct axram_wanted *wanted)
{
    if (chip->state != AXRAM_RUN || chip->asked ||
        axram_channel_of(chip)->frozen != axram_channel_of(chip)->all)
        return false;
    *wanted = axram_wanted_of(chip);
    if (wanted->command == AXMR || !dram_agent_follows(&chip->agent, wanted->cycle))
        return false;
    axram_channel_of(chip)->floor = wanted->cycle;
    return true;
}

static void grant(void *owner, const struct dram_choice *choice)
{
    struct axram_chip *chip = owner;
    struct dram_channel *channel = axram_channel_of(chip);
    struct axram_wanted wanted = axram_wanted_of(chip);
    assert(wanted.command == choice->command);
    do {
        dram_channel_issue(channel, (enum dram_command)wanted.command, wanted.bank, wanted.row,
                           wanted.column);
        pass(chip, wanted.command, channel->floor);
    } while (follows(chip, &wanted));
    dram_agent_renew(&chip->agent);
    yield_if_asked(chip);
    settle(chip);
}

static void suspend(void *owner, uint64_t banks)
{
    struct axram_chip *chip = owner;
    (void)banks;
    chip->asked = true;
    yield_if_asked(chip);
    settle(chip);
}

static void resume(void *owner, uint64_t banks)
{
    struct axram_chip *chip = owner;
    (void)banks;
    if (!holds_all(chip))
        return;
    chip->asked = false;
    if (chip->state == AXRAM_AWAY) {
        chip->state = chip->interrupted;
        chip->begun = false;
        chip->part = 0;
        dram_agent_renew(&chip->agent);
    }
    if (chip->request && chip->request->invokes)
        axram_look_from_here(chip); /* the refresh has closed the rows */
    settle(chip);
}

static uint64_t served(const struct dram_channel *channel)
{
    return channel->counters.reads + channel->counters.writes;
}

/* Returns the ordinary bursts that wait for the chip's banks. */
static uint64_t waiting(const struct axram_chip *chip, const struct dram_channel *channel)
{
    const struct dram_queue *queue = &channel->queue;
    uint64_t count = 0;
    if (chip->shared->halves == 1)
        return queue->count[DRAM_READS] + queue->count[DRAM_WRITES];
    for (uint64_t left = axram_banks_of(chip); left; left &= left - 1)
        for (enum dram_direction direction = 0; direction < DRAM_DIRECTIONS; direction++)
            for (const struct dram_burst *burst = queue->lists[direction][__builtin_ctzll(left)].first; burst;
                 burst = burst->next)
                count++;
    return count;
}

/* Gives those ordinary bursts the next turn that wait when a request ends. Otherwise, a queue that is never empty would keep
 * them from the chip for ever. */
static void give_turn(struct axram_chip *chip, const struct dram_channel *channel)
{
    chip->served_before = served(channel);
    chip->due = waiting(chip, channel);
}

bool axram_has_had_turn(const struct axram_chip *chip)
{
    const struct dram_channel *channel = dram_memory_reach(chip->memory, chip->channel);
    return served(channel) - chip->served_before >= chip->due || waiting(chip, channel) == 0;
}

void axram_chip_begin(struct axram_chip *chip, struct axram_request *request, enum axram_state behind)
{
    const struct axram_shared *shared = chip->shared;
    chip->request = request;
    chip->taken = axram_channel_of(chip)->floor;
    chip->due = 0;
    chip->layer = 0;
    chip->torn = false;
    chip->copy_count = 0;
    if (request->invokes) {
        chip->copy_count = request->topology.size[0] + 1 + axram_refill_count(&request->topology);
        chip->units.kind = request->topology.kind;
        axram_sequence_begin(&chip->sequence, &request->topology, request->configuration, request->inputs,
                             request->results, request->units, shared->parts);
        axram_sequence_hold(&chip->sequence, shared->held);
        begin_sequence(chip);
    }
    for (uint32_t i = 0; i < chip->copy_count; i++)
        chip->copies[i].address = UINT64_MAX;
    chip->words = request->invokes ? INVOKE_WORDS : CONFIGURE_WORDS + request->topology.layers;
    chip->state = behind == AXRAM_GIVE ? AXRAM_CLOSE : behind;
    chip->behind = behind;
    chip->asked = chip->over = false;
    dram_agent_renew(&chip->agent);
    (void)dram_agent_claim(&chip->agent, axram_banks_of(chip));
    changed(chip);
}

void axram_chip_release(struct axram_chip *chip)
{
    const struct dram_channel *channel = dram_memory_reach(chip->memory, chip->channel);
    chip->shared->counters.busy_clocks += channel->floor - chip->taken;
    chip->state = AXRAM_IDLE;
    chip->request = NULL;
    give_turn(chip, channel);
    dram_agent_release(&chip->agent, axram_banks_of(chip));
    changed(chip);
}

void axram_chip_give(struct axram_chip *chip)
{
    give(chip, dram_memory_reach(chip->memory, chip->channel)->floor);
    changed(chip);
}

void axram_chip_take(struct axram_chip *chip)
{
    const uint64_t cycle = dram_memory_reach(chip->memory, chip->channel)->floor;
    if (find_value(chip, 0, false))
        go_to(chip, AXRAM_TAKE);
    else
        go_on(chip, cycle);
    changed(chip);
}

bool axram_chip_is_torn(struct axram_chip *chip)
{
    for (uint32_t i = 0; i < chip->copy_count && !chip->torn; i++) {
        const struct axram_copy *copy = &chip->copies[i];
        chip->torn = copy->address != UINT64_MAX &&
                     memcmp(copy->bytes, axram_bytes_at(chip->shared, copy->address), AXRAM_BLOCK) != 0;
    }
    return chip->torn;
}

/* Compares the blocks that were read with memory, and writes the results. */
static void commit(void *owner, uint64_t now)
{
    struct axram_chip *chip = owner;
    struct axram_shared *shared = chip->shared;
    const struct axram_request *request = chip->request;
    (void)now;
    if (axram_chip_is_torn(chip)) {
        shared->counters.torn++;
        axram_execute(shared, request, NULL);
        return;
    }
    for (uint32_t i = 0; i < request->topology.size[request->topology.layers]; i++)
        axram_put_results(shared, request, i, chip->results[i]);
}

/* Returns whether the chip has finished, when the fixed time has passed (notify: fixed). */
static bool is_in_time(const struct axram_chip *chip)
{
    const enum axram_state state = chip->state == AXRAM_AWAY ? chip->interrupted : chip->state;
    return state == AXRAM_FINISHED && !event_pending(&chip->commit);
}

static void end(void *owner, uint64_t now)
{
    struct axram_chip *chip = owner;
    const struct axram_shared *shared = chip->shared;
    if (!chip->over && !is_in_time(chip)) {
        chip->shared->counters.late++; /* the fixed time was too short: the controller looks again */
        event_schedule(shared->queue, &chip->end, now + shared->poll * shared->dram->tCK);
        return;
    }
    chip->ops->finished(chip, now);
}

void axram_chip_init(struct axram_chip *chip, struct axram_team *team, struct dram_memory *memory,
                     uint32_t channel, uint32_t half, const struct axram_chip_ops *to)
{
    static const struct dram_agent_ops ops = {
        .propose = propose, .grant = grant, .suspend = suspend, .resume = resume};
    struct axram_shared *shared = team->shared;
    *chip = (struct axram_chip){
        .shared = shared, .team = team, .ops = to, .memory = memory, .channel = channel, .half = half};
    for (uint32_t i = 0; i < AXRAM_SPOTS; i++)
        chip->spots[i].address = UINT64_MAX;
    chip->copies =
        alloc(NETWORK_INPUTS + 1 + (NETWORK_WEIGHTS + AXRAM_REFILL - 1) / AXRAM_REFILL, sizeof *chip->copies);
    event_init(&chip->commit, shared->component, commit, chip);
    event_init(&chip->end, shared->component, end, chip);
    dram_agent_add(&chip->agent, dram_memory_reach(memory, channel), &ops, chip);
    dram_memory_changed(memory, channel);
}

void axram_chip_free(struct axram_chip *chip)
{
    event_cancel(chip->shared->queue, &chip->commit);
    event_cancel(chip->shared->queue, &chip->end);
    free(chip->copies);
    chip->copies = NULL;
}
