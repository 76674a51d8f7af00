/* The messages of AxRAM's instructions, from a core or warp to the controller and back. */
#include "emu/axram/part.h"
#include "emu/sim/alloc.h"

static uint64_t there(const struct axram *axram)
{
    return axram->config.message + axram->shared.dram->front_latency;
}

static uint64_t back(const struct axram *axram)
{
    return axram->config.message + axram->shared.dram->back_latency;
}

static void arrive(void *owner, uint64_t now)
{
    struct axram_job *job = owner;
    if (job->axram->check)
        axram_check_pushed(job->axram, job);
    axram_translate(job, now);
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

static void pipeline_pushed(struct mem_push *push, uint64_t now)
{
    struct axram_job *job = push->owner;
    job->push[0] = (struct mem_push){.done = l1_pushed, .owner = job};
    if (!cache_push(job->front->l1, &job->push[0]))
        l1_pushed(&job->push[0], now);
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
    job->push[0] = (struct mem_push){.done = pipeline_pushed, .owner = job};
    if (!simt_push(job->front->simt, &job->push[0]))
        pipeline_pushed(&job->push[0], now);
}

static void release(void *owner, uint64_t now)
{
    struct axram_job *job = owner;
    struct axram *axram = job->axram;
    const uint64_t tCK = axram->shared.dram->tCK;
    if (job->request.invokes)
        histogram_add(&axram->clocks, (now - job->asked) / tCK);
    job->waiting = false;
    job->next = axram->free;
    axram->free = job;
    custom_done(job->waiter, now);
}

static void answer(struct axram_job *job, uint64_t now)
{
    struct axram *axram = job->axram;
    event_init(&job->event, axram->component, release, job);
    event_schedule(axram->queue, &job->event, now + back(axram));
}

static void answered(struct axram_request *request, uint64_t now)
{
    axram_invalidate(request->owner, answer, now);
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
    job->number = axram->job_count++;
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
    job->chip = axram_home_of(axram, request->named[0].start);
    job->asked = time;
    job->front = number < axram->front_count ? &axram->fronts[number] : NULL;
    event_init(&job->event, axram->component, begin, job);
    event_schedule(axram->queue, &job->event, time);
}
