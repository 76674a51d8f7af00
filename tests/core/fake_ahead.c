#include "tests/core/fake_ahead.h"

#include "emu/hart/probe.h"
#include "emu/hart/stream/op.h"

static struct fake_entry *at(struct fake *fake, uint64_t number)
{
    return &fake->entries[number % FAKE_ENTRIES];
}

static const struct fake_entry *seen(const struct fake *fake, uint64_t number)
{
    return &fake->entries[number % FAKE_ENTRIES];
}

static bool overlap(uint64_t a, uint64_t a_size, uint64_t b, uint64_t b_size)
{
    return a < b + b_size && b < a + a_size;
}

static bool takes(void *context)
{
    struct fake *fake = context;
    struct insn insn;
    fake->takes++;
    if (fake->refuses)
        return false;
    return step_fetch(&fake->rig->hart, fake->rig->hart.pc, &insn) && insn.id == INSN_nucd;
}

/* Returns the youngest older task or store that is not evaluated and has bytes of the load. */
static uint64_t holder(const struct fake *fake, uint64_t number)
{
    const struct fake_entry *load = seen(fake, number);
    for (uint64_t i = number; i-- > fake->head;) {
        const struct fake_entry *e = seen(fake, i);
        const struct fake_task *task = &fake->task[e->task];
        if (e->evaluated)
            continue;
        if (e->is_task
                ? overlap(load->address, load->op.size, task->out, task->bytes)
                : e->op.flags & STREAM_STORE && overlap(load->address, load->op.size, e->address, e->op.size))
            return i;
    }
    return 0;
}

static bool is_open(const struct fake *fake, uint64_t producer)
{
    return producer >= fake->head && !seen(fake, producer)->evaluated;
}

static void evaluate(struct fake *fake, uint64_t number)
{
    struct fake_entry *e = at(fake, number);
    e->held_for = 0;
    e->address_known |= e->op.flags & (STREAM_LOAD | STREAM_STORE) && !is_open(fake, e->producer[0]);
    for (unsigned i = 0; i < 3; i++)
        if (is_open(fake, e->producer[i]))
            return;
    if (e->op.flags & STREAM_LOAD)
        e->held_for = holder(fake, number);
    e->evaluated = !e->held_for;
}

static struct offload_step wait_for(uint64_t number)
{
    return (struct offload_step){.stop = OFFLOAD_WAIT, .number = number};
}

static void begin_task(struct fake *fake, struct fake_entry *e)
{
    struct fake_task *task = &fake->task[fake->tasks], *first = &fake->task[0];
    assert_true(fake->tasks < FAKE_TASKS);
    task->fake = fake;
    task->number = fake->tail;
    task->clocks = task->clocks ? task->clocks : first->clocks;
    task->way = task->way ? task->way : first->way;
    task->way = task->way < task->clocks ? task->way : task->clocks;
    e->is_task = true;
    e->launched = false;
    e->task = fake->tasks++;
    e->op.rd = fake->result ? (uint8_t)fake->result : STREAM_NONE;
    e->next_pc += fake->empty ? 0 : FAKE_REGION;
}

static void complete(void *owner, uint64_t now);

static void describe(struct fake *fake, struct fake_entry *e, uint64_t pc, const struct insn *insn)
{
    *e = (struct fake_entry){.insn = *insn, .next_pc = pc + insn->length};
    stream_op_describe(&e->op, pc, &e->insn);
    const unsigned regs[3] = {e->op.rs1, e->op.rs2, e->op.rs3};
    for (unsigned i = 0; i < 3; i++)
        e->producer[i] = regs[i] == STREAM_NONE ? 0 : fake->writer[regs[i]];
    if (e->op.size)
        e->address = fake->rig->hart.x[e->op.rs1] + (uint64_t)(int64_t)e->op.imm;
}

