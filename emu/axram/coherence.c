/* What --check coherence looks for: stores that have not reached memory when a chip reads their lines, and first-level copies of
 * results that are older than these. */
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>

#include "emu/axram/part.h"
#include "emu/sim/alloc.h"
#include "emu/sim/text/say.h"

enum { MOST_MESSAGES = 5 };

uint32_t axram_line_bytes(const struct axram *axram)
{
    return cache_configuration(axram->fronts[0].l1)->line;
}

/* Returns whether a store to the line, of the multiprocessor or of another one with the same second level, has not reached memory. */
static bool is_on_its_way(const struct axram_front *front, uint64_t line)
{
    if (simt_storing(front->simt, line) || cache_writing(front->l1, line))
        return true;
    for (uint32_t i = 0; i < front->slice_count; i++)
        if (llc_writing(front->slices[i], line))
            return true;
    return false;
}

void axram_check_pushed(struct axram *axram, const struct axram_job *job)
{
    const struct axram_request *request = &job->request;
    if (!job->front)
        return;
    const uint64_t bytes = axram_line_bytes(axram),
                   first = request->invokes ? request->inputs : request->configuration;
    const uint64_t blocks =
        request->invokes ? request->topology.size[0] : axram_layout_of(&request->topology).blocks;
    for (uint64_t line = first & ~(bytes - 1); line < first + blocks * AXRAM_BLOCK; line += bytes)
        if (is_on_its_way(job->front, line) && axram->unpushed++ < MOST_MESSAGES)
            fprintf(say_stream(),
                    "croft: --check coherence: chip %" PRIu32 " reads line 0x%" PRIx64
                    " for %s, and memory does not have its stores yet\n",
                    job->chip, line, simt_name(job->front->simt));
}

bool *axram_copy_of(const struct axram_job *job, uint64_t line, uint32_t front)
{
    return &job->copies[(line - job->first_line) / axram_line_bytes(job->axram) * job->axram->front_count +
                        front];
}

/* Notes which first-level caches have copies of the results' lines: those that are older than the results. */
void axram_note_copies(struct axram_job *job)
{
    const struct axram *axram = job->axram;
    const uint32_t bytes = axram_line_bytes(axram);
    const uint64_t lines = (job->line_end - job->first_line + bytes - 1) / bytes;
    job->copies = alloc(lines * axram->front_count, sizeof *job->copies);
    for (uint64_t line = job->first_line; line < job->line_end; line += bytes)
        for (uint32_t i = 0; i < axram->front_count; i++)
            *axram_copy_of(job, line, i) = cache_line_state(axram->fronts[i].l1, line) != CACHE_INVALID;
}

/* Reports the copies that nothing has dropped. */
void axram_report_copies(struct axram_job *job)
{
    struct axram *axram = job->axram;
    for (uint64_t line = job->first_line; line < job->line_end; line += axram_line_bytes(axram))
        for (uint32_t i = 0; i < axram->front_count; i++) {
            if (!*axram_copy_of(job, line, i) || axram->old++ >= MOST_MESSAGES)
                continue;
            fprintf(say_stream(),
                    "croft: --check coherence: %s keeps an old copy of line 0x%" PRIx64
                    ", which wrt_res.axram has written\n",
                    cache_name(axram->fronts[i].l1), line);
        }
    free(job->copies);
    job->copies = NULL;
}

uint64_t axram_findings(const void *part)
{
    const struct axram *axram = part;
    if (axram->unpushed)
        fprintf(say_stream(),
                "croft: --check coherence: chips read %" PRIu64 " lines before stores had reached memory\n",
                axram->unpushed);
    if (axram->old)
        fprintf(say_stream(), "croft: --check coherence: %" PRIu64 " old copies of results\n", axram->old);
    return axram->unpushed + axram->old;
}
