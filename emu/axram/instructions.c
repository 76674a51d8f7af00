/* AxRAM's instructions: regions, their checks, and requests. */
#include <assert.h>
#include <inttypes.h>
#include <stdio.h>
#include <string.h>

#include "emu/axram/part.h"
#include "emu/hart/access.h"
#include "emu/sim/alloc.h"
#include "emu/sim/text/say.h"

enum {
    PAGE = 4096,
    WORD = 4,
    PENDING = 64, /* regions of inputs that are kept for more threads than harts */
};

static bool refused(struct trap *trap, enum trap_cause cause, uint64_t value)
{
    *trap = (struct trap){cause, value};
    return false;
}

/* Prints why an instruction traps, and sets the trap; the environment then prints where. Returns false. */
static bool complain(const struct insn *insn, const struct axram_thread *thread, const struct error *err,
                     struct trap *trap)
{
    char name[INSN_NAME_SIZE], who[48] = "";
    insn_spell(insn_table[insn->id].name, name);
    if (thread->warp)
        (void)snprintf(who, sizeof who, " of thread %" PRIu64, warp_thread_id(thread->warp, thread->lane));
    say("%s%s: %s", name, who, err->text);
    return refused(trap, TRAP_ILLEGAL_INSTRUCTION, insn->bits);
}

/* Translates the address of a word. */
static bool translate(const struct axram_thread *thread, uint64_t address, bool store, uint64_t *physical,
                      struct trap *trap)
{
    if (thread->hart) {
        uint64_t ignored;
        if (access_load(thread->hart, address, WORD, &ignored, physical) &&
            (!store || access_can_store(thread->hart, address, WORD)))
            return true;
        *trap = thread->hart->trap;
        return false;
    }
    struct axram_page *last = thread->last;
    if (last && last->number == address / PAGE) {
        *physical = last->physical + address % PAGE;
        return true;
    }
    struct warp_memory *memory = warp_memory_of(thread->warp);
    const struct warp_scratchpad *pad = warp_scratchpad(thread->warp);
    const enum warp_access access = store ? WARP_STORE : WARP_LOAD;
    if (warp_memory_can(memory, pad, address, WORD, access) &&
        warp_memory_place(memory, address, access, physical) == WARP_GLOBAL) {
        if (last)
            *last = (struct axram_page){address / PAGE, *physical - address % PAGE};
        return true;
    }
    if (memory->setup.translate)
        return refused(trap, store ? TRAP_STORE_PAGE : TRAP_LOAD_PAGE, address);
    return refused(trap, store ? TRAP_STORE_ACCESS : TRAP_LOAD_ACCESS, address);
}

static bool in_space(const struct axram *axram, uint64_t first, uint64_t last)
{
    const uint64_t end = axram->base + axram->config.size;
    return first >= axram->base && first < end && last >= axram->base && last < end;
}

/* Translates and checks the region [start, end) that a thread names, operand[0] and operand[1], and splits it. */
static bool find_region(const struct axram *axram, const struct insn *insn, const struct axram_thread *thread,
                        const uint64_t operand[2], bool store, struct axram_part *part, struct trap *trap)
{
    const uint64_t start = operand[0], end = operand[1];
    struct error err;
    uint64_t first, other;
    if ((start % WORD || end % WORD || end <= start) && !axram_split(part, start, end, 0, 1, &err))
        return complain(insn, thread, &err, trap);
    if (!translate(thread, start, store, &first, trap))
        return false;
    const uint64_t most = (uint64_t)AXRAM_PIECE * axram->config.together;
    for (uint64_t at = (start / PAGE + 1) * PAGE; at < end && end - start <= most; at += PAGE) {
        if (!translate(thread, at, store, &other, trap))
            return false;
        if (other - first != at - start) {
            (void)error_set(&err, "the pages of the region 0x%" PRIx64 "-0x%" PRIx64 " are not contiguous",
                            start, end);
            return complain(insn, thread, &err, trap);
        }
    }
    const uint64_t last = first + (end - start) - 1;
    if (!in_space(axram, first, last)) {
        (void)error_set(&err,
                        "the region 0x%" PRIx64 "-0x%" PRIx64
                        " is not in accelerator memory, which is at 0x%" PRIx64 "-0x%" PRIx64,
                        start, end, axram->base, axram->base + axram->config.size);
        return complain(insn, thread, &err, trap);
    }
    if (axram_home_of(axram, start) != axram_chip_of(axram, first)) {
        (void)error_set(&err,
                        "the address 0x%" PRIx64 " is of chip %" PRIu32 ", but its page is in chip %" PRIu32
                        "; map accelerator memory at a distance that is a multiple of %" PRIu64 " KiB",
                        start, axram_home_of(axram, start), axram_chip_of(axram, first),
                        (uint64_t)AXRAM_PIECE * axram->chip_count / 1024);
        return complain(insn, thread, &err, trap);
    }
    return axram_split(part, first, last + 1, axram->base, axram->config.together, &err) ||
           complain(insn, thread, &err, trap);
}

