/* The instructions of neural units: words of configuration, inputs and results, and when they are there. */
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "emu/ngpu/part.h"
#include "emu/sim/alloc.h"
#include "emu/sim/text/say.h"
#include "emu/simt/warp.h"

/* Prints why an instruction traps; the environment then prints where. Returns false: the trap is that of an illegal instruction. */
static bool complain(const struct insn *insn, const struct warp *warp, unsigned lane, const struct error *err)
{
    char name[INSN_NAME_SIZE], who[48] = "";
    insn_spell(insn_table[insn->id].name, name);
    if (warp)
        (void)snprintf(who, sizeof who, " of thread %" PRIu64, warp_thread_id(warp, lane));
    say("%s%s: %s", name, who, err->text);
    return false;
}

/* Configuration. */

/* Reads the header of an image. Fails, and forgets the image, if no unit executes such a network. */
static bool read_header(struct ngpu *ngpu, struct error *err)
{
    struct network *network = alloc(1, sizeof *network);
    uint32_t words[NETWORK_HEADER + NETWORK_WEIGHTS] = {0};
    memcpy(words, ngpu->image, NETWORK_HEADER * sizeof *words);
    bool fine = network_read_image(network, words, NETWORK_HEADER + NETWORK_WEIGHTS, err);
    if (fine) {
        const uint32_t weights = (uint32_t)network_weights(network),
                       held = network->size[0] + network->size[network->layers];
        ngpu->image_wanted = (uint32_t)network_image_words(network);
        if (weights > ngpu->config.weights)
            fine = error_set(
                err, "the network has %" PRIu32 " weights, and the buffer holds %" PRIu32 " (ngpu.weights)",
                weights, ngpu->config.weights);
        else if (held > ngpu->config.buffer)
            fine = error_set(err,
                             "the network has %" PRIu32
                             " inputs and results, and a thread's buffers hold %" PRIu32 " (ngpu.buffer)",
                             held, ngpu->config.buffer);
    }
    free(network);
    return fine;
}

static void configure(struct ngpu *ngpu, uint64_t time)
{
    struct error err;
    (void)network_read_image(&ngpu->network, ngpu->image, ngpu->image_words, &err); /* its header is right */
    ngpu->work = network_work(&ngpu->network);
    ngpu->neurons = 0;
    for (unsigned layer = 1; layer <= ngpu->network.layers; layer++)
        ngpu->neurons += ngpu->network.size[layer];
    ngpu->number++;
    ngpu->ready = time + ngpu->config.message;
    ngpu->counters.configurations++;
}

static bool take_word(struct ngpu *ngpu, const struct custom_call *call)
{
    struct error err;
    ngpu->image[ngpu->image_words++] = (uint32_t)call->operand[0];
    if (ngpu->image_words == 1 && ngpu->image[0] != NETWORK_SIGNATURE) {
        ngpu->image_words = 0;
        (void)error_set(&err, "0x%08" PRIx32 " does not begin an image; the first word is 0x%08" PRIx32,
                        ngpu->image[0], NETWORK_SIGNATURE);
        return complain(call->insn, NULL, 0, &err);
    }
    if (ngpu->image_words == NETWORK_HEADER && !read_header(ngpu, &err)) {
        ngpu->image_words = ngpu->image_wanted = 0;
        return complain(call->insn, NULL, 0, &err);
    }
    if (ngpu->image_words == ngpu->image_wanted) {
        configure(ngpu, call->time);
        ngpu->image_words = ngpu->image_wanted = 0;
    }
    return true;
}

bool ngpu_instruction(void *context, struct custom_call *call)
{
    struct error err;
    if (call->insn->id == INSN_send__cfg_ngpu && call->hart)
        return take_word(context, call);
    (void)error_set(&err, "only %s",
                    call->hart ? "threads of multiprocessors have neural units"
                               : "a host core configures neural units");
    return complain(call->insn, call->warp, call->lane, &err);
}

