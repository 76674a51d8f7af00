/* The coherence checker's statistics and its advice about findings. */
#include "emu/mem/coherence.h"

void coherence_publish(struct coherence *checker, struct stats *stats, struct scope scope)
{
    const struct coherence_counters *counters = coherence_counted(checker);
    const struct {
        const char *name, *meaning;
        const uint64_t *value;
    } rows[] = {
        {"stale_loads", "Loads and fetches of lines whose newest version was elsewhere",
         &counters->problems[COHERENCE_STALE_LOAD]},
        {"stale_stores", "Stores to lines whose newest version was elsewhere",
         &counters->problems[COHERENCE_STALE_STORE]},
        {"lost_updates", "Write-backs that overwrote a newer version in memory",
         &counters->problems[COHERENCE_LOST_UPDATE]},
        {"reports", "Problems reported: one for each problem and pair of pcs", &counters->reports},
    };
    for (size_t i = 0; i < sizeof rows / sizeof *rows; i++)
        stats_counter(stats, scope, rows[i].name, rows[i].value, "findings", rows[i].meaning);
}

const char *coherence_advice(const struct coherence_finding *finding)
{
    if (finding->problem == COHERENCE_LOST_UPDATE)
        return "both sides write this line: put each side's data into separate lines, or clean one side's "
               "line "
               "and then invalidate the other side's copy before it writes";
    if (finding->dropped)
        return "the newest version was invalidated before it was cleaned: clean the writer's line first";
    if (finding->fetch && finding->invalidate_reader)
        return finding->clean_writer
                   ? "clean the writer's line after the store, then execute FENCE.I on the "
                     "core that fetches"
                   : "execute FENCE.I on the core that fetches, after the store was cleaned";
    if (finding->clean_writer && finding->invalidate_reader)
        return "clean the writer's line after the store, then invalidate the other side's copy";
    if (finding->clean_writer)
        return "clean the writer's line after the store";
    return "invalidate the old copy before the access";
}
