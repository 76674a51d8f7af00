/* Regions: code that runs on accelerators. */
#include "tests/nucd/hazard/task.h"

static const char *const loads[] = {"lb", "lbu", "lh", "lhu", "lw", "lwu", "ld"};
static const unsigned load_sizes[] = {1, 1, 2, 2, 4, 4, 8};
static const char *const stores[] = {"sb", "sh", "sw", "sd"};

enum { SCRATCH = 0xf00004e0u }; /* t0-t2, a0, t3-t6 */

/* The region being written. */
struct region {
    struct hazard *h;
    struct hazard_task *task;
    uint32_t defined; /* set of registers that have the same values as in an inline run */
};

static const char *write_to(struct region *r)
{
    unsigned reg;
    do
        reg = hazard_random(r->h, 32);
    while (!((uint32_t)SCRATCH >> reg & 1));
    r->defined |= 1u << reg;
    return hazard_reg(reg);
}

static const char *read_from(struct region *r)
{
    unsigned reg;
    do
        reg = hazard_random(r->h, 32);
    while (!(r->defined >> reg & 1));
    return hazard_reg(reg);
}

/* Returns a range to load from or to store to; NULL if there is none. */
static const struct hazard_range *range_of(struct region *r, bool out)
{
    const struct hazard_task *t = r->task;
    for (unsigned tries = 0; tries < 8 && t->range_count; tries++) {
        const struct hazard_range *range = &t->ranges[hazard_random(r->h, t->range_count)];
        if (out ? range->out : range->in)
            return range;
    }
    return NULL;
}

static int offset_in(struct region *r, const struct hazard_range *range, unsigned size)
{
    unsigned align = hazard_once(r->h, 8) ? 1 : size;
    return (int)(hazard_random(r->h, range->bytes - size + 1) / align * align);
}

static void alu(struct region *r)
{
    static const char *const ops[] = {"add", "sub", "xor",  "and",  "or",  "sll",
                                      "sra", "mul", "divu", "addw", "sltu"};
    const char *a = read_from(r), *b = read_from(r);
    hazard_code(r->h, "%s %s, %s, %s", ops[hazard_random(r->h, 11)], write_to(r), a, b);
}

static void load(struct region *r)
{
    const struct hazard_range *range = range_of(r, false);
    unsigned kind = hazard_random(r->h, 7);
    if (range)
        hazard_code(r->h, "%s %s, %d(%s)", loads[kind], write_to(r), offset_in(r, range, load_sizes[kind]),
                    hazard_reg(range->reg));
}

static void store(struct region *r)
{
    const struct hazard_range *range = range_of(r, true);
    unsigned kind = hazard_random(r->h, 4);
    if (range)
        hazard_code(r->h, "%s %s, %d(%s)", stores[kind], read_from(r), offset_in(r, range, 1u << kind),
                    hazard_reg(range->reg));
}

/* Values that raise exceptions in the host's fflags. The rounding mode is the host's. */
static void floating(struct region *r)
{
    static const char *const ops[] = {"fadd.d", "fsub.d", "fmul.d", "fdiv.d", "fadd.s", "fdiv.s"};
    const struct hazard_range *in = range_of(r, false), *out = range_of(r, true);
    const char *a = read_from(r), *b = read_from(r);
    if (in && hazard_once(r->h, 2))
        hazard_code(r->h, "fld ft0, %d(%s)", offset_in(r, in, 8), hazard_reg(in->reg));
    else
        hazard_code(r->h, "fcvt.d.l ft0, %s", a);
    hazard_code(r->h, "fmv.d.x ft1, %s", b);
    hazard_code(r->h, "%s ft2, ft0, ft1", ops[hazard_random(r->h, 6)]);
    if (hazard_once(r->h, 4))
        hazard_code(r->h, "fsqrt.d ft2, ft2");
    if (out && hazard_once(r->h, 2))
        hazard_code(r->h, "fsd ft2, %d(%s)", offset_in(r, out, 8), hazard_reg(out->reg));
    else
        hazard_code(r->h, "fmv.x.d %s, ft2", write_to(r));
}

/* Sums a range, or copies one range into another. */
static void loop(struct region *r)
{
    const struct hazard_range *in = range_of(r, false), *out = range_of(r, true);
    if (!in)
        return;
    unsigned words = in->bytes / 8;
    if (out && out->bytes / 8 < words)
        words = out->bytes / 8;
    unsigned label = r->h->label++;
    hazard_code(r->h, "mv t0, %s", hazard_reg(in->reg));
    if (out)
        hazard_code(r->h, "mv t1, %s", hazard_reg(out->reg));
    hazard_code(r->h, "li t2, %u", words);
    hazard_code(r->h, "li t4, 0");
    hazard_line(r->h, "1%u:", label);
    hazard_code(r->h, "ld t3, 0(t0)");
    hazard_code(r->h, "add t4, t4, t3");
    if (out)
        hazard_code(r->h, "sd t4, 0(t1)");
    hazard_code(r->h, "addi t0, t0, 8");
    if (out)
        hazard_code(r->h, "addi t1, t1, 8");
    hazard_code(r->h, "addi t2, t2, -1");
    hazard_code(r->h, "bnez t2, 1%ub", label);
    r->defined |= 1u << 5 | 1u << 7 | 1u << 28 | 1u << 29;
    if (out)
        r->defined |= 1u << 6;
}

