/* TLBs of the controllers (PACT 2018, section 7): where programs have virtual addresses, the controller that a region's address
 * names translates it. Its TLB is a first level of the multiprocessors' translation: the same size, the same second level, and
 * the same walkers, which read the page tables through memory. */
#include <assert.h>
#include <stdlib.h>

#include "emu/axram/part.h"
#include "emu/sim/alloc.h"
#include "emu/simt/mmu.h"

enum { PAGE = 4096 };

/* Returns the number of controllers, each of one chip. */
static uint32_t controllers(const struct axram *axram)
{
    return axram->chip_count / axram->config.halves;
}

uint32_t axram_home_of(const struct axram *axram, uint64_t address)
{
    const int64_t count = axram->chip_count;
    const int64_t piece = ((int64_t)(address / AXRAM_PIECE) - (int64_t)(axram->base / AXRAM_PIECE)) % count;
    return (uint32_t)(piece < 0 ? piece + count : piece);
}

static void request(struct axram_job *job)
{
    axram_team_request(&job->axram->teams[job->chip / job->axram->config.together], &job->request);
}

static void mapped(void *owner, uint64_t now)
{
    (void)now;
    request(owner);
}

static void page_done(void *context, uint32_t waiter, uint64_t now)
{
    struct axram *axram = context;
    struct axram_job *job = axram->all;
    (void)now;
    while (job->number != waiter)
        job = job->all;
    if (--job->unmapped == 0)
        request(job);
}

/* Looks up the pages of [start, end), one each clock of CK from *time on, but for those from `first` up to `last`. */
static void look(struct axram_job *job, struct axram_span span, uint64_t first, uint64_t last, uint64_t *time)
{
    struct axram *axram = job->axram;
    for (uint64_t page = span.start / PAGE; page <= (span.end - 1) / PAGE; page++) {
        if (page >= first && page <= last)
            continue;
        job->unmapped +=
            !simt_tlb_look(axram->tlbs[job->chip % controllers(axram)], page * PAGE, *time, job->number);
        *time += axram->shared.dram->tCK;
    }
}

void axram_translate(struct axram_job *job, uint64_t now)
{
    struct axram *axram = job->axram;
    const struct axram_span *named = job->request.named;
    uint64_t time = now;
    if (!axram->tlbs) {
        request(job);
        return;
    }
    assert(job->number < axram->most_jobs);
    job->unmapped = 0;
    look(job, named[0], 1, 0, &time);
    if (job->request.invokes)
        look(job, named[1], named[0].start / PAGE, (named[0].end - 1) / PAGE, &time);
    if (job->unmapped)
        return;
    event_init(&job->event, axram->component, mapped, job);
    event_schedule(axram->queue, &job->event, time);
}

void axram_make_tlbs(struct axram *axram, struct simt_mmu *mmu)
{
    axram->tlbs = alloc(controllers(axram), sizeof *axram->tlbs);
    for (uint32_t i = 0; i < controllers(axram); i++)
        axram->tlbs[i] = simt_tlb_new(mmu, axram->most_jobs, page_done, axram);
}

void axram_free_tlbs(struct axram *axram)
{
    for (uint32_t i = 0; axram->tlbs && i < controllers(axram); i++)
        simt_tlb_free(axram->tlbs[i]);
    free(axram->tlbs);
}

void axram_publish_tlbs(const struct axram *axram, struct stats *stats, const struct scope *scope)
{
    for (uint32_t i = 0; axram->tlbs && i < controllers(axram); i++)
        simt_tlb_publish(axram->tlbs[i], stats, scope_at(scope, "tlb", i));
}

void axram_tlb_energy(const struct axram *axram, struct energy_ledger *ledger, const struct scope *scope)
{
    for (uint32_t i = 0; axram->tlbs && i < controllers(axram); i++)
        simt_tlb_energy(axram->tlbs[i], ledger, scope_at(scope, "tlb", i), "simt.tlb.energy_l1");
}
