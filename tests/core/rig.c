#include "tests/core/rig.h"

#include <stdio.h>

#include "isa/decode.h"

struct rig_options rig_options_default(void)
{
    struct rig_options options = {.mmio_clocks = 50};
    part_defaults(&cache_kind, 0, &options.l1i);
    options.l1i.mshr_targets = 8;
    options.l1i.coherent = false;
    options.l1d = options.l1i;
    return options;
}

static void answer(void *owner, uint64_t now)
{
    struct rig_flight *flight = owner;
    struct mem_request *request = flight->request;
    flight->request = NULL;
    request->level = request->address < RIG_FAR ? MEM_LEVEL_L2 : MEM_LEVEL_MEMORY;
    request->exclusive = true;
    assert_true(mem_request_respond(request, now));
}

static bool take_request(void *port, struct mem_link *link, struct mem_request *request, uint64_t now)
{
    struct rig *rig = port;
    (void)link;
    for (unsigned i = 0; i < RIG_REQUESTS; i++) {
        struct rig_flight *flight = &rig->flights[i];
        if (flight->request)
            continue;
        flight->request = request;
        if (request->op == MEM_READ && rig->reads < RIG_REQUESTS)
            rig->asked[rig->reads] = request->address;
        rig->reads += request->op == MEM_READ;
        rig->writes += request->op == MEM_WRITE;
        rig->maintained += request->op != MEM_READ && request->op != MEM_WRITE;
        uint64_t clocks = request->address < RIG_FAR ? RIG_NEAR_CLOCKS : RIG_FAR_CLOCKS;
        event_schedule(&rig->queue, &flight->event, now + clocks * RIG_CLOCK);
        return true;
    }
    fail_msg("more than %d requests under way", RIG_REQUESTS);
    return false;
}

static void response_room(void *port, struct mem_link *link, uint64_t now)
{
    (void)port;
    (void)link;
    (void)now;
}

static const struct mem_port_ops port_ops = {take_request, response_room, NULL, NULL, NULL};

static void make_hart(struct rig *rig)
{
    struct error err;
    rig->decoder = decoder_new();
    if (!phys_init(&rig->memory, RIG_BASE, RIG_SIZE, &err) ||
        !hart_init(&rig->hart, &rig->memory, rig->decoder, &err))
        fail_msg("%s", err.text);
    bus_init(&rig->bus, &rig->memory);
    if (rig->options.privileged) {
        const struct bus *bus = rig->options.bus ? rig->options.bus : &rig->bus;
        if (!hart_init_privileged(&rig->hart, bus, 0, 1, &err))
            fail_msg("%s", err.text);
    }
}

struct rig *rig_new(const struct rig_options *options)
{
    struct rig *rig = calloc(1, sizeof *rig);
    assert_non_null(rig);
    rig->options = options ? *options : rig_options_default();
    event_queue_init(&rig->queue);
    rig->clock.period = RIG_CLOCK;
    for (unsigned i = 0; i < RIG_REQUESTS; i++) {
        rig->flights[i].rig = rig;
        event_init(&rig->flights[i].event, 10, answer, &rig->flights[i]);
    }
    make_hart(rig);
    rig->l1i = cache_new("l1i", &rig->options.l1i, &rig->queue, &rig->clock, 2, 0, &port_ops, rig);
    rig->l1d = cache_new("l1d", &rig->options.l1d, &rig->queue, &rig->clock, 3, 0, &port_ops, rig);
    rig->at = RIG_BASE;
    return rig;
}

static enum core_next serve(void *context, struct core *core, enum hart_stop stop, uint64_t now)
{
    struct rig *rig = context;
    assert_ptr_equal(core, rig->core);
    assert_int_equal(now, rig->queue.now);
    if (rig->stop_count < RIG_STOPS) {
        rig->stops[rig->stop_count] = stop;
        rig->stop_times[rig->stop_count] = now;
    }
    rig->stop_count++;
    return rig->served ? rig->served(rig, stop) : CORE_SLEEP;
}