/* Returns a thread's launch and number, so that inputs that another thread has left in the same place are not taken for its
 * own. An operating system's threads take turns on a hart: the root of its page tables and tp tell them apart. */
static struct axram_named identity_of(const struct axram_thread *thread)
{
    const struct hart *hart = thread->hart;
    if (hart)
        return (struct axram_named){.launch = hart->priv.satp ? hart->priv.satp & SATP_PPN : hart->hartid,
                                    .thread = hart->x[4]};
    return (struct axram_named){.launch = warp_where(thread->warp)->launch + 1,
                                .thread = warp_thread_id(thread->warp, thread->lane)};
}

/* Returns what a hart's thread has named, or NULL. */
static struct axram_named *find_pending(const struct axram *axram, const struct axram_thread *thread)
{
    const struct axram_named own = identity_of(thread);
    for (size_t i = 0; i < axram->pending_count; i++)
        if (axram->pending[i].launch == own.launch && axram->pending[i].thread == own.thread)
            return &axram->pending[i];
    return NULL;
}

/* Forgets the entry: later ones move up. */
static void drop_pending(struct axram *axram, struct axram_named *named)
{
    if (!named)
        return;
    axram->pending_count--;
    memmove(named, named + 1, (size_t)(axram->pending + axram->pending_count - named) * sizeof *named);
}

/* Adds an entry for a hart's thread. If there are too many, the oldest goes: its thread may have ended. */
static struct axram_named *add_pending(struct axram *axram, const struct axram_thread *thread)
{
    const size_t most = (size_t)axram->harts + PENDING;
    drop_pending(axram, find_pending(axram, thread));
    if (axram->pending_count == most)
        drop_pending(axram, axram->pending);
    if (!axram->pending)
        axram->pending = alloc(most, sizeof *axram->pending);
    return &axram->pending[axram->pending_count++];
}

/* Returns the place of a lane's inputs. */
static struct axram_named *named_of(struct axram *axram, const struct axram_thread *thread)
{
    const size_t index = (size_t)warp_where(thread->warp)->stacks * WARP_LANES + thread->lane;
    if (index >= axram->named_count) {
        const size_t count = (index + 1) * 2;
        axram->named = alloc_resize(axram->named, count * sizeof *axram->named);
        memset(axram->named + axram->named_count, 0, (count - axram->named_count) * sizeof *axram->named);
        axram->named_count = count;
    }
    return &axram->named[index];
}

/* Forgets the inputs that a thread has named. */
static void forget_inputs(struct axram *axram, const struct axram_thread *thread)
{
    if (thread->hart)
        drop_pending(axram, find_pending(axram, thread));
    else
        named_of(axram, thread)->units = 0;
}

/* Returns the blocks of a region of configuration. */
static uint32_t blocks_of(const struct axram *axram, const struct axram_topology *topology)
{
    const struct axram_layout layout = axram_layout_of(topology);
    return axram->config.together > 1 ? layout.shared_blocks : layout.blocks;
}