/* Takes time, so that the host gets further ahead. */
static void wait(struct region *r)
{
    unsigned label = r->h->label++;
    hazard_code(r->h, "li t6, %u", 1 + hazard_random(r->h, 60));
    hazard_line(r->h, "1%u:", label);
    hazard_code(r->h, "addi t6, t6, -1");
    hazard_code(r->h, "bnez t6, 1%ub", label);
    r->defined |= 1u << 31;
}

static void amo(struct region *r)
{
    static const char *const ops[] = {"amoadd", "amoxor", "amomax"};
    const struct hazard_task *t = r->task;
    for (unsigned i = 0; i < t->range_count; i++) {
        const struct hazard_range *range = &t->ranges[i];
        if (!range->in || !range->out || !range->aligned)
            continue;
        const char *value = read_from(r);
        hazard_code(r->h, "%s.d %s, %s, (%s)", ops[hazard_random(r->h, 3)], write_to(r), value,
                    hazard_reg(range->reg));
        return;
    }
}

static void call(struct region *r)
{
    static const char *const names[] = {"sum", "count", "recurse"};
    const struct hazard_range *in = range_of(r, false);
    unsigned kind = in ? hazard_random(r->h, 3) : 1;
    /* hazard_recurse writes its argument. */
    if (kind == 2 && !in->out)
        kind = 0;
    if (in)
        hazard_code(r->h, "mv a0, %s", hazard_reg(in->reg));
    else
        hazard_code(r->h, "li a0, 5");
    hazard_code(r->h, "li a1, %u", 1 + hazard_random(r->h, in && in->bytes < 64 ? in->bytes / 8 : 7));
    hazard_line(r->h, "\tcall hazard_%s", names[kind]);
    r->h->bytes += 8;
    r->defined = (r->defined & ~(uint32_t)SCRATCH) | 1u << 10;
}

/* A nucd in a region is a no-op, whatever its operands. If the host may run the region, the nucd is
 * malformed. */
static void nested(struct region *r)
{
    hazard_code(r->h, "lui t5, 0x4e554");
    hazard_code(r->h, "addi t5, t5, 0x344");
    hazard_code(r->h, "slli t5, t5, 32");
    hazard_code(r->h, "addi t5, t5, %u", r->task->capabilities ? 0 : hazard_random(r->h, 9));
    hazard_code(r->h, "li t3, 0");
    hazard_code(r->h, "li t4, 0");
    hazard_code(r->h, ".insn r 0x33, 2, 0, x0, t5, t3");
    r->defined |= 1u << 28 | 1u << 29 | 1u << 30;
}

static void compressed(struct region *r)
{
    const char *from = read_from(r);
    hazard_short(r->h, "c.mv a0, %s", from);
    r->defined |= 1u << 10;
    hazard_short(r->h, "c.addi a0, %u", 1 + hazard_random(r->h, 31));
}

static void skip(struct region *r)
{
    unsigned label = r->h->label++;
    uint32_t before = r->defined;
    const char *a = read_from(r);
    hazard_code(r->h, "%s %s, %s, 1%uf", hazard_once(r->h, 2) ? "bltu" : "beq", a, read_from(r), label);
    for (unsigned n = 1 + hazard_random(r->h, 3); n > 0; n--) {
        if (hazard_once(r->h, 3))
            store(r);
        else
            alu(r);
    }
    hazard_line(r->h, "1%u:", label);
    r->defined &= before;
}

static void fence(struct region *r)
{
    hazard_code(r->h, "fence rw, rw");
}

/* Ends the program; under QEMU by a signal. */
static void fault(struct region *r)
{
    const char *from = read_from(r);
    switch (hazard_random(r->h, 6)) {
    case 0: hazard_code(r->h, "ld t0, 8(zero)"); break;
    case 1: hazard_code(r->h, "sw %s, 16(zero)", from); break;
    case 2: hazard_code(r->h, "unimp"); break;
    case 3: hazard_code(r->h, "ebreak"); break;
    case 4: hazard_code(r->h, "jr 32(zero)"); break;
    default:
        hazard_code(r->h, "li t0, -1");
        hazard_code(r->h, "slli t0, t0, 60");
        hazard_code(r->h, "lb t0, 0(t0)");
    }
}

static void result(struct region *r)
{
    const char *a = read_from(r), *b = read_from(r);
    hazard_code(r->h, "%s %s, %s, %s", hazard_once(r->h, 2) ? "add" : "xor", hazard_reg(r->task->result), a,
                b);
}

void hazard_region(struct hazard *h, struct hazard_task *task)
{
    static void (*const kinds[])(struct region *) = {alu,   alu,    load,       load, load,  store,
                                                     store, store,  floating,   loop, wait,  amo,
                                                     call,  nested, compressed, skip, fence, alu};
    struct region r = {.h = h, .task = task, .defined = task->used};
    if (task->result && (task->value_count == 0 || task->result != task->values[0]))
        r.defined &= ~(1u << task->result);
    h->bytes = 0;
    hazard_code(h, "li t0, %d", (int)hazard_random(h, 4096) - 2048);
    r.defined |= 1u << 5;
    unsigned steps = hazard_random(h, 10), faulty = hazard_random(h, steps + 1);
    for (unsigned step = 0; step <= steps; step++) {
        if (h->faults && step == faulty)
            fault(&r);
        if (step < steps)
            kinds[hazard_random(h, sizeof kinds / sizeof kinds[0])](&r);
    }
    /* A value that the region overwrites is dead after it. */
    if (task->value_count > 1 && hazard_once(h, 3)) {
        hazard_code(h, "li %s, -1", hazard_reg(task->values[1]));
        task->clobbered = 1u << task->values[1];
    }
    if (task->result)
        result(&r);
}
