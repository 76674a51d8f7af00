/* The launches of nests of loops that `croft cc -foffload-loops` has divided into tasks. */
#include <croft/loops.h>
#include <croft/nucd.h>

enum {
    LINE = 64,
    LARGEST = CROFT_NUCD_MAX_GRANULES * LINE, /* bytes of a segment of lines */
    UNEVEN = 4,                               /* tasks of an accelerator if rounds differ in length */
    PATIENCE = 4,                /* a nest that is refused so often in a row is not looked at again */
    CUT_SHARE = 4,               /* the cut has at most one round in so many */
    MANY = CROFT_NEST_TASKS - 6, /* tasks but those of a few rounds before and behind whole lines */
    PART = 4,                    /* tasks of a part of the rounds, at least */
    HOST_SPEED = 4,              /* rounds that the host has in the time of one of an accelerator, about */
    LAUNCH_SHARE = 4,            /* tasks must save such a part of the instructions that a nest must have */
    SLICE_INSNS = 32,            /* of a slice in each round of its nest, besides the loop, about */
    REORDER_BUFFER = 128,        /* of machine nucd; longer or shorter ones balance less */
    THIRD = MANY / 3
};

static const int64_t far = INT64_C(1) << 55; /* registers beyond it are refused: sums do not overflow */
static const int64_t MOST_WORK = INT64_C(1) << 50;

/* Memory that round r accesses: `size` bytes from low + r * stride on. */
struct span {
    int64_t low, size, stride, uses, ranges; /* ranges: a set of the nest's, by number */
};

/* A nest that is being divided. Rounds that access what other rounds store are a task of their own, the cut: the accelerators keep
 * it and the tasks before and behind it in order. The last round is the host's. */
struct plan {
    const struct croft_nest *nest;
    const uint64_t *registers;
    int64_t rounds, grain, most; /* rounds between two that begin at a line; most grains of a task */
    int64_t cut, cut_rounds;     /* first one, number */
    int64_t head;                /* rounds that the host has before the tasks */
    int64_t further[CROFT_NEST_INNERS][2]; /* rounds of inner loops, in the first and in the last round */
    struct span spans[CROFT_NEST_RANGES];
    int64_t count; /* of spans */
    struct {
        int64_t first, each, tasks; /* first: the first round of the first task */
        int whole;                  /* a round's accesses in different ranges are apart */
        int down;                   /* the next task has the rounds before it, not those behind it */
        int64_t gap;                /* rounds of an empty loop behind the launches */
    } batches[CROFT_NEST_BATCHES];
    int64_t batch_count, done; /* the end of the rounds that tasks execute */
    int64_t overhead;          /* of a task, in rounds */
    int few;                   /* its slices are too few this time, which is no refusal */
    int joined;                /* ranges share lines that must be apart for a task's other body */
    int64_t work[2];           /* instructions of the first and of the last round, about */
};

static int64_t size_of(int64_t value)
{
    return value < 0 ? -value : value;
}

static int64_t step_of(const struct croft_nest *nest, int64_t number)
{
    for (int64_t i = 0; i < nest->counters; i++)
        if (nest->counter[i] == number)
            return nest->steps[i];
    return 0;
}

/* Finds the greatest (up) or the least value of a form in the first (last = 0) or the last round. Returns 0 if it may overflow. */
static int value_of(const struct plan *p, const struct croft_nest_form *form, int last, int up,
                    int64_t *value)
{
    int64_t product, way;
    *value = up ? form->high : form->low;
    if (size_of(*value) > far)
        return 0;
    for (int64_t i = 0; i < form->terms; i++) {
        int64_t reg = (int64_t)p->registers[form->registers[i]];
        if (reg > far || reg < -far ||
            __builtin_mul_overflow(step_of(p->nest, form->registers[i]), last ? p->rounds - 1 : 0, &way) ||
            way > far || way < -far || __builtin_mul_overflow(reg + way, form->factors[i], &product) ||
            product > 2 * far || product < -2 * far)
            return 0;
        *value += product;
    }
    for (int64_t i = 0; i < form->ways; i++) {
        int64_t factor = up ? form->up[i] : -form->down[i];
        if (__builtin_mul_overflow(factor, p->further[form->inner[i]][last], &way) || way > far || way < -far)
            return 0;
        *value += way;
    }
    return 1;
}

/* Finds the number of rounds. Returns 0 if it is not sure. */
static int64_t rounds_of(const struct plan *p)
{
    const struct croft_nest *nest = p->nest;
    int64_t minuend = nest->minuend ? (int64_t)p->registers[nest->minuend] : 0,
            subtrahend = nest->subtrahend ? (int64_t)p->registers[nest->subtrahend] : 0;
    if (minuend > far || minuend < -far || subtrahend > far || subtrahend < -far)
        return 0;
    int64_t distance = minuend - subtrahend;
    if (nest->differs && (distance < 0 || distance % nest->step != 0))
        return 0;
    return distance < nest->first + nest->step ? 0 : (distance - nest->first) / nest->step;
}

/* Finds how often inner loops go round. The number is a convex function of the round, so that it is greatest in the first or in the last
 * round; so are the ends of ranges. */
