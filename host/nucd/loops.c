/* The launches of loops that `croft cc -foffload-loops` has divided into tasks. */
#include <croft/loops.h>
#include <croft/nucd.h>

enum { LINE = 64, LARGEST = CROFT_NUCD_MAX_GRANULES * LINE };

/* A loop that is being divided: `head` rounds on the host, then batches of `tasks` tasks of `each` rounds, then the rest on the host.
 * That is at least one round, because the last round leaves in the registers what the loop leaves there. */
struct division {
    const struct croft_loop *loop;
    const uint64_t *registers;
    int64_t rounds, head;
    struct {
        int64_t each, tasks;
    } batches[CROFT_LOOP_BATCHES];
};

static uint64_t value_of(const struct division *d, int64_t number)
{
    return number ? d->registers[number] : 0;
}

static int fits(int64_t value, int64_t least, int64_t most)
{
    return value >= least && value <= most;
}

/* Finds the number of rounds. Returns 0 if it is not sure. */
static int64_t rounds_of(const struct division *d)
{
    const struct croft_loop *loop = d->loop;
    const int64_t most = INT64_C(1) << 62, least = loop->is_unsigned ? 0 : -most;
    int64_t minuend = (int64_t)value_of(d, loop->minuend),
            subtrahend = (int64_t)value_of(d, loop->subtrahend), distance;
    if (loop->differs) {
        distance = (int64_t)((uint64_t)minuend - (uint64_t)subtrahend);
        if (distance < 0 || distance % loop->step != 0)
            return 0;
    } else {
        if (!fits(minuend, least, most) || !fits(subtrahend, least, most))
            return 0;
        distance = minuend - subtrahend;
    }
    int64_t rounds = distance < loop->first + loop->step ? 0 : (distance - loop->first) / loop->step;
    for (int64_t i = 0; i < loop->counters; i++) {
        const struct croft_loop_counter *counter = &loop->counter[i];
        int64_t start = (int64_t)value_of(d, counter->number), way;
        if (counter->word &&
            (!fits(start, INT32_MIN, INT32_MAX) || __builtin_mul_overflow(rounds, counter->step, &way) ||
             !fits(way, INT32_MIN, INT32_MAX) || !fits(start + way, INT32_MIN, INT32_MAX)))
            return 0;
    }
    return rounds;
}

static int64_t size_of(int64_t stride)
{
    return stride < 0 ? -stride : stride;
}

/* Returns the address of a round's accesses. */
static uint64_t address_of(const struct division *d, const struct croft_loop_range *range, int64_t round)
{
    uint64_t address = (uint64_t)(range->low + range->stride * round);
    for (int64_t i = 0; i < range->terms; i++)
        address += (uint64_t)range->factors[i] * value_of(d, range->registers[i]);
    return address;
}

/* Returns the lowest address of some rounds' accesses, and the size. */
static uint64_t span_of(const struct division *d, const struct croft_loop_range *range, int64_t round,
                        int64_t count, uint64_t *size)
{
    *size = (uint64_t)(size_of(range->stride) * (count - 1) + range->size);
    return address_of(d, range, range->stride < 0 ? round + count - 1 : round);
}

/* Returns the number of rounds between two that begin at a cache line in all ranges that are written: a power of 2. */
static int64_t grain_of(const struct croft_loop *loop)
{
    int64_t grain = 1;
    for (int64_t i = 0; i < loop->ranges; i++)
        while ((loop->range[i].uses & CROFT_LOOP_WRITTEN) && grain * loop->range[i].stride % LINE != 0)
            grain *= 2;
    return grain;
}

/* Returns whether tasks that begin at the round write to no line to which the round before writes. */
static int begins_line(const struct division *d, int64_t round)
{
    for (int64_t i = 0; i < d->loop->ranges; i++) {
        const struct croft_loop_range *range = &d->loop->range[i];
        int down = range->stride < 0;
        uint64_t lower = address_of(d, range, down ? round : round - 1),
                 upper = address_of(d, range, down ? round - 1 : round);
        if ((range->uses & CROFT_LOOP_WRITTEN) && (lower + (uint64_t)range->size - 1) / LINE == upper / LINE)
            return 0;
    }
    return 1;
}

