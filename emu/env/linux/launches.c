/* Threads on multiprocessors: the program's threads launch kernels and wait for them, while others run. */
#include <errno.h>

#include "emu/env/calls.h"
#include "emu/env/linux/served.h"

static uint64_t take_stacks(void *context, uint64_t bytes)
{
    struct process *process = context;
    const uint64_t length = (bytes + FRAME - 1) / FRAME * FRAME;
    struct frame_range range;
    if (!frames_take(&process->space.frames, length, &range))
        return 0;
    if (range.end - range.first == length)
        return range.first;
    frames_give(&process->space.frames, range);
    return 0;
}

static uint64_t caller(void *context)
{
    const struct process *process = context;
    return (uint64_t)process->on[process->user->hart->hartid]->id;
}

static bool alternate(void *context)
{
    const struct process *process = context;
    const struct hart *hart = process->user->hart;
    return signal_stack_used(process->on[hart->hartid], hart->x[X_SP]);
}

/* Lets threads go on whose launches have ended. */
static void changed(void *context)
{
    struct process *process = context;
    for (struct thread *thread = process->threads; thread; thread = thread->next)
        if (thread->state == THREAD_WAITING && thread->wait == WAIT_LAUNCH &&
            threads_ready(process->user->threads, thread->wait_bits))
            thread_repeat(process, thread);
    threads_call_hosts(process);
}

static void tell(void *context)
{
    const struct process *process = context;
    for (const struct thread *thread = process->threads; thread; thread = thread->next)
        if (thread->state == THREAD_WAITING && thread->wait == WAIT_LAUNCH)
            threads_tell_thread(process->user->threads, (uint64_t)thread->id, thread->wait_bits);
}

/* Serves a call of a kernel's thread: those that neither wait nor concern the program's threads and memory. */
static int64_t serve(void *context)
{
    struct process *process = context;
    switch (process->user->hart->x[X_A7]) {
    case SIMT_CALL_LAUNCH:
    case SIMT_CALL_WAIT:
    case SIMT_CALL_QUERY: return threads_call(process->user);
    case LINUX_CALL_write:
    case LINUX_CALL_writev:
    case LINUX_CALL_exit:
    case LINUX_CALL_exit_group:
    case LINUX_CALL_getpid: return calls_serve(process->user);
    default:
        return call_refuse(process, process->user->hart->x[X_A7],
                           "is not one that threads of kernels can make");
    }
}

void launches_init(struct process *process)
{
    struct user *user = process->user;
    const struct user_options *options = process->options->user;
    if (!options->simt)
        return;
    process->scheduler = (struct threads_scheduler){.stacks = take_stacks,
                                                    .serve = serve,
                                                    .caller = caller,
                                                    .alternate = alternate,
                                                    .changed = changed,
                                                    .tell = tell,
                                                    .context = process};
    user->threads = threads_new(user, options->simt, &process->all, 0, &process->system, process->hosts);
    threads_schedule(user->threads, &process->scheduler);
    if (options->stats)
        threads_publish(user->threads, options->stats);
}

/* Returns the number of instructions that warps have executed on a machine without a clock, where each takes 1 ns. */
static uint64_t executed(const struct process *process)
{
    return process->options->user->simt->device ? 0 : launch_executed(threads_launch(process->user->threads));
}

int64_t linux_simt(struct process *process, struct thread *thread, const uint64_t a[6])
{
    (void)a;
    struct threads *threads = process->user->threads;
    uint64_t what;
    if (!threads)
        return -ENOSYS;
    const uint64_t before = executed(process);
    const int64_t result = threads_call(process->user);
    process->passed += executed(process) - before;
    if (process->user->ended)
        return LINUX_RETURNS;
    if (threads_turn(threads))
        return LINUX_TURNS;
    if (!threads_awaits(threads, &what))
        return result;
    if (threads_ready(threads, what))
        return LINUX_TURNS;
    thread_wait(process, thread, WAIT_LAUNCH, LINUX_NEVER, 0);
    thread->wait_bits = what;
    return LINUX_WAITS;
}