static int find_further(struct plan *p)
{
    for (int64_t i = 0; i < p->nest->inners; i++)
        for (int last = 0; last < 2; last++) {
            const struct croft_nest_inner *inner = &p->nest->inner[i];
            int64_t extra, exact = inner->extra.low == inner->extra.high && !inner->extra.ways;
            if (!value_of(p, &inner->extra, last, 1, &extra))
                return 0;
            if (inner->differs && exact && (extra < -inner->each || extra % inner->each != 0))
                return 0;
            p->further[i][last] = extra < 0 ? 0 : (extra + inner->each - 1) / inner->each;
        }
    return 1;
}

static int64_t product(int64_t a, int64_t b)
{
    return __builtin_mul_overflow(a, b, &a) || a > MOST_WORK ? MOST_WORK : a;
}

/* Estimates the instructions of the first (last = 0) or the last round. */
static int64_t work_of(const struct plan *p, int last)
{
    const struct croft_nest *nest = p->nest;
    int64_t insns = nest->insns, entered[CROFT_NEST_INNERS];
    for (int64_t i = 0; i < nest->inners; i++) {
        const struct croft_nest_inner *inner = &nest->inner[i];
        entered[i] = product(inner->times, p->further[i][last] + 1);
        if (inner->around && inner->around <= i)
            entered[i] = product(entered[i], entered[inner->around - 1]);
        insns += product(inner->insns, entered[i]);
    }
    return insns;
}

/* Returns whether the nest is long enough, and does not go through several columns that are too long for an accelerator's cache: it would
 * wait for memory in each round of its innermost loop. */
static int is_worth_it(struct plan *p)
{
    const struct croft_nest *nest = p->nest;
    int64_t lines = nest->far;
    for (int64_t i = 0; i < nest->inners; i++) {
        const int64_t *further = p->further[i];
        int64_t columns = nest->inner[i].far * ((further[0] > further[1] ? further[0] : further[1]) + 1);
        lines = nest->inner[i].far > 1 && columns > lines ? columns : lines;
    }
    if (lines * 8 > nest->lines * 7)
        return 0;
    p->work[0] = work_of(p, 0);
    p->work[1] = work_of(p, 1);
    return product(p->rounds, (p->work[0] + p->work[1]) / 2) >= nest->least;
}

static int words_fit(const struct plan *p)
{
    for (int64_t i = 0; i < p->nest->words; i++)
        for (int last = 0; last < 2; last++) {
            int64_t low, high;
            if (!value_of(p, &p->nest->word[i], last, 0, &low) ||
                !value_of(p, &p->nest->word[i], last, 1, &high) || low < INT32_MIN || high > INT32_MAX)
                return 0;
        }
    return 1;
}

/* Tries a stride: makes the span one that contains what all rounds access, unless it is one already and smaller. */
static void try_stride(const struct plan *p, const int64_t low[2], const int64_t high[2], int64_t stride,
                       struct span *span)
{
    int64_t more = stride * (p->rounds - 1), from = low[1] - more, to = high[1] - more;
    from = low[0] < from ? low[0] : from;
    to = high[0] > to ? high[0] : to;
    if (span->size && span->size <= to - from)
        return;
    span->low = from;
    span->size = to - from;
    span->stride = stride;
}

static int find_span(const struct plan *p, int64_t number, struct span *span)
{
    const struct croft_nest_range *range = &p->nest->range[number];
    int64_t low[2], high[2];
    for (int last = 0; last < 2; last++) {
        if (!value_of(p, &range->from, last, 0, &low[last]) ||
            !value_of(p, &range->from, last, 1, &high[last]) || low[last] < 0)
            return 0;
        high[last] += range->size;
    }
    *span = (struct span){.uses = range->uses, .ranges = INT64_C(1) << number};
    try_stride(p, low, high, (low[1] - low[0]) / (p->rounds - 1), span);
    try_stride(p, low, high, (high[1] - high[0]) / (p->rounds - 1), span);
    return 1;
}

static int find_spans(struct plan *p)
{
    for (int64_t i = 0; i < p->nest->ranges; i++) {
        if (!(p->nest->range[i].uses & (CROFT_LOOP_READ | CROFT_LOOP_WRITTEN)))
            continue; /* only slices access it */
        if (!find_span(p, i, &p->spans[p->count]))
            return 0;
        p->count++;
    }
    return 1;
}

/* What all rounds access. */
static int64_t first_of(const struct plan *p, const struct span *span)
{
    return span->low + (span->stride < 0 ? span->stride * (p->rounds - 1) : 0);
}

static int64_t end_of(const struct plan *p, const struct span *span)
{
    return span->low + span->size + (span->stride > 0 ? span->stride * (p->rounds - 1) : 0);
}

/* Returns whether two spans share a line. */
static int meet(const struct plan *p, const struct span *a, const struct span *b)
{
    return first_of(p, a) / LINE <= (end_of(p, b) - 1) / LINE &&
           first_of(p, b) / LINE <= (end_of(p, a) - 1) / LINE;
}

