/* The observers of a timed machine: the coherence checker, and the trace of regions and marks. */
#include <inttypes.h>
#include <stdio.h>
#include <string.h>

#include "emu/core/report/track.h"
#include "emu/hart/probe.h"
#include "emu/machine/timed/state.h"
#include "emu/sim/text/quantity.h"
#include "emu/sim/text/say.h"
#include "isa/include/croft/roi.h"

enum { NAME = 64 };

static void print_side(struct timed *timed, const struct coherence_side *side)
{
    char text[SYMBOLS_TEXT], time[QUANTITY_TEXT];
    bool known = side->core < timed->count;
    quantity_format(QUANTITY_TIME, side->time, time);
    fprintf(say_stream(), "%s at 0x%" PRIx64 ", %s, after %s",
            known ? timed->cores[side->core].name : side->holder, side->pc,
            symbols_describe(timed->symbols, side->pc, text, sizeof text), time);
}

static void report(void *context, const struct coherence_finding *finding)
{
    static const char *const does[COHERENCE_PROBLEMS] = {
        [COHERENCE_STALE_LOAD] = "stale load of line",
        [COHERENCE_STALE_STORE] = "store to the stale line",
        [COHERENCE_LOST_UPDATE] = "lost update of line",
    };
    struct timed *timed = context;
    scheduler_begin_message(&timed->scheduler);
    fprintf(say_stream(), "croft: --check coherence: %s 0x%" PRIx64 ":\n  by ",
            finding->fetch ? "stale fetch of line" : does[finding->problem], finding->line);
    print_side(timed, &finding->access);
    fprintf(say_stream(), "\n  written by ");
    print_side(timed, &finding->writer);
    fprintf(say_stream(), "\n  %s\n", coherence_advice(finding));
}

static void print_word_side(struct timed *timed, const char *how, const struct word_side *side)
{
    char text[SYMBOLS_TEXT], time[QUANTITY_TEXT];
    quantity_format(QUANTITY_TIME, side->time, time);
    fprintf(say_stream(), "  %s %s%s%s at 0x%" PRIx64 ", %s, after %s\n", how, side->agent,
            side->stash ? ", by its stash" : "", side->atomic ? ", an atomic" : "", side->pc,
            symbols_describe(timed->symbols, side->pc, text, sizeof text), time);
}

static void report_word(void *context, const struct word_finding *finding)
{
    static const struct {
        const char *what, *access, *writer;
    } texts[WORD_PROBLEMS] = {
        [WORD_STALE] = {"stale load of word", "by", "written by"},
        [WORD_RACE] = {"race: load of an old version of word", "by", "written by"},
        [WORD_SPLIT] = {"a cache and a stash of one multiprocessor share word", "accessed by", "before by"},
    };
    struct timed *timed = context;
    scheduler_begin_message(&timed->scheduler);
    fprintf(say_stream(), "croft: --check coherence: %s 0x%" PRIx64 ":\n", texts[finding->problem].what,
            finding->address);
    print_word_side(timed, texts[finding->problem].access, &finding->access);
    print_word_side(timed, texts[finding->problem].writer, &finding->writer);
}

/* Watches the words of the caches and stashes above a last level with DeNovo. */
static void watch_words(struct timed *timed, struct llc_slices *level)
{
    timed->words = word_versions_new(llc_configuration(llc_slices_at(level, 0))->line, report_word, timed);
    llc_slices_check_words(level, timed->words);
    const char *other = NULL;
    for (unsigned i = 0; i < timed->count; i++)
        if (timed->cores[i].tile->llc == level)
            cache_check_words(timed->cores[i].tile->l1d, timed->words,
                              word_versions_agent(timed->words, timed->cores[i].name));
        else if (!other)
            other = timed->cores[i].name;
    timed_simt_watch(timed);
    if (other)
        fprintf(say_stream(),
                "croft: warning: --check coherence watches words of caches above a last level with "
                "coherence: denovo; those of %s and "
                "others that are not above it are not watched (coherence: mesi watches all, by line)\n",
                other);
}