/* Returns the instruction for which a load, a branch or a nucd cannot be dispatched; 0: none. */
static uint64_t obstacle(const struct fake *fake, const struct fake_entry *e)
{
    for (uint64_t i = fake->head; e->op.flags & STREAM_LOAD && i < fake->tail; i++)
        if (seen(fake, i)->op.flags & STREAM_STORE && !seen(fake, i)->address_known)
            return i;
    for (unsigned i = 0; i < 3; i++)
        if ((e->op.flags & STREAM_BRANCH || e->insn.id == INSN_nucd) && is_open(fake, e->producer[i]))
            return e->producer[i];
    return 0;
}

static struct offload_step step(void *context)
{
    struct fake *fake = context;
    struct fake_entry *e = at(fake, fake->tail);
    struct hart *hart = &fake->rig->hart;
    uint64_t pc = fake->head == fake->tail ? hart->pc : at(fake, fake->tail - 1)->next_pc;
    struct insn insn;
    if (fake->halt)
        return wait_for(0);
    if (fake->checkpoints && fake->tail - fake->head == FAKE_KEPT)
        return wait_for(fake->head);
    assert_true(step_fetch(hart, pc, &insn));
    describe(fake, e, pc, &insn);
    bool task = insn.id == INSN_nucd;
    if ((e->op.flags & STREAM_SERIAL && !task) || hart_has_breakpoint(hart, pc))
        return (struct offload_step){.stop = OFFLOAD_LEAVE};
    uint64_t number = obstacle(fake, e);
    if (number)
        return wait_for(number);
    if (task)
        begin_task(fake, e);
    else
        evaluate(fake, fake->tail);
    if (e->op.rd != STREAM_NONE)
        fake->writer[e->op.rd] = fake->tail;
    struct fake_task *run = &fake->task[e->task];
    if (task && run->ran) {
        event_init(&run->complete, 30, complete, run);
        event_schedule(&fake->rig->queue, &run->complete, fake->rig->queue.now + run->clocks * RIG_CLOCK);
    }
    return (struct offload_step){
        .stop = task ? OFFLOAD_TASK : OFFLOAD_DISPATCHED,
        .number = fake->tail++,
        .entry = {&e->op, e->address_known ? e->address : 0, e->address_known ? e->address : 0},
        .next_pc = e->next_pc,
        .stalls = task && fake->stalls && run->way && !run->ran,
    };
}

static void look(const void *context, uint64_t number, struct offload_view *view)
{
    const struct fake *fake = context;
    const struct fake_entry *e = seen(fake, number);
    assert_true(number >= fake->head && number < fake->tail);
    *view = (struct offload_view){e->evaluated, e->address_known, e->address, e->address, e->held_for};
}

static bool is_current(const struct fake_task *task)
{
    const struct fake *fake = task->fake;
    const struct fake_entry *e = seen(fake, task->number);
    return task->number >= fake->head && task->number < fake->tail && e->is_task &&
           &fake->task[e->task] == task;
}

static void complete(void *owner, uint64_t now)
{
    struct fake_task *task = owner;
    struct fake *fake = task->fake;
    if (!is_current(task)) /* squashed */
        return;
    task->completed = now;
    at(fake, task->number)->evaluated = true;
    for (uint64_t i = task->number + 1; i < fake->tail; i++)
        if (!at(fake, i)->evaluated && !at(fake, i)->is_task)
            evaluate(fake, i);
    core_offload_complete(fake->rig->core, task->number, now);
}

static void arrive(void *owner, uint64_t now)
{
    struct fake_task *task = owner;
    if (is_current(task))
        core_offload_arrived(task->fake->rig->core, task->number, now);
}

/* Returns whether the entry can neither trap nor be squashed before the tasks that it waits for are complete. */
static bool is_settled(const struct fake_entry *e)
{
    if (e->is_task)
        return e->launched || e->evaluated;
    return e->evaluated || e->address_known || !e->op.size;
}