/* Threads. */

/* Returns the words of a lane's thread. Words that an earlier thread has left in the same place, or that were sent for an earlier
 * network, are dropped. */
static struct ngpu_thread *thread_of(struct ngpu *ngpu, const struct warp *warp, unsigned lane)
{
    const struct warp_place *place = warp_where(warp);
    const size_t index = (size_t)place->stacks * CUSTOM_LANES + lane;
    const uint64_t launch = place->launch + 1, number = warp_thread_id(warp, lane);
    if (index >= ngpu->thread_count) {
        const size_t count = (index + 1) * 2;
        ngpu->threads = alloc_resize(ngpu->threads, count * sizeof *ngpu->threads);
        memset(ngpu->threads + ngpu->thread_count, 0, (count - ngpu->thread_count) * sizeof *ngpu->threads);
        ngpu->thread_count = count;
    }
    struct ngpu_thread *thread = &ngpu->threads[index];
    if (thread->launch != launch || thread->number != number) {
        thread->launch = launch;
        thread->number = number;
        thread->network = ngpu->number;
        thread->sent = thread->received = thread->results = 0;
    }
    return thread;
}

static bool can_send(const struct ngpu *ngpu, const struct ngpu_thread *thread, struct error *err)
{
    if (!ngpu->number)
        return error_set(err, "the units have no network: the host's send_cfg.ngpu must come first");
    if (thread->sent && thread->network != ngpu->number)
        return error_set(err, "another network was configured after %" PRIu32 " inputs of this thread",
                         thread->sent);
    return thread->received == thread->results ||
           error_set(err, "%" PRIu32 " results of the thread's last invocation were not received",
                     thread->results - thread->received);
}

static bool can_receive(const struct ngpu_thread *thread, struct error *err)
{
    return thread->received < thread->results ||
           error_set(err, "the thread has no result: it has sent %" PRIu32 " inputs since its last one",
                     thread->sent);
}

/* Begins the multiprocessor's next invocation, of `count` threads. Returns the time at which it ends. */
static uint64_t invoke(struct ngpu *ngpu, uint32_t multiprocessor, uint32_t count,
                       const struct custom_lanes *lanes)
{
    struct ngpu_counters *counters = &ngpu->counters;
    const uint64_t macs = ngpu->work.input_reads * count;
    uint64_t *sums[] = {[ARITH_SHA] = &counters->sha_iterations,
                        [ARITH_FXP] = &counters->fxp_macs,
                        [ARITH_FP] = &counters->fp_macs};
    *sums[ngpu->network.kind] += ngpu->network.kind == ARITH_SHA ? ngpu->work.clocks * count : macs;
    /* a weight for all lanes; for each lane an input of each step, its words sent and received, and hidden results */
    counters->words +=
        ngpu->work.input_reads + macs +
        (uint64_t)count * (ngpu->network.size[0] + ngpu->neurons + ngpu->network.size[ngpu->network.layers]);
    counters->invocations++;
    counters->threads += count;
    const uint64_t clocks = ngpu->work.clocks + (uint64_t)ngpu->neurons * ngpu->config.sigmoid_clocks;
    counters->busy_clocks += clocks;
    if (!lanes->waiter)
        return 0;
    if (multiprocessor >= ngpu->unit_count) {
        ngpu->free = alloc_resize(ngpu->free, (multiprocessor + 1) * sizeof *ngpu->free);
        memset(ngpu->free + ngpu->unit_count, 0,
               (multiprocessor + 1 - ngpu->unit_count) * sizeof *ngpu->free);
        ngpu->unit_count = multiprocessor + 1;
    }
    const struct clock *clock = &lanes->waiter->clock;
    uint64_t *free = &ngpu->free[multiprocessor];
    const uint64_t asked = lanes->time + clock_time(clock, ngpu->config.begin_clocks);
    uint64_t begin = asked > *free ? asked : *free;
    begin = clock_edge(clock, begin > ngpu->ready ? begin : ngpu->ready);
    counters->queue_clocks += (begin - asked) / clock->period;
    *free = begin + clock_time(clock, clocks);
    return *free;
}