/* Returns a span that contains both: of the same stride if they have that, otherwise the same in each round. */
static struct span joined(const struct plan *p, const struct span *a, const struct span *b)
{
    int same = a->stride == b->stride;
    int64_t low = same ? a->low : first_of(p, a), other = same ? b->low : first_of(p, b);
    int64_t end = same ? a->low + a->size : end_of(p, a), others = same ? b->low + b->size : end_of(p, b);
    low = low < other ? low : other;
    end = end > others ? end : others;
    return (struct span){low, end - low, same ? a->stride : 0, a->uses | b->uses, a->ranges | b->ranges};
}

static void replace(struct plan *p, int64_t i, int64_t j, const struct span *by)
{
    p->spans[i] = *by;
    p->spans[j] = p->spans[--p->count];
}

static int is_written(const struct span *span)
{
    return (span->uses & CROFT_LOOP_WRITTEN) != 0;
}

/* Joins spans that share lines, if one is written and a round's part of both is apart from other rounds'. */
static void join_written(struct plan *p)
{
    for (int64_t i = 0; i < p->count; i++)
        for (int64_t j = 0; j < p->count; j++) {
            if (i == j || !is_written(&p->spans[i]) || !meet(p, &p->spans[i], &p->spans[j]))
                continue;
            struct span both = joined(p, &p->spans[i], &p->spans[j]);
            if (both.stride == 0 || both.size > size_of(both.stride))
                continue;
            replace(p, i, j, &both);
            i = -1;
            break;
        }
}

/* Finds the rounds in which a span shares lines with the bytes from `from` on, before `to`. Returns their number. */
static int64_t rounds_at(const struct plan *p, const struct span *span, int64_t from, int64_t to,
                         int64_t *first)
{
    int64_t stride = size_of(span->stride), lowest = first_of(p, span);
    from -= from % LINE;
    to = (to + LINE - 1) / LINE * LINE;
    *first = 0;
    if (lowest >= to || end_of(p, span) <= from)
        return 0;
    if (stride == 0)
        return p->rounds;
    /* Counted from the lowest address: rounds whose end is beyond `from`, and whose begin is before `to`. */
    int64_t least = lowest + span->size > from ? 0 : (from - lowest - span->size) / stride + 1,
            beyond = (to - lowest - 1) / stride + 1;
    beyond = beyond < p->rounds ? beyond : p->rounds;
    if (beyond <= least)
        return 0;
    *first = span->stride > 0 ? least : p->rounds - beyond;
    return beyond - least;
}

/* Adds to the cut the rounds of span a that access what other rounds access by span b. Returns their number. */
static int64_t find_cut(const struct plan *p, const struct span *a, const struct span *b, int64_t *first)
{
    int64_t others, count = rounds_at(p, b, first_of(p, a), end_of(p, a), &others);
    if (count == 0)
        return 0;
    int64_t from = b->low + b->stride * (b->stride < 0 ? others + count - 1 : others);
    return rounds_at(p, a, from, from + size_of(b->stride) * (count - 1) + b->size, first);
}

static void add_cut(struct plan *p, int64_t first, int64_t count)
{
    int64_t end = first + count, others = p->cut + p->cut_rounds;
    if (p->cut_rounds) {
        first = first < p->cut ? first : p->cut;
        end = end > others ? end : others;
    }
    p->cut = first;
    p->cut_rounds = end - first;
}

/* Finds the rounds that access what others store. Returns 0 if they are too many. */
static int cut(struct plan *p)
{
    for (int64_t i = 0; i < p->count; i++)
        if (is_written(&p->spans[i]) &&
            (!p->spans[i].stride || p->spans[i].size > size_of(p->spans[i].stride)))
            return 0;
    for (int64_t i = 0; i < p->count; i++)
        for (int64_t j = 0; j < i; j++) {
            const struct span *a = &p->spans[i], *b = &p->spans[j];
            int64_t of_a, of_b;
            if (!(is_written(a) || is_written(b)) || !meet(p, a, b))
                continue;
            int64_t count = find_cut(p, a, b, &of_a), others = find_cut(p, b, a, &of_b);
            if (count < others)
                add_cut(p, of_a, count);
            else
                add_cut(p, of_b, others);
        }
    return p->cut_rounds * CUT_SHARE <= p->rounds;
}

static int64_t count_of(const struct plan *p, int written)
{
    int64_t count = 0;
    for (int64_t i = 0; i < p->count; i++)
        count += is_written(&p->spans[i]) == written;
    return count;
}

/* Returns whether a span shares a line with one that is written. */
static int meets_written(const struct plan *p, const struct span *span)
{
    for (int64_t i = 0; i < p->count; i++)
        if (is_written(&p->spans[i]) && meet(p, span, &p->spans[i]))
            return 1;
    return 0;
}

