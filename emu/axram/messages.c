/* The messages of AxRAM's instructions, from a core or warp to the controller and back, and what they do to caches. */
#include <inttypes.h>
#include <stdio.h>

#include "emu/axram/part.h"
#include "emu/sim/alloc.h"

enum { MOST_MESSAGES = 5 };

static uint64_t there(const struct axram *axram)
{
    return axram->config.message + axram->shared.memory->common.config.front_latency;
}

static uint64_t back(const struct axram *axram)
{
    return axram->config.message + axram->shared.memory->common.config.back_latency;
}

static void arrive(void *owner, uint64_t now)
{
    struct axram_job *job = owner;
    (void)now;
    axram_chip_request(&job->axram->chips[job->chip], &job->request);
}

static void depart(struct axram_job *job, uint64_t now)
{
    struct axram *axram = job->axram;
    event_init(&job->event, axram->component, arrive, job);
    event_schedule(axram->queue, &job->event, now + there(axram));
}

static void slice_pushed(struct mem_push *push, uint64_t now)
{
    struct axram_job *job = push->owner;
    if (--job->unpushed == 0)
        depart(job, now);
}

static void l1_pushed(struct mem_push *push, uint64_t now)
{
    struct axram_job *job = push->owner;
    for (uint32_t i = 0; i < job->front->slice_count; i++) {
        struct mem_push *slice = &job->push[1 + i];
        *slice = (struct mem_push){.done = slice_pushed, .owner = job};
        job->unpushed += llc_push(job->front->slices[i], slice);
    }
    if (job->unpushed == 0)
        depart(job, now);
}

/* Pushes the stores of the instruction's multiprocessor, at the time of the instruction. */
static void begin(void *owner, uint64_t now)
{
    struct axram_job *job = owner;
    job->unpushed = 0;
    if (!job->front) {
        depart(job, now);
        return;
    }
    job->push[0] = (struct mem_push){.done = l1_pushed, .owner = job};
    if (!cache_push(job->front->l1, &job->push[0]))
        l1_pushed(&job->push[0], now);
}

static void release(void *owner, uint64_t now)
{
    struct axram_job *job = owner;
    struct axram *axram = job->axram;
    const uint64_t tCK = axram->shared.memory->common.config.tCK;
    if (job->request.invokes)
        histogram_add(&axram->clocks, (now - job->asked) / tCK);
    job->waiting = false;
    job->next = axram->free;
    axram->free = job;
    custom_done(job->waiter, now);
}

static void drop_line(const struct axram_front *front, uint64_t line, uint64_t now)
{
    cache_expire(front->l1, line, now);
    for (uint32_t i = 0; front->first && i < front->slice_count; i++)
        if (!front->by_line || line / cache_configuration(front->l1)->line % front->slice_count == i)
            llc_expire(front->slices[i], line, now);
}

/* Drops the lines of the results from the caches. Returns the clocks of CK that this takes. */
static uint64_t drop_lines(struct axram *axram, const struct axram_request *request, uint64_t now)
{
    if (!axram->config.invalidate || axram->front_count == 0 || !request->invokes)
        return 0;
    const uint32_t line = cache_configuration(axram->fronts[0].l1)->line;
    const uint64_t end =
        request->results + (uint64_t)request->topology.size[request->topology.layers] * AXRAM_BLOCK;
    uint64_t lines = 0;
    for (uint64_t at = request->results & ~(uint64_t)(line - 1); at < end; at += line, lines++)
        for (uint32_t i = 0; i < axram->front_count; i++)
            drop_line(&axram->fronts[i], at, now);
    axram->dropped += lines;
    axram->drop_clocks += lines * axram->config.drop_clocks;
    return lines * axram->config.drop_clocks;
}

/* Reports the result blocks of which a first-level cache still has a copy. Ordinary requests do not reach a chip while it is
 * taken, so such a copy is older than the results. */
static void check_copies(struct axram *axram, const struct axram_request *request)
{
    for (unsigned i = 0; request->invokes && i < request->topology.size[request->topology.layers]; i++)
        for (uint32_t j = 0; j < axram->front_count; j++) {
            const uint64_t line = request->results + (uint64_t)i * AXRAM_BLOCK;
            if (cache_line_state(axram->fronts[j].l1, line) == CACHE_INVALID ||
                axram->findings++ >= MOST_MESSAGES)
                continue;
            fprintf(stderr,
                    "croft: --check coherence: %s keeps an old copy of line 0x%" PRIx64
                    ", which wrt_res.axram has written\n",
                    cache_name(axram->fronts[j].l1), line);
        }
}

static void answered(struct axram_request *request, uint64_t now)
{
    struct axram_job *job = request->owner;
    struct axram *axram = job->axram;
    const uint64_t clocks = drop_lines(axram, request, now);
    if (axram->check)
        check_copies(axram, request);
    event_init(&job->event, axram->component, release, job);
    event_schedule(axram->queue, &job->event,
                   now + back(axram) + clocks * axram->shared.memory->common.config.tCK);
}

static struct axram_job *job_new(struct axram *axram)
{
    struct axram_job *job = axram->free;
    if (job) {
        axram->free = job->next;
        return job;
    }
    uint32_t slices = 0;
    for (uint32_t i = 0; i < axram->front_count; i++)
        slices = axram->fronts[i].slice_count > slices ? axram->fronts[i].slice_count : slices;
    job = alloc(1, sizeof *job);
    job->axram = axram;
    job->push = alloc(slices + 1, sizeof *job->push);
    job->all = axram->all;
    axram->all = job;
    return job;
}

void axram_enqueue(struct axram *axram, const struct axram_request *request,
                   const struct axram_thread *thread, uint64_t time, struct custom_waiter *waiter)
{
    if (!custom_halt(waiter)) {
        if (request->invokes)
            axram_execute(&axram->shared, request, NULL);
        return;
    }
    struct axram_job *job = job_new(axram);
    const uint32_t number = thread->warp ? warp_where(thread->warp)->multiprocessor : UINT32_MAX;
    job->request = *request;
    job->request.done = answered;
    job->request.owner = job;
    job->waiter = waiter;
    job->waiting = true;
    job->chip = axram_chip_of(axram, request->invokes ? request->results : request->configuration);
    job->asked = time;
    job->front = number < axram->front_count ? &axram->fronts[number] : NULL;
    event_init(&job->event, axram->component, begin, job);
    event_schedule(axram->queue, &job->event, time);
}