/* Returns the number of rounds that tasks execute before batch `batch`. */
static int64_t rounds_before(const struct division *d, int64_t batch)
{
    int64_t rounds = 0;
    for (int64_t i = 0; i < batch; i++)
        rounds += d->batches[i].tasks * d->batches[i].each;
    return rounds;
}

/* Divides the loop. Tasks differ by one grain at most, so that less than a grain is left for the host: it executes that when
 * all tasks have left its reorder buffer. Returns whether that is possible and worth it. */
static int divide(struct division *d)
{
    const struct croft_loop *loop = d->loop;
    int64_t grain = grain_of(loop), most = INT64_MAX;
    while (d->head < grain && !begins_line(d, d->head))
        d->head++;
    int64_t left = d->rounds - 1 - d->head;
    if (d->head == grain || left < 2 * grain)
        return 0;
    for (int64_t i = 0; i < loop->ranges; i++)
        if (loop->range[i].stride != 0 && LARGEST / size_of(loop->range[i].stride) < most)
            most = LARGEST / size_of(loop->range[i].stride);
    int64_t grains = left / grain, tasks = loop->tasks < grains ? loop->tasks : grains;
    most /= grain;
    if (most == 0)
        return 0;
    if ((grains - 1) / tasks + 1 > most) {
        /* As many for each accelerator: 33 tasks on 16 of them would take as long as 48. */
        int64_t times = (grains - 1) / most / loop->tasks + 1;
        tasks = grains / loop->tasks >= times ? times * loop->tasks : grains;
    }
    int64_t more = grains % tasks, larger = more > 0; /* tasks with one grain more, a batch of their own */
    d->batches[0].tasks = more;
    d->batches[0].each = (grains / tasks + 1) * grain;
    d->batches[larger].tasks = tasks - more;
    d->batches[larger].each = grains / tasks * grain;
    return tasks > 1;
}

/* Returns the granules of a range's segment in tasks of so many rounds, as croft_granules(). A range of 64-byte granules is
 * taken for all lines that it touches, so one that begins within a line needs no granule for its last part of a line. Tasks that
 * write to a range all begin at the same place of a line; of others that is not sure. */
static uint64_t granules_of(const struct division *d, const struct croft_loop_range *range, int64_t rounds)
{
    uint64_t size, start = span_of(d, range, d->head, range->stride ? rounds : 1, &size) % LINE;
    uint64_t lines = (start + size - 1) / LINE + 1, granules = lines - (start != 0 && lines > 1);
    return range->uses & CROFT_LOOP_WRITTEN ? granules << 5 : croft_granules(size);
}

/* Returns whether tasks write to what others access: then they would wait for each other. */
static int conflicts(const struct division *d)
{
    static const unsigned shifts[] = {CROFT_NUCD_GRANULE_SHIFTS};
    uint64_t from[CROFT_LOOP_RANGES], to[CROFT_LOOP_RANGES], size;
    for (int64_t i = 0; i < d->loop->ranges; i++) {
        const struct croft_loop_range *range = &d->loop->range[i];
        uint64_t granules = granules_of(d, range, d->batches[0].each), /* the largest tasks */
            start = span_of(d, range, d->head, rounds_before(d, CROFT_LOOP_BATCHES), &size);
        if (granules >> 63)
            return 1;
        if (!range->stride)
            size = (granules >> 5 & CROFT_NUCD_MAX_GRANULES) << shifts[granules >> 14 & 3];
        from[i] = start / LINE;
        to[i] = (start + size - 1) / LINE;
    }
    for (int64_t i = 0; i < d->loop->ranges; i++)
        for (int64_t j = 0; j < d->loop->ranges; j++)
            if (i != j && (d->loop->range[i].uses & CROFT_LOOP_WRITTEN) && from[i] <= to[j] &&
                from[j] <= to[i])
                return 1;
    return 0;
}

