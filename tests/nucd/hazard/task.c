/* Tasks: nucds with the set-up of their operands, and loops and branches around them. */
#include "tests/nucd/hazard/task.h"

static uint64_t segment(unsigned reg, unsigned granules, unsigned size)
{
    return reg | (uint64_t)granules << 5 | (uint64_t)size << 14;
}

/* Loads a value from memory or computes it, so that nucds are close together or far apart in the reorder
 * buffer. */
void hazard_load_operands(struct hazard *h, const struct hazard_operands *o)
{
    const char *xd = hazard_reg(o->xd_reg), *xt = hazard_reg(o->xd_reg + 1), *xn = hazard_reg(o->xn_reg);
    if (hazard_once(h, 6)) {
        hazard_line(h, "\tli %s, 0x%llx\n\tli %s, 0x%llx\n\tli %s, 0x%llx", xd, (unsigned long long)o->xd, xt,
                    (unsigned long long)o->xt, xn, (unsigned long long)o->xn);
        return;
    }
    const unsigned literal = h->literal++;
    hazard_line(h, "\t.section .rodata\n\t.balign 8");
    hazard_line(h, "literal_%u_%u:\n\t.dword 0x%llx, 0x%llx, 0x%llx\n\t.text", h->body, literal,
                (unsigned long long)o->xd, (unsigned long long)o->xt, (unsigned long long)o->xn);
    hazard_line(h, "\tlla t0, literal_%u_%u", h->body, literal);
    hazard_line(h, "\tld %s, 0(t0)\n\tld %s, 8(t0)\n\tld %s, 16(t0)", xd, xt, xn);
}

/* Returns a register that no segment of the task uses yet. */
static unsigned fresh(struct hazard *h, struct hazard_task *t)
{
    unsigned reg;
    do
        reg = hazard_host_reg(h);
    while (t->used >> reg & 1);
    t->used |= 1u << reg;
    return reg;
}

/* Returns the size of a range in bytes: a few lines, sometimes pages. */
static void choose_range(struct hazard *h, struct hazard_range *r)
{
    r->size = hazard_once(h, 12) ? 1 : 0;
    r->granules = r->size ? 1 : 1 + hazard_random(h, hazard_once(h, 4) ? 6 : 2);
    r->bytes = r->size ? HAZARD_BEHIND : 64 * r->granules;
    unsigned room = r->bytes < h->spread ? r->bytes : h->spread;
    r->offset = hazard_offset(h, room, hazard_once(h, 3) ? 64 : hazard_once(h, 8) ? 1 : 8);
    r->computed = hazard_once(h, 6);
}

static void choose_segments(struct hazard *h, struct hazard_task *t)
{
    unsigned in = hazard_random(h, 4), both = hazard_random(h, 2), out = hazard_random(h, 3), value = 0;
    if (in + both + out == 0 && hazard_once(h, 2))
        out = 1;
    for (unsigned i = 0; i < in + both + out; i++) {
        struct hazard_range *r = &t->ranges[t->range_count++];
        *r = (struct hazard_range){.reg = fresh(h, t), .in = i < in + both, .out = i >= in};
        choose_range(h, r);
        value += r->in;
    }
    for (value = value < 4 ? hazard_random(h, 5 - value) : 0; value > 0; value--)
        t->values[t->value_count++] = fresh(h, t);
    /* The result may be in the register of an input value. */
    if (hazard_random(h, 3) > 0)
        t->result = t->value_count && hazard_once(h, 2) ? t->values[0] : fresh(h, t);
}

static void set_up(struct hazard *h, struct hazard_task *t, unsigned step)
{
    for (unsigned i = 0; i < t->range_count; i++) {
        struct hazard_range *r = &t->ranges[i];
        const char *reg = hazard_reg(r->reg);
        r->aligned = r->offset % 8 == 0;
        if (step && r->out && r->offset + (int)(7 * step + r->bytes) < 2048 + HAZARD_BEHIND) {
            hazard_code(h, "li t1, %u", step);
            hazard_code(h, "mul t0, s11, t1");
            hazard_code(h, "add t0, s0, t0");
            hazard_code(h, "addi %s, t0, %d", reg, r->offset);
        } else if (r->computed && r->bytes <= HAZARD_BEHIND) {
            r->aligned = true;
            hazard_code(h, "andi t0, %s, %u", hazard_reg(hazard_host_reg(h)), (h->spread / 2 - 1) & ~7u);
            hazard_code(h, "add %s, s0, t0", reg);
        } else
            hazard_code(h, "addi %s, s0, %d", reg, r->offset);
    }
}