/* Joins spans that are read until a task has operands for all, first the two whose joint adds the fewest bytes. */
static int join_read(struct plan *p)
{
    while (count_of(p, 0) > p->nest->inputs) {
        struct span best = {0};
        int64_t least = INT64_MAX, first = 0, second = 0;
        for (int64_t i = 0; i < p->count; i++)
            for (int64_t j = 0; j < i; j++) {
                const struct span *a = &p->spans[i], *b = &p->spans[j];
                if (is_written(a) || is_written(b))
                    continue;
                struct span both = joined(p, a, b);
                int64_t more = both.size - a->size - b->size;
                if (more >= least ||
                    (meets_written(p, &both) && !meets_written(p, a) && !meets_written(p, b)))
                    continue;
                least = more;
                best = both;
                first = j;
                second = i;
            }
        if (least == INT64_MAX)
            return 0;
        replace(p, first, second, &best);
    }
    return count_of(p, 1) <= p->nest->outputs;
}

/* Rounds a long range that is read up to whole granules, upwards or, if it would reach what is written, downwards: otherwise tasks
 * would wait for each other. Returns 0 if it reaches that in both directions. */
static int round_up(const struct plan *p, struct span *span)
{
    static const unsigned shifts[] = {CROFT_NUCD_GRANULE_SHIFTS};
    int64_t end = (end_of(p, span) + LINE - 1) / LINE * LINE;
    int known = meets_written(p, span); /* by the cut */
    span->low = first_of(p, span);
    span->size = end - span->low;
    span->stride = 0;
    uint64_t segment = croft_granules((unsigned long)span->size);
    if (segment >> 63)
        return 0;
    span->size = (int64_t)((segment >> 5 & CROFT_NUCD_MAX_GRANULES) << shifts[segment >> 14 & 3]);
    if (known || !meets_written(p, span))
        return 1;
    span->low = end - span->size;
    return span->low > 0 && !meets_written(p, span);
}

static int round_reads(struct plan *p)
{
    for (int64_t i = 0; i < p->count; i++)
        if (!is_written(&p->spans[i]) && p->spans[i].size > LARGEST - LINE && !round_up(p, &p->spans[i]))
            return 0;
    return 1;
}

/* Returns whether a span has several of the ranges that must be apart for a task's other body. */
static int find_joined(const struct plan *p)
{
    for (int64_t i = 0; i < p->count; i++)
        for (int64_t j = 0; j < CROFT_NEST_APARTS; j++) {
            int64_t both = p->spans[i].ranges & p->nest->apart[j];
            if (both & (both - 1))
                return 1;
        }
    return 0;
}

/* Makes the spans into what tasks can have as operands. Returns 0 if that is not possible. */
static int prepare(struct plan *p)
{
    join_written(p);
    p->joined = find_joined(p);
    return cut(p) && join_read(p) && round_reads(p);
}

/* Division. */

/* Returns whether tasks that begin at the round write to no line to which the round before writes. */
static int begins_line(const struct plan *p, int64_t round)
{
    for (int64_t i = 0; i < p->count; i++) {
        const struct span *span = &p->spans[i];
        int64_t here = span->low + span->stride * round, before = here - span->stride;
        int64_t lower = span->stride < 0 ? here : before, upper = span->stride < 0 ? before : here;
        if (is_written(span) && (lower + span->size - 1) / LINE == upper / LINE)
            return 0;
    }
    return 1;
}

/* Finds the grain: a power of 2. */
static void find_grain(struct plan *p)
{
    p->grain = 1;
    p->most = INT64_MAX;
    for (int64_t i = 0; i < p->count; i++) {
        const struct span *span = &p->spans[i];
        if (!is_written(span))
            continue;
        while (p->grain * span->stride % LINE != 0)
            p->grain *= 2;
        int64_t fit = (LARGEST - LINE) / size_of(span->stride);
        p->most = fit < p->most ? fit : p->most;
    }
    p->most /= p->grain;
}

/* Adds tasks of `each` rounds that begin with the rounds from `first` on, in that order, or (down) the last one first. */
static void add_batch(struct plan *p, int64_t first, int64_t tasks, int64_t each, int down)
{
    if (tasks <= 0 || each <= 0)
        return;
    p->batches[p->batch_count].first = down ? first + (tasks - 1) * each : first;
    p->batches[p->batch_count].tasks = tasks;
    p->batches[p->batch_count].each = each;
    p->batches[p->batch_count].down = down;
    p->batches[p->batch_count].gap = 0;
    p->batches[p->batch_count].whole = !p->joined;
    p->batch_count++;
}

static int64_t per_task(int64_t grains, int64_t tasks)
{
    return tasks > 0 ? (grains + tasks - 1) / tasks : grains;
}

/* How rounds become tasks of `each` rounds; the rest is another task, or the host's if `tasks` have ended. */
struct shares {
    int64_t each, tasks, cost;
    int is_hosts;
};

/* Returns the time until all accelerators are ready, and the host has had its rounds, in rounds of the host. before: rounds before
 * whole grains, a task of their own, as the rest is. */
static int64_t time_of(const struct plan *p, const struct shares *shares, int64_t before, int64_t rest)
{
    int64_t accelerators = p->nest->tasks, tail = shares->is_hosts ? 0 : rest,
            tasks = shares->tasks + (before > 0) + (tail > 0), waves = per_task(tasks, accelerators);
    int64_t time = (waves > 1 ? waves : 1) * shares->each, shorter = tail && tail < before ? tail : before;
    if (tasks == accelerators + 1 && (before || tail))
        time = shares->each + (shorter ? shorter : tail);
    return time * HOST_SPEED + (shares->is_hosts ? rest : 0);
}

