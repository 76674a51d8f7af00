/* The prefetcher of the last level: reads lines from memory for which no client has asked. */
#include <stdlib.h>

#include "emu/mem/llc/state.h"
#include "emu/sim/alloc.h"
#include "emu/sim/list.h"

void llc_prefetch_init(struct llc *llc)
{
    const struct llc_config *config = &llc->config;
    uint32_t line = config->line;
    /* If blocks are lines, the next line of this slice is as many lines away as there are slices. */
    bool by_line = config->interleave == LLC_BY_LINE && config->slices > 1 && config->slice_bytes <= line;
    prefetch_init(&llc->prefetcher,
                  &(struct prefetch_config){.kind = config->prefetch,
                                            .degree = config->prefetch_degree,
                                            .distance = config->prefetch_distance,
                                            .table = config->prefetch_table,
                                            .line = line,
                                            .step = by_line ? line * config->slices : line});
    if (config->prefetch == CACHE_PREFETCH_NONE)
        return;
    llc->prefetches = alloc(config->mshrs, sizeof *llc->prefetches);
    for (uint32_t i = config->mshrs; i-- > 0;) {
        llc->prefetches[i].next = llc->free_prefetches;
        llc->free_prefetches = &llc->prefetches[i];
    }
}

void llc_prefetch_free(struct llc *llc)
{
    for (uint32_t i = 0; llc->prefetches && i < llc->config.mshrs; i++)
        event_cancel(llc->queue, &llc->prefetches[i].entry.event);
    free(llc->prefetches);
    prefetch_free(&llc->prefetcher);
}

void llc_prefetch_done(struct llc *llc, struct llc_entry *entry)
{
    struct llc_prefetch *prefetch = CONTAINER_OF(entry, struct llc_prefetch, entry);
    struct llc_frame *frame = &llc->frames[entry->frame];
    frame->prefetched = frame->prefetching;
    frame->prefetching = false;
    prefetch->next = llc->free_prefetches;
    llc->free_prefetches = prefetch;
    llc->prefetches_used--;
}

/* Returns whether requests for the line come to this cache. Another slice, or the cache of another memory, has
 * other lines, and there may be no way from here to their memory. */
static bool is_own(const struct llc *llc, uint64_t line)
{
    const struct llc_share *share = &llc->share;
    return !share->has || share->has(share->context, share->number, line);
}

/* Returns a way for the line, or TAGS_NONE if a prefetch has to give way. */
static uint32_t find_way(struct llc *llc, uint64_t line, uint64_t now)
{
    if (!llc->free_prefetches || !llc_may_prefetch(llc) || llc_writing(llc, line))
        return TAGS_NONE;
    enum llc_lack lack;
    return llc_make_room(llc, line, true, now, &lack);
}

/* Requests a line from memory, with the requester and kind of `cause`. Returns false if the prefetch gives
 * way. */
static bool request_line(struct llc *llc, uint64_t line, const struct mem_request *cause, uint64_t now)
{
    uint32_t index = find_way(llc, line, now);
    if (index == TAGS_NONE) {
        llc->counters.prefetches_dropped++;
        return false;
    }
    struct llc_prefetch *prefetch = llc->free_prefetches;
    llc->free_prefetches = prefetch->next;
    llc->prefetches_used++;
    llc->counters.prefetches++;
    mem_request_init(&prefetch->request, MEM_READ, line, llc->config.line);
    prefetch->request.requester = cause->requester;
    prefetch->request.kind = cause->kind;
    prefetch->entry = (struct llc_entry){.llc = llc,
                                         .request = &prefetch->request,
                                         .event = prefetch->entry.event,
                                         .line = line,
                                         .asked = now,
                                         .frame = index,
                                         .client = LLC_NOBODY};
    tags_fill(&llc->tags, index, llc_key(llc, line), LLC_CLEAN);
    llc_line_changed(llc, line);
    llc_frame_changed(llc, index);
    llc->frames[index].busy = true;
    llc->frames[index].prefetching = true;
    llc_read_memory(llc, &prefetch->entry, now);
    return true;
}

void llc_prefetch_train(struct llc *llc, const struct mem_request *request, bool fresh, uint64_t now)
{
    uint64_t lines[PREFETCH_DEGREE];
    const struct mem_request cause = {.requester = request->requester, .kind = request->kind};
    unsigned count = prefetch_train(&llc->prefetcher, PREFETCH_NO_PC, request->address, fresh, lines);
    for (unsigned i = 0; i < count; i++) {
        if (!is_own(llc, lines[i])) {
            llc->prefetches_elsewhere++;
            continue;
        }
        if (llc_find(llc, lines[i]) != TAGS_NONE)
            continue;
        if (keep_out_has(llc->keep_out, lines[i], lines[i] + llc->config.line - 1)) {
            llc->counters.prefetches_dropped++;
            continue;
        }
        if (request_line(llc, lines[i], &cause, now))
            continue;
        prefetch_take_back(&llc->prefetcher, lines, i);
        return;
    }
}