static struct hazard_operands operands(const struct hazard_task *t, unsigned bytes)
{
    struct hazard_operands o = {.xn = HAZARD_SIGNATURE | bytes / 2, .xn_reg = t->xn_reg, .xd_reg = t->xd_reg};
    unsigned in = 0, out = 0;
    for (unsigned i = 0; i < t->range_count; i++) {
        const struct hazard_range *r = &t->ranges[i];
        if (r->in) {
            o.xd |= segment(r->reg, r->granules, r->size) << (16 * in);
            o.xn |= UINT64_C(1) << (24 + in++);
        }
        if (r->out) {
            o.xt |= segment(r->reg, r->granules, r->size) << (16 * out);
            o.xn |= UINT64_C(1) << (28 + out++);
        }
    }
    for (unsigned i = 0; i < t->value_count; i++)
        o.xd |= (uint64_t)t->values[i] << (16 * in++);
    if (t->result)
        o.xt |= (uint64_t)t->result << (16 * out);
    o.xn |= (uint64_t)t->capabilities << 16;
    return o;
}

/* Writes a task and returns it. Writes the region twice with the same random numbers, the first time to determine its
 * length. */
static struct hazard_task write_task(struct hazard *h, unsigned step)
{
    static const struct {
        unsigned xd, xn;
    } places[] = {{28, 30}, {28, 30}, {30, 29}, {6, 28}, {30, 7}};
    struct hazard_task t = {0};
    unsigned place = hazard_random(h, sizeof places / sizeof places[0]);
    t.xd_reg = places[place].xd;
    t.xn_reg = places[place].xn;
    t.capabilities = hazard_once(h, 4) ? 1u << hazard_random(h, 8) : 0;
    choose_segments(h, &t);
    set_up(h, &t, step);

    struct hazard trial = *h;
    struct hazard_task again = t;
    trial.out = fopen("/dev/null", "w");
    hazard_region(&trial, &again);
    (void)fclose(trial.out);
    struct hazard_operands o = operands(&t, trial.bytes);
    const uint64_t random = h->random;
    hazard_load_operands(h, &o);
    h->random = random;
    hazard_line(h, "\t.insn r 0x33, 2, 0, x0, %s, %s", hazard_reg(t.xn_reg), hazard_reg(t.xd_reg));
    hazard_region(h, &t);
    for (unsigned reg = 0; reg < 32; reg++)
        if (t.clobbered >> reg & 1)
            hazard_code(h, "li %s, %d", hazard_reg(reg), (int)hazard_random(h, 4096) - 2048);
    return t;
}

void hazard_task(struct hazard *h, unsigned step)
{
    (void)write_task(h, step);
}

/* The host runs the region, so the instructions after it are an ordinary piece. */
void hazard_malformed(struct hazard *h)
{
    struct hazard_operands o = {.xn = HAZARD_SIGNATURE | 4, .xn_reg = 30, .xd_reg = 28};
    switch (hazard_random(h, 7)) {
    case 0: o.xn = UINT64_C(0x4e554345) << 32 | 4; break;              /* another signature */
    case 1: o.xn = HAZARD_SIGNATURE; break;                            /* no length */
    case 2: o.xd = segment(2, 1, 0); break;                            /* the stack pointer */
    case 3: o.xt = segment(18, 0, 0) | segment(19, 0, 0) << 16; break; /* two results */
    case 4: /* no memory there, and none can be mapped */
        o.xn |= UINT64_C(1) << 28;
        o.xt = segment(5, 1, 0);
        break;
    case 5: /* the range wraps */
        o.xn |= UINT64_C(1) << 24;
        o.xd = segment(5, 1, 0);
        break;
    default:
        o.xd_reg = 29; /* odd pair */
        o.xn_reg = 28;
    }
    hazard_load_operands(h, &o);
    hazard_code(h, "li t0, %d", o.xd == segment(5, 1, 0) ? -16 : 1);
    if (o.xt == segment(5, 1, 0))
        hazard_code(h, "slli t0, t0, 45");
    hazard_code(h, ".insn r 0x33, 2, 0, x0, %s, %s", hazard_reg(o.xn_reg), hazard_reg(o.xd_reg));
    hazard_code(h, "addi s2, s2, 1");
    hazard_code(h, "sd s2, %d(s0)", hazard_offset(h, 8, 8));
}

static void loop(struct hazard *h)
{
    unsigned label = 90 + h->label++ % 10, step = hazard_once(h, 3) ? 0 : 64u << hazard_random(h, 2);
    hazard_code(h, "li s11, %u", 2 + hazard_random(h, 5));
    hazard_line(h, "1%u:", label);
    hazard_task(h, step);
    if (hazard_once(h, 2))
        hazard_host_piece(h);
    hazard_code(h, "addi s11, s11, -1");
    /* The range of a branch is 4 KiB. */
    hazard_code(h, "bnez s11, 1%ub", label);
}