static void send(struct ngpu *ngpu, const struct custom_lanes *lanes)
{
    const unsigned inputs = ngpu->network.size[0], results = ngpu->network.size[ngpu->network.layers];
    struct ngpu_thread *done[CUSTOM_LANES];
    uint32_t count = 0;
    for (uint32_t left = lanes->mask; left; left &= left - 1) {
        const unsigned lane = (unsigned)__builtin_ctz(left);
        struct ngpu_thread *thread = thread_of(ngpu, lanes->warp, lane);
        thread->network = ngpu->number;
        thread->words[thread->sent++] = (uint32_t)lanes->operand[0][lane];
        if (thread->sent == inputs)
            done[count++] = thread;
    }
    if (!count)
        return;
    const uint64_t time = invoke(ngpu, warp_where(lanes->warp)->multiprocessor, count, lanes);
    for (uint32_t i = 0; i < count; i++) {
        uint32_t outputs[NETWORK_NEURONS];
        network_evaluate(&ngpu->network, done[i]->words, outputs);
        memcpy(done[i]->words, outputs, results * sizeof *outputs);
        done[i]->sent = done[i]->received = 0;
        done[i]->results = results;
        done[i]->done = time;
    }
}

static void arrived(void *owner, uint64_t now)
{
    struct ngpu_wait *wait = owner;
    struct ngpu *ngpu = wait->ngpu;
    wait->next = ngpu->waits;
    ngpu->waits = wait;
    custom_done(wait->waiter, now);
}

static void wait_until(struct ngpu *ngpu, struct custom_waiter *waiter, uint64_t time)
{
    struct ngpu_wait *wait = ngpu->waits;
    if (wait) {
        ngpu->waits = wait->next;
    } else {
        wait = alloc(1, sizeof *wait);
        wait->ngpu = ngpu;
        wait->all = ngpu->all;
        ngpu->all = wait;
        event_init(&wait->event, ngpu->component, arrived, wait);
    }
    wait->waiter = custom_later(waiter);
    event_schedule(ngpu->queue, &wait->event, time);
}

static void receive(struct ngpu *ngpu, struct custom_lanes *lanes)
{
    uint64_t done = 0;
    for (uint32_t left = lanes->mask; left; left &= left - 1) {
        const unsigned lane = (unsigned)__builtin_ctz(left);
        struct ngpu_thread *thread = thread_of(ngpu, lanes->warp, lane);
        lanes->result[lane] = (uint64_t)(int32_t)thread->words[thread->received++];
        done = thread->done > done ? thread->done : done;
    }
    if (lanes->waiter && done > lanes->time)
        wait_until(ngpu, lanes->waiter, done);
}

bool ngpu_instruction_lanes(void *context, struct custom_lanes *lanes)
{
    struct ngpu *ngpu = context;
    struct error err;
    const bool sends = lanes->insn->id == INSN_send_ngpu;
    if (lanes->insn->id == INSN_send__cfg_ngpu) {
        (void)error_set(&err, "only a host core configures neural units");
        return complain(lanes->insn, lanes->warp, lanes->lane, &err);
    }
    for (uint32_t left = lanes->mask; left; left &= left - 1) {
        lanes->lane = (unsigned)__builtin_ctz(left);
        const struct ngpu_thread *thread = thread_of(ngpu, lanes->warp, lanes->lane);
        if (!(sends ? can_send(ngpu, thread, &err) : can_receive(thread, &err)))
            return complain(lanes->insn, lanes->warp, lanes->lane, &err);
    }
    if (sends)
        send(ngpu, lanes);
    else
        receive(ngpu, lanes);
    return true;
}