struct core_parts rig_parts(struct rig *rig)
{
    return (struct core_parts){
        .name = "core",
        .hart = &rig->hart,
        .queue = &rig->queue,
        .clock = rig->clock,
        .component = 1,
        .l1i = rig->l1i,
        .l1d = rig->l1d,
        .tlb = rig->tlb,
        .mmio_clocks = rig->options.mmio_clocks,
        .server = {.stopped = serve, .context = rig},
    };
}

void rig_free(struct rig *rig)
{
    core_free(rig->core);
    if (rig->tlb)
        tlb_free(rig->tlb);
    cache_free(rig->l1i);
    cache_free(rig->l1d);
    hart_free(&rig->hart);
    phys_free(&rig->memory);
    decoder_free(rig->decoder);
    free(rig);
}

void rig_emit(struct rig *rig, enum insn_id id, struct operands operands)
{
    uint32_t bits = encode(id, &operands);
    memcpy(phys_at(&rig->memory, rig->at, 4), &bits, 4);
    phys_note_store(&rig->memory, rig->at, 4);
    rig->at += 4;
}

void rig_branch(struct rig *rig, enum insn_id id, uint8_t rs1, uint8_t rs2, uint64_t to)
{
    rig_emit(rig, id, (struct operands){.rs1 = rs1, .rs2 = rs2, .imm = (int32_t)(to - rig->at)});
}

void rig_jump(struct rig *rig, uint8_t rd, uint64_t to)
{
    rig_emit(rig, INSN_jal, (struct operands){.rd = rd, .imm = (int32_t)(to - rig->at)});
}

void rig_random_bit(struct rig *rig, uint8_t rd)
{
    RIG_EMIT(rig, slli, .rd = 6, .rs1 = 5, .imm = 13);
    RIG_EMIT(rig, xor, .rd = 5, .rs1 = 5, .rs2 = 6);
    RIG_EMIT(rig, srli, .rd = 6, .rs1 = 5, .imm = 7);
    RIG_EMIT(rig, xor, .rd = 5, .rs1 = 5, .rs2 = 6);
    RIG_EMIT(rig, slli, .rd = 6, .rs1 = 5, .imm = 17);
    RIG_EMIT(rig, xor, .rd = 5, .rs1 = 5, .rs2 = 6);
    RIG_EMIT(rig, andi, .rd = rd, .rs1 = 5, .imm = 1);
}

void rig_set(struct rig *rig, uint8_t rd, uint64_t value)
{
    RIG_EMIT(rig, addi, .rd = rd, .imm = (int32_t)(value >> 55 & 0x1ff));
    for (int shift = 44; shift >= 0; shift -= 11) {
        RIG_EMIT(rig, slli, .rd = rd, .rs1 = rd, .imm = 11);
        RIG_EMIT(rig, addi, .rd = rd, .rs1 = rd, .imm = (int32_t)(value >> shift & 0x7ff));
    }
}

void rig_store64(struct rig *rig, uint64_t address, uint64_t value)
{
    memcpy(phys_at(&rig->memory, address, 8), &value, 8);
}

void rig_map(struct rig *rig)
{
    const uint64_t tables = RIG_BASE + RIG_SIZE - 0x3000, leaf = 0xcf; /* D A X W R V */
    rig_store64(rig, tables + 8 * 2, (tables + 0x1000) >> 12 << 10 | 1);
    rig_store64(rig, tables + 0x1000, (tables + 0x2000) >> 12 << 10 | 1);
    for (uint64_t page = 0; page < RIG_SIZE / 4096; page++)
        rig_store64(rig, tables + 0x2000 + 8 * page, (RIG_BASE / 4096 + page) << 10 | leaf);
    rig->hart.priv.pmpcfg[0] = PMP_R | PMP_W | PMP_X | PMP_NAPOT;
    rig->hart.priv.pmpaddr[0] = UINT64_MAX >> 10;
    rig->hart.privilege = PRIV_S;
    rig->hart.priv.satp = (uint64_t)SATP_SV39 << SATP_MODE_SHIFT | UINT64_C(1) << 44 | tables >> 12;
}