/* Finds the division in which the last accelerator is ready first, and of such one with few tasks. last: no tasks are behind these. */
static struct shares shares_of(const struct plan *p, int64_t left, int64_t before, int last)
{
    const int64_t accelerators = p->nest->tasks, grains = left / p->grain;
    struct shares best = {.cost = INT64_MAX};
    for (int64_t tasks = accelerators; tasks > 0 && tasks > accelerators - 3; tasks--) {
        int64_t share = per_task(grains, tasks);
        struct shares shares = {.each = (share < p->most ? share : p->most) * p->grain};
        for (shares.is_hosts = 0; shares.is_hosts < 1 + last; shares.is_hosts++) {
            int64_t most = accelerators - (before > 0);
            shares.tasks = shares.each ? left / shares.each : 0;
            shares.tasks = shares.is_hosts && shares.tasks > most ? most : shares.tasks;
            shares.cost = time_of(p, &shares, before, left - shares.tasks * shares.each);
            if (shares.cost < best.cost)
                best = shares;
        }
    }
    return best;
}

/* Returns whether the lengths of the first and of the last round differ by more than a quarter. */
static int is_uneven(const struct plan *p)
{
    int longer = p->work[0] < p->work[1];
    return (p->work[longer] - p->work[!longer]) * 4 > p->work[!longer];
}

/* Returns how many grains a task has: of a nest whose rounds differ, fewer, so that more tasks balance that. */
static int64_t grains_of(const struct plan *p, int64_t grains, int64_t each, int64_t room)
{
    if (is_uneven(p))
        each = per_task(grains, p->nest->tasks * UNEVEN);
    each = each * room < grains ? per_task(grains, room) : each;
    return each < p->most ? each : p->most;
}

/* Returns the rounds of an empty loop behind the launches of a batch that let the first launch of the next batch enter the reorder buffer
 * when the first task of this one has left it: then it goes to the same accelerator. See write_batches() in emu/cmd/cc/loops/nest.c for the
 * instructions: carriers and 2 of each task, 11 and twice the carriers from batch to batch, 2 of a round. */
static int64_t gap_of(const struct plan *p)
{
    int64_t carriers = 1 + p->nest->inputs + p->nest->outputs;
    int64_t left = REORDER_BUFFER - p->nest->tasks * (carriers + 2) - 11 - 2 * carriers;
    return left > 0 ? left / 2 + 1 : 0; /* fewer would let two in, one more is less than a task */
}

/* Divides whole grains into batches of which the last one goes down, so that an accelerator that had a short task then has a long one:
 * tasks that begin in the order of their lengths end in that order, which makes room for others (retirement is in order). The shortest
 * rounds are left over and come last. Returns 0 if there are not grains enough, or if their order matters. */
static int divide_uneven(struct plan *p, int64_t first, int64_t grains)
{
    int64_t tasks = p->nest->tasks, share = grains / (2 * tasks), rest = grains % (2 * tasks);
    if (p->cut_rounds || !is_uneven(p) || tasks > THIRD || share == 0 || share > p->most || p->most < 2)
        return 0;
    int64_t pairs = rest > tasks ? rest / 2 : 0, singles = rest - 2 * pairs, half = tasks * share * p->grain;
    int up = p->work[0] < p->work[1];
    int64_t from = up ? first : first + 2 * half, next = up ? from + singles * p->grain : from;
    add_batch(p, up ? first + rest * p->grain : first + half, tasks, share * p->grain, !up);
    p->batches[p->batch_count - 1].gap = gap_of(p);
    add_batch(p, up ? first + rest * p->grain + half : first, tasks, share * p->grain, up);
    add_batch(p, up ? from : from + 2 * pairs * p->grain, singles, p->grain, !up);
    add_batch(p, next, pairs, 2 * p->grain, !up);
    return 1;
}

/* Divides rounds into batches: one task up to where lines begin, batches of whole grains, one task of the rest. Returns the end of
 * those that are divided. */
static int64_t divide_part(struct plan *p, int64_t first, int64_t end)
{
    int64_t head = first;
    while (head < end && head < first + p->grain && !begins_line(p, head))
        head++;
    if (head == first + p->grain)
        return first; /* no round begins where a line does */
    int64_t left = end - head, grains = left / p->grain, before = head - first, rest = left % p->grain;
    struct shares shares = shares_of(p, left, before, !p->cut_rounds || end == p->rounds - 1);
    int uneven = divide_uneven(p, head, grains);
    add_batch(p, first, before > 0, before, 0);
    if (uneven) {
        rest = shares.is_hosts ? 0 : rest;
        add_batch(p, head + grains * p->grain, rest > 0, rest, 0);
        return head + grains * p->grain + rest;
    }
    int64_t room = p->cut_rounds ? PART + (MANY - 2 * PART) * (end - first) / p->rounds : MANY;
    int64_t each = grains_of(p, grains, shares.each / p->grain, room) * p->grain,
            tasks = each ? left / each : 0;
    int is_hosts = tasks > room || (shares.is_hosts && each == shares.each);
    if (is_hosts)
        tasks = shares.is_hosts && each == shares.each && shares.tasks < room ? shares.tasks : room;
    rest = is_hosts ? 0 : left - tasks * each;
    add_batch(p, head, tasks, each, 0);
    add_batch(p, head + tasks * each, rest > 0, rest, 0);
    return head + tasks * each + rest;
}