static bool configure(struct axram *axram, const struct insn *insn, const struct axram_thread *thread,
                      const struct axram_part *part, struct axram_request *request, struct trap *trap)
{
    const uint32_t *header = (const void *)phys_at(axram->shared.bytes, part->base, AXRAM_BLOCK);
    uint32_t words[NETWORK_HEADER];
    struct error err;
    assert(header);
    memcpy(words, header, sizeof words);
    if (part->units != UINT32_MAX) {
        (void)error_set(&err, "a configuration is of whole blocks of 128 bytes");
        return complain(insn, thread, &err, trap);
    }
    if (!axram_read_header(&request->topology, words, &err)) {
        (void)error_prefix(&err, "the region at 0x%" PRIx64 " has no network", part->base);
        return complain(insn, thread, &err, trap);
    }
    const uint32_t needed = blocks_of(axram, &request->topology);
    if (part->blocks < needed) {
        (void)error_set(&err,
                        "the network needs %" PRIu32 " blocks of 128 bytes%s, but the region has %" PRIu32,
                        needed, axram->config.together > 1 ? " where chips work together" : "", part->blocks);
        return complain(insn, thread, &err, trap);
    }
    if (axram_chip_of(axram, part->base) !=
        axram_chip_of(axram, part->base + (uint64_t)part->blocks * AXRAM_BLOCK - 1)) {
        (void)error_set(&err, "the configuration is in two chips, %" PRIu32 " and the next; each has its own",
                        axram_chip_of(axram, part->base));
        return complain(insn, thread, &err, trap);
    }
    request->configuration = part->base;
    return true;
}

static bool is_same(const struct axram_topology *a, const struct axram_topology *b)
{
    return a->kind == b->kind && a->layers == b->layers && a->bias == b->bias &&
           memcmp(a->size, b->size, sizeof a->size) == 0;
}

static bool check_size(const struct axram *axram, const struct insn *insn, const struct axram_thread *thread,
                       const struct axram_part *part, bool results, struct trap *trap)
{
    const uint32_t chip = axram_chip_of(axram, part->base), together = axram->config.together;
    const struct network_place *place = &axram->networks[chip];
    struct error err;
    for (uint32_t i = chip / together * together; i < (chip / together + 1) * together; i++) {
        if (!axram->networks[i].configured) {
            (void)error_set(&err, "chip %" PRIu32 " has no network: config.axram must come first", i);
            return complain(insn, thread, &err, trap);
        }
        if (!is_same(&axram->networks[i].topology, &place->topology)) {
            (void)error_set(&err,
                            "chips %" PRIu32 " and %" PRIu32 " work together, but have different networks",
                            chip, i);
            return complain(insn, thread, &err, trap);
        }
    }
    const unsigned wanted = place->topology.size[results ? place->topology.layers : 0];
    if (part->blocks == wanted)
        return true;
    (void)error_set(&err, "the network of chip %" PRIu32 " has %u %s, but the region has %" PRIu32 " blocks",
                    chip, wanted, results ? "outputs" : "inputs", part->blocks);
    return complain(insn, thread, &err, trap);
}

static void name_inputs(struct axram *axram, const struct axram_thread *thread, const uint64_t operand[2],
                        const struct axram_part *part)
{
    struct axram_named *named = thread->hart ? add_pending(axram, thread) : named_of(axram, thread);
    *named = identity_of(thread);
    named->named = (struct axram_span){operand[0], operand[1]};
    named->base = part->base;
    named->blocks = part->blocks;
    named->units = part->units;
}