/* Returns the first last level with a DeNovo domain, or NULL. */
static struct llc_slices *find_domain(const struct builder *builder)
{
    for (size_t i = 0; i < builder->count; i++)
        if (builder->parts[i].instance->kind == &llc_kind && llc_slices_domain(builder->parts[i].object))
            return builder->parts[i].object;
    return NULL;
}

void timed_watch_coherence(struct timed *timed)
{
    const struct builder *builder = &timed->builder;
    struct llc_slices *level = find_domain(builder);
    if (level) {
        watch_words(timed, level);
        return;
    }
    timed->coherence = coherence_new(cache_configuration(timed->cores[0].tile->l1d)->line, report, timed);
    for (size_t i = 0; i < builder->count; i++)
        if (builder->parts[i].instance->kind == &llc_kind)
            coherence_watch_llc(timed->coherence, builder->parts[i].object);
    for (unsigned i = 0; i < timed->count; i++) {
        const struct core_tile *tile = timed->cores[i].tile;
        coherence_watch_cache(timed->coherence, tile->l1i, tile->llc);
        coherence_watch_cache(timed->coherence, tile->l1d, tile->llc);
    }
}

/* Reads the text to which a marker points; "roi" if there is none or it is not readable. */
static void read_text(const struct hart *hart, char text[NAME])
{
    uint64_t address = hart->marker.value;
    unsigned length = 0;
    while (address && length < NAME - 1 && hart_memory_read(hart, address + length, &text[length], 1) &&
           text[length] >= ' ' && text[length] <= '~')
        length++;
    text[length] = '\0';
    if (length == 0)
        strcpy(text, "roi");
}

static void trace_marker(struct timed *timed, unsigned i, uint64_t now)
{
    char text[NAME];
    struct core_track *track = timed->cores[i].core->track;
    read_text(&timed->harts[i], text);
    switch (timed->harts[i].marker.code) {
    case CROFT_MARKER_ROI_BEGIN: core_track_region(track, text, true, now); break;
    case CROFT_MARKER_ROI_END: core_track_region(track, text, false, now); break;
    case CROFT_MARKER_TRACE_MARK: core_track_mark(track, text, now); break;
    default: break;
    }
}

void timed_switch_detail(struct timed *timed, unsigned i)
{
    struct core *core = timed->cores[i].core;
    if (core->warming != timed->warming)
        core_set_warming(core, timed->warming);
}

/* Sets the detail of all cores. Sleeping cores switch at once, others at their next stop; with several cores,
 * a yield requests that stop. */
static void set_detail(struct timed *timed, bool warming)
{
    timed->warming = warming;
    for (unsigned i = 0; i < timed->count; i++) {
        if (timed->cores[i].core->asleep)
            timed_switch_detail(timed, i);
        else if (timed->count > 1)
            hart_request_yield(&timed->harts[i]);
    }
}

/* Reads struct croft_allocation and passes it to the parts. Ignores one that is not readable. */
static void note_allocation(const struct timed *timed, const struct hart *hart)
{
    uint64_t words[2];
    if (hart_memory_read(hart, hart->marker.value, words, sizeof words))
        builder_allocated(&timed->builder, words[0], words[1]);
}

void timed_marker(struct timed *timed, unsigned i, uint64_t now)
{
    uint32_t code = timed->harts[i].marker.code;
    if (code == CROFT_MARKER_ALLOCATION)
        note_allocation(timed, &timed->harts[i]);
    if (timed->options.trace)
        trace_marker(timed, i, now);
    if (!timed->options.roi)
        return;
    timed->entered = timed->entered || code == CROFT_MARKER_ROI_BEGIN;
    if (code == CROFT_MARKER_ROI_BEGIN && timed->regions++ == 0)
        set_detail(timed, false);
    if (code == CROFT_MARKER_ROI_END && timed->regions > 0 && --timed->regions == 0)
        set_detail(timed, true);
}