/* Returns whether tasks save the host so many instructions: the longest share of an accelerator is their cost. */
static int pays(const struct plan *p, int64_t least)
{
    int64_t tasks = 0, most = 0, work = (p->work[0] + p->work[1]) / 2, rounds = p->done - p->head;
    for (int64_t i = 0; i < p->batch_count; i++) {
        tasks += p->batches[i].tasks;
        most = p->batches[i].each > most ? p->batches[i].each : most;
    }
    int64_t longest =
        is_uneven(p) ? per_task(rounds, p->nest->tasks) + most / 2 : most * per_task(tasks, p->nest->tasks);
    longest += p->overhead;
    return tasks > HOST_SPEED && rounds > HOST_SPEED * longest &&
           product(rounds - HOST_SPEED * longest, work) >= least;
}

/* Divides the nest. The host has the cut if that is at the begin or at the end. Returns whether it is possible and worth it. */
static int divide(struct plan *p)
{
    int64_t end = p->rounds - 1, cut_end = p->cut + p->cut_rounds;
    find_grain(p);
    if (p->most == 0)
        return 0;
    if (p->cut_rounds && (p->cut == 0 || cut_end >= end)) {
        p->head = p->cut == 0 ? cut_end : 0;
        end = p->cut == 0 ? end : p->cut;
        p->cut_rounds = 0;
    }
    if (p->head >= end)
        return 0;
    if (!p->cut_rounds) {
        p->done = divide_part(p, p->head, end);
    } else {
        p->done = divide_part(p, 0, p->cut);
        if (p->done == p->cut) {
            add_batch(p, p->cut, 1, p->cut_rounds, 0);
            p->batches[p->batch_count - 1].whole = 0;
            p->done = divide_part(p, cut_end, end);
        }
    }
    return p->done - p->head > p->rounds / 2 && pays(p, p->nest->least / LAUNCH_SHARE);
}

/* Operands. */

/* Returns the lowest address of some rounds' accesses, and the size. */
static int64_t part_of(const struct span *span, int64_t round, int64_t count, int64_t *size)
{
    *size = size_of(span->stride) * (count - 1) + span->size;
    return span->low + span->stride * (span->stride < 0 ? round + count - 1 : round);
}

/* Returns a segment for so many rounds from a round on, without its register: of whole lines if it is written, because tasks may share
 * none (begin_of() is the first one), or if it begins at the same place of a line in all tasks of a batch. */
static uint64_t segment_of(const struct span *span, int64_t round, int64_t count)
{
    int64_t size, start = part_of(span, round, count, &size) % LINE;
    uint64_t lines = (uint64_t)((start + size - 1) / LINE + 1);
    if (!is_written(span) && (span->stride * count % LINE != 0 || size > LARGEST - LINE))
        return croft_granules((unsigned long)size);
    lines -= !is_written(span) && start != 0 && lines > 1; /* it is taken for all lines that it touches */
    return lines > CROFT_NUCD_MAX_GRANULES ? UINT64_C(1) << 63 : lines << 5;
}

/* Returns where the segment begins. */
static uint64_t begin_of(const struct span *span, int64_t round, int64_t count)
{
    int64_t size, start = part_of(span, round, count, &size);
    return (uint64_t)(is_written(span) ? start - start % LINE : start);
}

static void set_operand(const struct plan *p, struct croft_loop_batch *batch, int64_t carrier,
                        uint64_t segment, int64_t slot, int output)
{
    uint64_t *of = output ? &batch->xt : &batch->xd;
    *of |= ((uint64_t)p->nest->place[carrier] | segment) << 16 * slot;
    batch->xn |= UINT64_C(1) << ((output ? 28 : 24) + slot);
}

/* Writes the operands of a batch's nucds. Returns 0 if a range is too long for one. */
static int describe(const struct plan *p, struct croft_loop_batch *batch, int64_t number, uint64_t context,
                    uint64_t room)
{
    int64_t round = p->batches[number].first, each = p->batches[number].each;
    int64_t inputs = 0, outputs = 0;
    batch->xd = batch->xt = 0;
    batch->xn = (uint64_t)CROFT_NUCD_SIGNATURE << 32 | CROFT_NUCD_CALL_PARCELS;
    batch->firsts[0] = context;
    batch->increments[0] = room;
    for (int64_t i = 1; i < CROFT_NEST_CARRIERS; i++)
        batch->firsts[i] = batch->increments[i] = 0;
    set_operand(p, batch, 0, room / LINE << 5, 0, 0);
    for (int64_t i = 0; i < p->count; i++) {
        const struct span *span = &p->spans[i];
        uint64_t segment = segment_of(span, round, each);
        int written = is_written(span);
        int64_t carrier = written ? 1 + p->nest->inputs + outputs : 1 + inputs;
        if (segment >> 63)
            return 0;
        set_operand(p, batch, carrier, segment, written ? outputs : 1 + inputs, written);
        outputs += written;
        inputs += !written;
        batch->firsts[carrier] = begin_of(span, round, each);
        batch->increments[carrier] = (uint64_t)(span->stride * (p->batches[number].down ? -each : each));
    }
    return 1;
}