/* Finds the inputs that belong to a thread's region of results. */
static bool take_inputs(struct axram *axram, const struct insn *insn, const struct axram_thread *thread,
                        const struct axram_part *part, struct axram_named *taken, struct trap *trap)
{
    const struct axram_named none = {.units = 0}, own = identity_of(thread);
    const struct axram_named *named = thread->hart ? find_pending(axram, thread) : named_of(axram, thread);
    const struct network_place *place = &axram->networks[axram_chip_of(axram, part->base)];
    struct error err;
    named = named ? named : &none;
    *taken = *named;
    if (!named->units || named->launch != own.launch || named->thread != own.thread)
        (void)error_set(&err, "initiate.axram must come first");
    else if (axram_chip_of(axram, named->base) / axram->config.together !=
             axram_chip_of(axram, part->base) / axram->config.together)
        (void)error_set(&err, "the inputs are in chip %" PRIu32 ", the results in chip %" PRIu32,
                        axram_chip_of(axram, named->base), axram_chip_of(axram, part->base));
    else if (named->units != part->units)
        (void)error_set(
            &err, "the units of the results, 0x%08" PRIx32 ", are not those of the inputs, 0x%08" PRIx32,
            part->units, named->units);
    else if (named->blocks != place->topology.size[0])
        (void)error_set(&err, "another network was configured since initiate.axram");
    else
        return true;
    return complain(insn, thread, &err, trap);
}

/* Adds a thread's region to the request that the threads of its warp make together. */
static bool join(const struct insn *insn, const struct axram_thread *thread, const struct axram_part *part,
                 const struct axram_named *inputs, struct axram_request *request, struct trap *trap)
{
    struct error err;
    if (request->units == 0) {
        request->results = part->base;
        request->inputs = inputs->base;
    } else if (request->results != part->base || request->inputs != inputs->base) {
        (void)error_set(&err, "the regions of the warp's threads are not in the same blocks");
        return complain(insn, thread, &err, trap);
    }
    request->units |= part->units;
    return true;
}

/* Checks one thread's part of an instruction, and adds it to the request. Changes nothing else. */
static bool prepare(struct axram *axram, const struct insn *insn, const struct axram_thread *thread,
                    const uint64_t operand[2], struct axram_part *part, struct axram_request *request,
                    struct trap *trap)
{
    const bool results = insn->id == INSN_wrt__res_axram;
    struct axram_named inputs = {.units = 0};
    if (!find_region(axram, insn, thread, operand, results, part, trap))
        return false;
    request->named[0] = (struct axram_span){operand[0], operand[1]};
    if (insn->id == INSN_config_axram)
        return configure(axram, insn, thread, part, request, trap);
    if (!check_size(axram, insn, thread, part, results, trap))
        return false;
    if (results && !take_inputs(axram, insn, thread, part, &inputs, trap))
        return false;
    if (results) {
        request->named[1] = request->named[0];
        request->named[0] = inputs.named;
    }
    inputs.base = results ? inputs.base : part->base;
    return join(insn, thread, part, &inputs, request, trap);
}

static bool within(uint64_t address, uint64_t first, uint32_t blocks)
{
    return address >= first && address - first < (uint64_t)blocks * AXRAM_BLOCK;
}

/* Returns whether an instruction that waits uses the block at an address. */
static bool uses(const struct axram_job *job, uint64_t address)
{
    const struct axram_request *request = &job->request;
    const struct axram_topology *topology = &request->topology;
    const uint32_t blocks = axram_layout_of(topology).shared_blocks;
    for (uint32_t i = 0; i < request->together; i++)
        if (within(address, request->configurations[i], blocks))
            return true;
    return within(address, request->configuration, axram_layout_of(topology).blocks) ||
           (request->invokes && (within(address, request->inputs, topology->size[0]) ||
                                 within(address, request->results, topology->size[topology->layers])));
}

/* Returns the number of instructions that wait; with an address, of those that use its block, at most 1. */
static uint64_t count_waiting(const struct axram *axram, const uint64_t *address)
{
    uint64_t count = 0;
    for (const struct axram_job *job = axram->all; job; job = job->all)
        count += job->waiting && (!address || uses(job, *address));
    return address ? count > 0 : count;
}