/* Several tasks in a row, which may all be in flight. */
static void row(struct hazard *h)
{
    for (unsigned n = 2 + hazard_random(h, 3); n > 0; n--)
        hazard_task(h, 0);
}

/* Reads from an output range of the task, which may still run. */
static void read_early(struct hazard *h, const struct hazard_task *t, unsigned sum)
{
    for (unsigned i = 0; i < t->range_count; i++) {
        const struct hazard_range *r = &t->ranges[i];
        if (!r->out || r->reg == sum || hazard_once(h, 3))
            continue;
        hazard_code(h, "ld t1, %u(%s)", hazard_random(h, r->bytes / 8) * 8, hazard_reg(r->reg));
        hazard_code(h, "add %s, %s, t1", hazard_reg(sum), hazard_reg(sum));
    }
}

/* Uses the value of a register that a task returns: in arithmetic, in stores of known and unknown address, in a
 * load from a computed address, and in a branch. */
static void use_value(struct hazard *h, const char *value, const char *sum)
{
    unsigned label = h->label++;
    int offset = hazard_offset(h, 8, 8);
    switch (hazard_random(h, 8)) {
    case 0:
        hazard_code(h, "sd %s, %d(s0)", value, offset);
        if (hazard_once(h, 2))
            hazard_code(h, "lw %s, %d(s0)", sum, offset);
        break;
    case 1:
        hazard_code(h, "andi t1, %s, %u", value, (h->spread / 2 - 1) & ~7u);
        hazard_code(h, "add t1, s0, t1");
        hazard_code(h, hazard_once(h, 2) ? "sd %s, 0(t1)" : "ld %s, 0(t1)", sum);
        break;
    case 2:
        hazard_code(h, "fcvt.d.l ft0, %s", value);
        hazard_code(h, "fadd.d fs0, fs0, ft0");
        break;
    case 3:
        hazard_code(h, "div %s, %s, %s", sum, sum, value);
        hazard_code(h, "bltz %s, 1%uf", value, label);
        hazard_code(h, "addi %s, %s, 1", sum, sum);
        hazard_line(h, "1%u:", label);
        break;
    default: hazard_code(h, "add %s, %s, %s", sum, sum, value);
    }
}

/* Tasks in a row or in a loop, each of which is followed by uses of its result and its outputs. */
static void returned(struct hazard *h)
{
    unsigned label = 70 + h->label++ % 10;
    unsigned sum = hazard_host_reg(h);
    bool looped = hazard_once(h, 2);
    if (looped) {
        hazard_code(h, "li s11, %u", 2 + hazard_random(h, 7));
        hazard_line(h, "1%u:", label);
    }
    for (unsigned n = looped ? 1 : 2 + hazard_random(h, 4); n > 0; n--) {
        const struct hazard_task t = write_task(h, looped ? 64u : 0);
        if (t.result)
            use_value(h, hazard_reg(t.result), hazard_reg(sum));
        if (hazard_once(h, 2))
            read_early(h, &t, sum);
    }
    if (looped) {
        hazard_code(h, "addi s11, s11, -1");
        hazard_code(h, "bnez s11, 1%ub", label);
    }
}

/* Branches on the result, or on the current value of that register. */
static void perhaps(struct hazard *h)
{
    unsigned label = 80 + h->label++ % 10;
    hazard_code(h, "andi t0, %s, 3", hazard_reg(hazard_host_reg(h)));
    hazard_code(h, "beqz t0, 1%uf", label);
    hazard_task(h, 0);
    hazard_line(h, "1%u:", label);
}

/* Calls functions of entry.S that contain regions. */
static void call(struct hazard *h)
{
    hazard_code(h, "addi a0, s0, %d", hazard_offset(h, 64, 8));
    hazard_code(h, "li a1, %u", 1 + hazard_random(h, 4));
    hazard_line(h, "\tcall hazard_%s", hazard_once(h, 2) ? "offload" : "recurse");
    hazard_code(h, "mv %s, a0", hazard_reg(hazard_host_reg(h)));
}

void hazard_task_piece(struct hazard *h)
{
    if (h->faults) {
        hazard_task(h, 0);
        return;
    }
    switch (hazard_random(h, 16)) {
    case 0: loop(h); break;
    case 5:
    case 6:
    case 7:
    case 8: returned(h); break;
    case 1:
    case 2: row(h); break;
    case 3: perhaps(h); break;
    case 4: call(h); break;
    default: hazard_task(h, 0);
    }
}