static void task_ready(void *context, uint64_t number, uint64_t decoded, uint64_t freed, uint64_t ready)
{
    struct fake *fake = context;
    struct fake_task *task = &fake->task[at(fake, number)->task];
    struct event_queue *queue = &fake->rig->queue;
    assert_true(number >= fake->head && number < fake->tail && at(fake, number)->is_task);
    assert_true(!at(fake, number)->launched && !at(fake, number)->evaluated);
    assert_true(ready >= queue->now && ready > decoded && decoded <= freed && freed <= ready);
    for (uint64_t i = fake->head; i < number; i++)
        assert_true(is_settled(at(fake, i)));
    at(fake, number)->launched = true;
    if (task->ran)
        return;
    task->decoded = decoded;
    task->freed = freed;
    task->ready = ready;
    event_init(&task->arrive, 30, arrive, task);
    event_init(&task->complete, 30, complete, task);
    if (task->way)
        event_schedule(queue, &task->arrive, ready + task->way * RIG_CLOCK);
    event_schedule(queue, &task->complete, ready + task->clocks * RIG_CLOCK);
}

static bool pass(void *context, uint64_t number, uint32_t *clocks)
{
    struct fake *fake = context;
    struct fake_entry *e = at(fake, number);
    assert_true(number >= fake->head && number < fake->tail && e->is_task && !e->checkpoint);
    assert_true(!e->evaluated && (e->launched || fake->task[e->task].ran));
    if (fake->used == fake->checkpoints)
        return false;
    e->checkpoint = true;
    fake->used++;
    fake->used_most = fake->used > fake->used_most ? fake->used : fake->used_most;
    fake->passed++;
    *clocks = fake->checkpoint_clocks;
    return true;
}

static void retired(void *context, uint64_t number, uint64_t when)
{
    struct fake *fake = context;
    (void)when;
    assert_true(number >= fake->head && number < fake->tail);
    for (; fake->head <= number; fake->head++) {
        const struct fake_entry *e = at(fake, fake->head);
        assert_true(e->evaluated);
        fake->used -= e->checkpoint;
        fake->rig->hart.pc = e->next_pc;
        fake->rig->hart.instret++;
    }
}

static void forget(struct fake *fake, uint64_t number)
{
    assert_true(number >= fake->head && number <= fake->tail);
    for (uint64_t i = number; i < fake->tail; i++)
        fake->used -= at(fake, i)->checkpoint;
    fake->tail = number;
    memset(fake->writer, 0, sizeof fake->writer);
    for (uint64_t i = fake->head; i < fake->tail; i++)
        if (at(fake, i)->op.rd != STREAM_NONE)
            fake->writer[at(fake, i)->op.rd] = i;
}

static uint64_t interrupt(void *context)
{
    struct fake *fake = context;
    fake->interrupts++;
    for (uint64_t i = fake->head; i < fake->tail; i++) {
        if (!at(fake, i)->is_task || at(fake, i)->evaluated)
            continue;
        forget(fake, i);
        break;
    }
    return fake->tail;
}

static enum hart_stop left(void *context, uint64_t now)
{
    struct fake *fake = context;
    assert_true(fake->head == fake->tail && now == fake->rig->queue.now);
    fake->lefts++;
    fake->refuses |= fake->once;
    fake->left_at = now;
    fake->left_retired = fake->head - 1;
    return fake->left_stop;
}

struct fake *fake_new(struct rig *rig)
{
    struct fake *fake = calloc(1, sizeof *fake);
    assert_non_null(fake);
    fake->rig = rig;
    fake->head = fake->tail = 1;
    fake->left_stop = HART_STOP_LIMIT;
    return fake;
}

struct core_offload fake_ahead(struct fake *fake)
{
    static const struct offload_ops ops = {.takes = takes,
                                           .step = step,
                                           .look = look,
                                           .task_ready = task_ready,
                                           .pass = pass,
                                           .retired = retired,
                                           .interrupt = interrupt,
                                           .left = left};
    return (struct core_offload){.ops = &ops, .context = fake, .kept = fake->checkpoints ? FAKE_KEPT : 0};
}

void fake_emit(struct rig *rig)
{
    RIG_EMIT(rig, nucd, .rs1 = 28, .rs2 = 30);
    RIG_EMIT(rig, addi, .rd = 29, .rs1 = 29, .imm = 1);
    RIG_EMIT(rig, addi, .rd = 29, .rs1 = 29, .imm = 1);
}

void fake_squash(struct fake *fake, uint64_t number, uint64_t now)
{
    forget(fake, number);
    core_offload_squash(fake->rig->core, number, now);
}