static uint64_t answer_query(const struct axram *axram, uint64_t number)
{
    switch (number) {
    case AXRAM_QUERY_CHIPS: return axram->chip_count;
    case AXRAM_QUERY_BASE: return axram->base;
    case AXRAM_QUERY_SIZE: return axram->config.size;
    case AXRAM_QUERY_PIECE: return AXRAM_PIECE;
    case AXRAM_QUERY_TOGETHER: return axram->config.together;
    case AXRAM_QUERY_REQUESTS: return count_waiting(axram, NULL);
    default: return in_space(axram, number, number) ? count_waiting(axram, &number) : 0;
    }
}
/* Carries out the request that prepare() has made of all threads' parts. */
static void carry_out(struct axram *axram, const struct insn *insn, struct axram_request *request,
                      const struct axram_thread *thread, uint64_t time, struct custom_waiter *waiter)
{
    struct network_place *place;
    if (insn->id == INSN_initiate_axram)
        return;
    if (insn->id == INSN_config_axram) {
        place = &axram->networks[axram_chip_of(axram, request->configuration)];
        *place = (struct network_place){true, request->topology, request->configuration};
        request->chip = axram_chip_of(axram, request->configuration) % axram->config.together;
    } else {
        const uint32_t together = axram->config.together,
                       first = axram_chip_of(axram, request->results) / together * together;
        request->together = together > 1 ? together : 0;
        for (uint32_t i = 0; i < request->together; i++)
            request->configurations[i] = axram->networks[first + i].address;
        place = &axram->networks[axram_chip_of(axram, request->results)];
        request->invokes = true;
        request->topology = place->topology;
        request->configuration = place->address;
    }
    axram_enqueue(axram, request, thread, time, waiter);
}

bool axram_instruction(void *context, struct custom_call *call)
{
    struct axram *axram = context;
    const struct axram_thread thread = {.hart = call->hart, .warp = call->warp, .lane = call->lane};
    struct axram_request request = {.invokes = false};
    struct axram_part part;
    if (call->insn->id == INSN_query_axram) {
        call->result = answer_query(axram, call->operand[0]);
        return true;
    }
    if (!prepare(axram, call->insn, &thread, call->operand, &part, &request, &call->trap))
        return false;
    if (call->insn->id == INSN_initiate_axram)
        name_inputs(axram, &thread, call->operand, &part);
    if (call->insn->id == INSN_wrt__res_axram)
        forget_inputs(axram, &thread);
    carry_out(axram, call->insn, &request, &thread, call->time, call->waiter);
    return true;
}

bool axram_instruction_lanes(void *context, struct custom_lanes *lanes)
{
    struct axram *axram = context;
    struct axram_request request = {.invokes = false};
    struct axram_part parts[CUSTOM_LANES];
    struct axram_page last = {.number = UINT64_MAX};
    struct axram_thread thread = {.warp = lanes->warp, .last = &last};
    const enum insn_id id = lanes->insn->id;
    for (uint32_t left = lanes->mask; left; left &= left - 1) {
        const unsigned lane = lanes->lane = thread.lane = (unsigned)__builtin_ctz(left);
        const uint64_t operand[2] = {lanes->operand[0][lane], lanes->operand[1][lane]};
        if (id == INSN_query_axram)
            lanes->result[lane] = answer_query(axram, operand[0]);
        else if (!prepare(axram, lanes->insn, &thread, operand, &parts[lane], &request, &lanes->trap))
            return false;
    }
    if (id == INSN_query_axram)
        return true;
    for (uint32_t left = lanes->mask; left; left &= left - 1) {
        thread.lane = (unsigned)__builtin_ctz(left);
        const uint64_t operand[2] = {lanes->operand[0][thread.lane], lanes->operand[1][thread.lane]};
        if (id == INSN_initiate_axram)
            name_inputs(axram, &thread, operand, &parts[thread.lane]);
        else if (id == INSN_wrt__res_axram)
            forget_inputs(axram, &thread);
    }
    carry_out(axram, lanes->insn, &request, &thread, lanes->time, lanes->waiter);
    return true;
}