void rig_warm(struct rig *rig, uint64_t address, uint64_t size, bool dirty)
{
    for (uint64_t at = address & ~UINT64_C(63); at < address + size; at += 64)
        cache_warm(rig->l1d, at, dirty);
}

uint64_t rig_run(struct rig *rig)
{
    struct core *core = rig->core;
    uint64_t sum = 0, before = core->cycles;
    rig->hart.pc = RIG_BASE;
    if (!rig->options.cold)
        for (uint64_t at = RIG_BASE; at < rig->at; at += 64)
            cache_warm(rig->l1i, at, false);
    core_wake(core, rig->queue.now);
    while (!core->asleep || event_queue_next(&rig->queue) != CLOCK_NEVER)
        if (!event_queue_step(&rig->queue))
            fail_msg("the core waits for ever at pc %#llx", (unsigned long long)rig->hart.pc);
    for (unsigned i = 0; i < CPI_CAUSES; i++)
        sum += core->cpi[i];
    assert_int_equal(sum, core->cycles);
    assert_int_equal(core->cycles * RIG_CLOCK + core->idle_time, core->idle_since);
    return core->cycles - before;
}

static void retired(void *context, const struct core *core, const struct core_note *note)
{
    struct rig *rig = context;
    (void)core;
    assert_int_equal(note->number, rig->notes);
    assert_true(note->fetch <= note->dispatch && note->dispatch <= note->issue);
    assert_true(note->issue < note->complete && note->complete <= note->retire);
    rig->notes++;
}

static void stalled(void *context, const struct core *core, unsigned cause, uint64_t from, uint64_t to)
{
    struct rig *rig = context;
    assert_ptr_equal(core, rig->core);
    assert_true(cause < CPI_CAUSES && from < to);
    rig->stalled[cause] += clock_cycle(&core->parts.clock, to) - clock_cycle(&core->parts.clock, from);
}

void rig_observe(struct rig *rig)
{
    rig->observer = (struct core_observer){.retired = retired, .stalled = stalled, .context = rig};
    core_observe(rig->core, &rig->observer);
}

static uint64_t run_loop(const struct rig_loop *loop, uint64_t iterations, uint64_t causes[CPI_CAUSES])
{
    struct rig *rig = rig_new(loop->options);
    rig->core = loop->make(rig, loop->context);
    rig_set(rig, 31, iterations);
    if (loop->setup)
        loop->setup(rig);
    while (rig->at % 64 != 0)
        RIG_EMIT(rig, addi, 0);
    uint64_t top = rig->at;
    loop->body(rig);
    RIG_EMIT(rig, addi, .rd = 31, .rs1 = 31, .imm = -1);
    rig_branch(rig, INSN_bne, 31, 0, top);
    RIG_EMIT(rig, ecall, 0);
    uint64_t cycles = rig_run(rig);
    assert_int_equal(rig->stop_count, 1);
    memcpy(causes, rig->core->cpi, CPI_CAUSES * sizeof *causes);
    rig_free(rig);
    return cycles;
}

uint64_t rig_loop(const struct rig_loop *loop, uint64_t causes[CPI_CAUSES])
{
    uint64_t first[CPI_CAUSES], second[CPI_CAUSES];
    uint64_t once = run_loop(loop, loop->iterations, first);
    uint64_t twice = run_loop(loop, 2 * loop->iterations, second);
    for (unsigned i = 0; causes && i < CPI_CAUSES; i++)
        causes[i] = second[i] - first[i];
    return twice - once;
}

void rig_check(uint64_t cycles, uint64_t iterations, uint64_t hundredths, uint64_t slack, const char *what)
{
    uint64_t least = hundredths > slack ? hundredths - slack : 0;
    if (100 * cycles < iterations * least || 100 * cycles > iterations * (hundredths + slack))
        fail_msg("%s: %llu cycles for %llu iterations instead of %llu.%02llu each", what,
                 (unsigned long long)cycles, (unsigned long long)iterations,
                 (unsigned long long)hundredths / 100, (unsigned long long)hundredths % 100);
}
