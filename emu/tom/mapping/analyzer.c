#include "emu/tom/mapping/analyzer.h"

#include <inttypes.h>
#include <string.h>

/* Returns whether a map puts a frame's bytes into the places that the machine's own map gives to this frame. */
static bool keeps_frame(const struct tom_analyzer *analyzer, unsigned map, uint64_t frame)
{
    const uint32_t burst = analyzer->layouts[0].geometry.burst;
    for (uint64_t at = frame; at < frame + analyzer->frame; at += burst) {
        struct home home;
        home_bits_place(&analyzer->maps[map], at, &home);
        if (home_bits_number(&analyzer->maps[0], &home) - frame >= analyzer->frame)
            return false;
    }
    return true;
}

/* Sets map 1 + position. */
static bool init_map(struct tom_analyzer *analyzer, unsigned position, struct error *err)
{
    const struct home_layout *own = &analyzer->layouts[0];
    struct home_layout *layout = &analyzer->layouts[1 + position];
    const uint32_t bit = analyzer->first_bit + position;
    *layout = *own;
    layout->stack_hash = false;
    if (!home_text_stack_at(own->text, bit, layout->text, err) ||
        !home_bits_init(&analyzer->maps[1 + position], layout, err))
        return false;
    /* Check an odd frame too: where rows are hashed, its row flips bits. */
    if (keeps_frame(analyzer, 1 + position, 0) &&
        keeps_frame(analyzer, 1 + position, 5 * analyzer->frame % analyzer->maps[0].bytes))
        return true;
    return error_set(err,
                     "map: \"%s\" does not hold the stack's bits below bit %u, so that frames of %" PRIu64
                     " bytes cannot have maps of their own",
                     own->text, analyzer->first_bit + TOM_POSITIONS - 1 + analyzer->stack_bits,
                     analyzer->frame);
}

bool tom_analyzer_init(struct tom_analyzer *analyzer, const struct home_layout *layout, uint64_t base,
                       uint32_t line, struct error *err)
{
    const struct home_geometry *g = &layout->geometry;
    *analyzer = (struct tom_analyzer){.base = base};
    if (g->modules != 1 || g->stacks < 2 || g->stacks > TOM_STACKS || (g->stacks & (g->stacks - 1)))
        return error_set(err, "%" PRIu32 " modules of %" PRIu32 " stacks; mapping needs one of 2, 4, 8 or 16",
                         g->modules, g->stacks);
    analyzer->layouts[0] = *layout;
    analyzer->first_bit = (uint32_t)__builtin_ctz(line);
    analyzer->stack_bits = (uint32_t)__builtin_ctz(g->stacks);
    analyzer->frame = UINT64_C(1) << (analyzer->first_bit + TOM_POSITIONS - 1 + analyzer->stack_bits);
    if (!home_bits_init(&analyzer->maps[0], layout, err))
        return false;
    for (unsigned i = 0; i < TOM_POSITIONS; i++)
        if (!init_map(analyzer, i, err))
            return false;
    return true;
}

unsigned tom_analyzer_map(const struct tom_analyzer *analyzer, uint32_t bit)
{
    return bit - analyzer->first_bit < TOM_POSITIONS ? 1 + bit - analyzer->first_bit : 0;
}

uint32_t tom_analyzer_bit(const struct tom_analyzer *analyzer, unsigned map)
{
    return map ? analyzer->first_bit + map - 1 : 0;
}

/* Returns the accesses of the window to the stack that has most. */
static uint32_t busiest_of(const struct tom_analyzer *analyzer, unsigned map)
{
    uint32_t most = 0;
    for (unsigned stack = 0; stack < TOM_STACKS; stack++)
        most = analyzer->to[map][stack] > most ? analyzer->to[map][stack] : most;
    return most;
}

static void end_window(struct tom_analyzer *analyzer)
{
    for (unsigned i = 0; i < TOM_MAPS; i++)
        analyzer->tallies[i].busiest += busiest_of(analyzer, i);
    memset(analyzer->to, 0, sizeof analyzer->to);
    analyzer->window = 0;
}

void tom_analyzer_access(struct tom_analyzer *analyzer, struct tom_instance *instance, uint64_t physical)
{
    for (unsigned i = 0; i < TOM_MAPS; i++) {
        struct home home;
        home_bits_place(&analyzer->maps[i], physical - analyzer->base, &home);
        if (!instance->accesses)
            instance->first[i] = (uint8_t)home.stack;
        instance->seen[i] |= (uint16_t)(1U << home.stack);
        instance->together[i] += home.stack == instance->first[i];
        analyzer->to[i][home.stack]++;
    }
    instance->accesses++;
    if (++analyzer->window == TOM_WINDOW)
        end_window(analyzer);
}

void tom_analyzer_end(struct tom_analyzer *analyzer, const struct tom_instance *instance)
{
    analyzer->instances++;
    analyzer->accesses += instance->accesses;
    for (unsigned i = 0; i < TOM_MAPS; i++) {
        struct tom_tally *tally = &analyzer->tallies[i];
        const unsigned stacks = (unsigned)__builtin_popcount(instance->seen[i]);
        tally->together += instance->together[i];
        tally->stacks += stacks;
        tally->single += stacks == 1;
    }
}

unsigned tom_analyzer_best(const struct tom_analyzer *analyzer)
{
    unsigned best = 0;
    uint64_t most = 0;
    for (unsigned i = 1; i < TOM_MAPS; i++)
        if (analyzer->tallies[i].together > most) {
            most = analyzer->tallies[i].together;
            best = i;
        }
    return best;
}

unsigned tom_analyzer_even(const struct tom_analyzer *analyzer)
{
    unsigned best = 0;
    double most = 0;
    for (unsigned i = 0; i < TOM_MAPS; i++) {
        const uint64_t busiest = analyzer->tallies[i].busiest + busiest_of(analyzer, i);
        const double worth = busiest ? (double)analyzer->tallies[i].together / (double)busiest : 0;
        if (worth > most) {
            most = worth;
            best = i;
        }
    }
    return best;
}