/* Slices. */

/* Returns what all rounds of the nest access by a range, as a span that is the same in each of them. */
static int find_all(const struct plan *p, int64_t number, struct span *all)
{
    struct span span;
    if (!find_span(p, number, &span))
        return 0;
    *all = (struct span){first_of(p, &span), end_of(p, &span) - first_of(p, &span), 0, CROFT_LOOP_READ,
                         span.ranges};
    return 1;
}

/* Finds what the slices' loop stores: in its round r (counted from the peeled one, if there is one) from low + r * stride on, in all rounds
 * of the nest. Returns 0 if its rounds do not store apart. */
static int find_stored(const struct plan *p, struct plan *q)
{
    const struct croft_nest_slices *slices = &p->nest->slices;
    struct span *stored = &q->spans[q->count++];
    int64_t low[2], extra;
    if (!value_of(p, &slices->from, 0, 0, &low[0]) || !value_of(p, &slices->from, 1, 0, &low[1]) ||
        low[0] < slices->stride || low[1] < slices->stride || !value_of(p, &slices->extra, 0, 1, &extra) ||
        extra < 0 || (slices->differs && extra % slices->each != 0))
        return 0;
    q->rounds = extra / slices->each + 1 + slices->peeled;
    *stored = (struct span){low[0] < low[1] ? low[0] : low[1], size_of(low[1] - low[0]) + slices->size,
                            slices->stride, CROFT_LOOP_WRITTEN, 0};
    stored->low -= slices->peeled * slices->stride;
    return q->rounds < INT32_MAX && stored->size <= stored->stride;
}

/* Finds what slices read. Returns 0 if they read what others store, or rows read or store what slices store. What rows read in a
 * column, before slices store there, is no obstacle: slices are behind rows. */
static int find_reads(const struct plan *p, struct plan *q)
{
    struct span all[CROFT_NEST_RANGES];
    const struct croft_nest_range *range = p->nest->range;
    for (int64_t i = 0; i < p->nest->ranges; i++)
        if (range[i].uses && !find_all(p, i, &all[i]))
            return 0;
    for (int64_t i = 0; i < p->nest->ranges; i++) {
        const int reads = (range[i].uses & CROFT_SLICE_READ) != 0;
        if (!range[i].uses || (range[i].uses == (CROFT_LOOP_READ | CROFT_SLICE_BEFORE)))
            continue;
        if (meet(q, &q->spans[0], &all[i]))
            return 0;
        for (int64_t j = 0; j < p->nest->ranges && reads; j++)
            if (i != j && range[j].uses & CROFT_LOOP_WRITTEN && meet(q, &all[i], &all[j]))
                return 0;
        if (reads)
            q->spans[q->count++] = all[i];
    }
    return 1;
}

/* Divides the rounds of the slices' loop, all of them. */
static int divide_slices(const struct plan *p, struct plan *q)
{
    *q = (struct plan){.nest = p->nest, .registers = p->registers};
    if (!find_stored(p, q) || !find_reads(p, q) || !join_read(q) || !round_reads(q))
        return 0;
    q->work[0] = q->work[1] = product(p->rounds, (p->work[0] + p->work[1]) / 2) / q->rounds / 2 + 1;
    q->overhead = product(p->rounds, SLICE_INSNS) / q->work[0] + 1;
    q->cut_rounds = 1; /* the host has none of them */
    find_grain(q);
    if (q->most == 0)
        return 0;
    q->done = divide_part(q, 0, q->rounds);
    q->few = q->done == q->rounds && !pays(q, p->nest->least); /* slices are another plan, and other tasks */
    return q->done == q->rounds && q->batches[0].each > p->nest->slices.peeled && !q->few;
}

/* Divides the nest into rows, if there are any, and slices. */
static int divide_all(struct plan *p, struct plan *q)
{
    const struct croft_nest *nest = p->nest;
    int64_t rows = 0, tasks = 0;
    for (int64_t i = 0; i < nest->ranges; i++)
        rows |= nest->range[i].uses & CROFT_LOOP_WRITTEN;
    p->done = p->rounds - 1;
    if (nest->slices.there && !divide_slices(p, q))
        return 0;
    if ((rows || !nest->slices.there) && (!find_spans(p) || !prepare(p) || !divide(p)))
        return 0;
    if (!nest->slices.there)
        return 1;
    if (p->head || p->cut_rounds || p->batch_count + q->batch_count > CROFT_NEST_BATCHES)
        return 0;
    for (int64_t i = 0; i < p->batch_count; i++)
        tasks += p->batches[i].tasks;
    for (int64_t i = 0; i < q->batch_count; i++)
        tasks += q->batches[i].tasks;
    return tasks <= CROFT_NEST_TASKS;
}

/* Contexts. */