static const struct croft_loop_counter *counter_of(const struct croft_loop *loop, int64_t number)
{
    for (int64_t i = 0; i < loop->counters; i++)
        if (loop->counter[i].number == number)
            return &loop->counter[i];
    return 0;
}

/* Returns what a carrier holds for `count` rounds. */
static uint64_t carried(const struct division *d, const uint64_t *floats,
                        const struct croft_loop_carrier *carrier, int64_t round, int64_t count)
{
    const struct croft_loop_counter *counter;
    uint64_t size;
    switch (carrier->carry) {
    case CROFT_LOOP_RANGE: return span_of(d, &d->loop->range[carrier->number], round, count, &size);
    case CROFT_LOOP_FLOAT: return floats[carrier->number];
    case CROFT_LOOP_LENGTH: return (uint64_t)(d->loop->first + count * d->loop->step);
    default:
        counter = counter_of(d->loop, carrier->number);
        return value_of(d, carrier->number) + (uint64_t)(counter ? counter->step * round : 0);
    }
}

/* Writes the operands of nucd. */
static void describe(const struct division *d, int64_t rounds, struct croft_loop_batch *batch)
{
    uint64_t memory = 0, granules;
    batch->xd = batch->xt = 0;
    for (int64_t i = 0; i < d->loop->carriers; i++) {
        const struct croft_loop_carrier *c = &d->loop->carrier[i];
        int is_range = c->carry == CROFT_LOOP_RANGE;
        granules = is_range ? granules_of(d, &d->loop->range[c->number], rounds) : 0;
        if (c->input >= 0) {
            batch->xd |= ((uint64_t)c->place | granules) << 16 * c->input;
            memory |= (uint64_t)is_range << (24 + c->input);
        }
        if (c->output >= 0) {
            batch->xt |= ((uint64_t)c->place | granules) << 16 * c->output;
            memory |= UINT64_C(1) << (28 + c->output); /* a value is the base of an empty range */
        }
    }
    batch->xn = (uint64_t)CROFT_NUCD_SIGNATURE << 32 | memory | CROFT_NUCD_CALL_PARCELS;
}

static void fill(const struct division *d, int64_t number, struct croft_loop_frame *frame)
{
    struct croft_loop_batch *batch = &frame->batches[number];
    int64_t each = d->batches[number].each, round = d->head + rounds_before(d, number);
    batch->tasks = (uint64_t)d->batches[number].tasks;
    if (!batch->tasks)
        return;
    describe(d, each, batch);
    for (int64_t i = 0; i < d->loop->carriers; i++) {
        const struct croft_loop_carrier *c = &d->loop->carrier[i];
        batch->firsts[i] = carried(d, frame->floats, c, round, each);
        batch->increments[i] = carried(d, frame->floats, c, round + each, each) - batch->firsts[i];
    }
}

long croft_loop_plan(const struct croft_loop *loop, struct croft_loop_frame *frame)
{
    struct division d = {.loop = loop, .registers = frame->registers};
    d.rounds = rounds_of(&d);
    if (d.rounds < 2 || d.rounds > INT64_MAX / 4096 || d.rounds * loop->insns < loop->least || !divide(&d) ||
        conflicts(&d))
        return 0;
    frame->begin = (uint64_t)CROFT_NUCD_MARK_SIGNATURE << 32;
    frame->end = frame->begin | CROFT_NUCD_MARK_END;
    frame->head = d.head > 0;
    for (int64_t i = 0; i < loop->carriers; i++)
        frame->heads[i] = carried(&d, frame->floats, &loop->carrier[i], 0, d.head);
    for (int64_t i = 0; i < CROFT_LOOP_BATCHES; i++)
        fill(&d, i, frame);
    int64_t rounds = d.head + rounds_before(&d, CROFT_LOOP_BATCHES);
    for (int64_t i = 0; i < loop->counters; i++)
        frame->registers[loop->counter[i].number] += (uint64_t)(rounds * loop->counter[i].step);
    return 1;
}
