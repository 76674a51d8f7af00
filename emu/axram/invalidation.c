/* How the copies of results leave the caches: the controller tells the slice of each line, and the slice the multiprocessors, by
 * messages over the crossbar. */
#include "emu/axram/part.h"
#include "emu/sim/alloc.h"
#include "emu/simt/cluster.h"

static void finish(struct axram_job *job, uint64_t now)
{
    struct axram *axram = job->axram;
    if (axram->check)
        axram_report_copies(job);
    job->dropped(job, now);
}

static void finish_drops(struct axram_job *job, uint64_t now)
{
    struct axram *axram = job->axram;
    const uint64_t tCK = axram->shared.dram->tCK;
    axram->drop_clocks += (now - job->written + tCK - 1) / tCK;
    finish(job, now);
}

/* Drops the line in the first-level caches of the front's input. */
static void drop(struct axram_job *job, const struct axram_front *front, uint64_t line, uint64_t now)
{
    const struct axram *axram = job->axram;
    uint32_t i = (uint32_t)(front - axram->fronts);
    do {
        cache_expire(axram->fronts[i].l1, line, now);
        if (job->copies)
            *axram_copy_of(job, line, i) = false;
    } while (++i < axram->front_count && !axram->fronts[i].heads);
}

static bool arrived(void *client, struct mem_link *link, struct mem_request *request, uint64_t now)
{
    struct axram_signal *signal = client;
    struct axram_job *job = signal->job;
    struct axram *axram = job->axram;
    (void)link;
    drop(job, signal->front, request->address, now);
    signal->next = axram->free_signals;
    axram->free_signals = signal;
    if (--job->unheard == 0)
        finish_drops(job, now);
    return true;
}

static struct axram_signal *signal_new(struct axram *axram)
{
    static const struct mem_client_ops ops = {.respond = arrived};
    struct axram_signal *signal = axram->free_signals;
    if (signal) {
        axram->free_signals = signal->next;
        return signal;
    }
    signal = alloc(1, sizeof *signal);
    signal->link = (struct mem_link){.client_ops = &ops, .client = signal};
    signal->all = axram->all_signals;
    axram->all_signals = signal;
    return signal;
}

static void send(struct axram_job *job, const struct axram_front *front, uint64_t line, uint32_t bytes,
                 uint64_t now)
{
    struct axram_signal *signal = signal_new(job->axram);
    mem_request_init(&signal->request, MEM_INVALIDATE, line, bytes);
    signal->request.route[signal->request.depth++] = &signal->link;
    signal->front = front;
    signal->job = job;
    job->unheard++;
    job->axram->signals++;
    simt_cluster_signal(front->cluster, front->input, &signal->request, now);
}

/* Drops one line, and comes again for the next. */
static void next_line(void *owner, uint64_t now)
{
    struct axram_job *job = owner;
    struct axram *axram = job->axram;
    const uint32_t bytes = axram_line_bytes(axram);
    for (uint32_t i = 0; i < axram->front_count; i++) {
        const struct axram_front *front = &axram->fronts[i];
        for (uint32_t j = 0; front->first && j < front->slice_count; j++)
            if (!front->by_line || job->line / bytes % front->slice_count == j)
                llc_expire(front->slices[j], job->line, now);
        if (front->heads && front->input == UINT32_MAX)
            drop(job, front, job->line, now);
        else if (front->heads)
            send(job, front, job->line, bytes, now);
    }
    axram->dropped++;
    job->line += bytes;
    if (job->line < job->line_end)
        event_schedule(axram->queue, &job->event, now + axram->config.drop_clocks * axram->shared.dram->tCK);
    else if (--job->unheard == 0)
        finish_drops(job, now);
}

void axram_invalidate(struct axram_job *job, void (*done)(struct axram_job *job, uint64_t now), uint64_t now)
{
    struct axram *axram = job->axram;
    const struct axram_request *request = &job->request;
    if (axram->front_count == 0 || !request->invokes) {
        done(job, now);
        return;
    }
    job->dropped = done;
    job->written = now;
    job->line = job->first_line = request->results & ~(uint64_t)(axram_line_bytes(axram) - 1);
    job->line_end =
        request->results + (uint64_t)request->topology.size[request->topology.layers] * AXRAM_BLOCK;
    if (axram->check)
        axram_note_copies(job);
    if (!axram->config.invalidate) {
        finish(job, now);
        return;
    }
    job->unheard = 1;
    event_init(&job->event, axram->component, next_line, job);
    event_schedule(axram->queue, &job->event, now + axram->config.drop_clocks * axram->shared.dram->tCK);
}