/* What a task executes: `each` rounds of the nest from `round` on; mode: CROFT_NEST_APART of its context; rounds of the slices' loop. */
struct part {
    int64_t round, each, mode, start, count, peeled;
};

static uint64_t value_in(const struct plan *p, const struct croft_nest_frame *frame, const struct part *part,
                         int64_t number)
{
    const struct croft_nest *nest = p->nest;
    if (number < 32)
        return p->registers[number] + (uint64_t)(step_of(nest, number) * part->round);
    if (number < CROFT_NEST_LIMIT)
        return frame->floats[number - 32];
    switch (number) {
    case CROFT_NEST_LIMIT: break;
    case CROFT_NEST_APART: return (uint64_t)part->mode;
    case CROFT_NEST_START: return (uint64_t)part->start;
    case CROFT_NEST_COUNT: return (uint64_t)part->count;
    case CROFT_NEST_PEELED: return (uint64_t)part->peeled;
    default: return p->registers[number - CROFT_NEST_LIMIT + 31]; /* a slot */
    }
    const int64_t of = nest->up ? nest->subtrahend : nest->minuend;
    const uint64_t length = (uint64_t)(nest->first + part->each * nest->step),
                   value = p->registers[of] + (uint64_t)(step_of(nest, of) * part->round);
    return nest->up ? value + length : value - length;
}

/* Writes what a task's registers hold where it begins. */
static void write_context(const struct plan *p, const struct croft_nest_frame *frame, const struct part *part,
                          uint64_t *context)
{
    for (int64_t i = 0; i < p->nest->values; i++)
        context[i] = value_in(p, frame, part, p->nest->value[i]);
}

/* Returns the part of a task that begins with a round: of q, rounds of the slices' loop; of p, rounds of the nest. */
static struct part part_from(const struct plan *p, const struct plan *of, int64_t batch, int64_t round)
{
    const int64_t each = of->batches[batch].each, peeled = p->nest->slices.peeled;
    if (of == p)
        return (struct part){.round = round, .each = each, .mode = of->batches[batch].whole};
    const int64_t first = peeled && round == 0;
    return (struct part){.each = p->done,
                         .mode = CROFT_NEST_SLICED,
                         .start = first ? 0 : round - peeled,
                         .count = each - first,
                         .peeled = first};
}

/* Fills the frame's batches from *batch on, and contexts from `context` on. Returns the end of these, NULL: a range is too long. */
static uint64_t *fill_part(const struct plan *p, const struct plan *of, struct croft_nest_frame *frame,
                           int64_t *batch, uint64_t *context, uint64_t room)
{
    for (int64_t i = 0; i < of->batch_count; i++, ++*batch) {
        int64_t round = of->batches[i].first, each = of->batches[i].each;
        if (!describe(of, &frame->batches[*batch].of, i, (uint64_t)(uintptr_t)context, room))
            return 0;
        for (int64_t j = 0; j < of->batches[i].tasks; j++) {
            const struct part part = part_from(p, of, i, round);
            write_context(p, frame, &part, context);
            context += room / 8;
            round += of->batches[i].down ? -each : each;
        }
        frame->batches[*batch].of.tasks = (uint64_t)(uintptr_t)context;
        frame->batches[*batch].rounds = of->batches[i].gap;
    }
    return context;
}

static int fill(const struct plan *p, const struct plan *q, struct croft_nest_frame *frame)
{
    uint64_t room = ((uint64_t)p->nest->values * 8 + LINE - 1) / LINE * LINE;
    uint64_t *context = (uint64_t *)(((uintptr_t)frame->contexts + LINE - 1) / LINE * LINE);
    const struct part head = {.each = p->head};
    int64_t batch = 0;
    for (int64_t i = 0; i < CROFT_NEST_BATCHES; i++)
        frame->batches[i].of.tasks = 0;
    frame->head = p->head ? (uint64_t)(uintptr_t)context : 0;
    if (p->head)
        write_context(p, frame, &head, context);
    context += p->head ? room / 8 : 0;
    context = fill_part(p, p, frame, &batch, context, room);
    return context && fill_part(p, q, frame, &batch, context, room);
}

long croft_nest_plan(struct croft_nest *nest, struct croft_nest_frame *frame)
{
    struct plan p = {.nest = nest, .registers = frame->registers}, q;
    q.batch_count = q.rounds = 0;
    q.few = 0;
    p.rounds = rounds_of(&p);
    if (p.rounds < 3 || p.rounds > INT32_MAX || !find_further(&p) || !is_worth_it(&p))
        return 0;
    if (!words_fit(&p) || !divide_all(&p, &q) || !fill(&p, &q, frame)) {
        nest->refusals += !q.few || q.rounds <= nest->slices.few; /* more may be enough the next time */
        nest->slices.few = q.rounds;
        nest->closed = nest->refusals >= PATIENCE;
        return 0;
    }
    nest->refusals = 0;
    frame->begin = (uint64_t)CROFT_NUCD_MARK_SIGNATURE << 32;
    frame->end = frame->begin | CROFT_NUCD_MARK_END;
    for (int64_t i = 0; i < nest->counters; i++)
        frame->registers[nest->counter[i]] += (uint64_t)(p.done * nest->steps[i]);
    return 1;
}
