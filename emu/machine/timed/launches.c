#include "emu/machine/launches.h"

#include "emu/machine/timed/simt.h"

static void bind(void *timed, struct warp_memory *memory, const struct grid_host *host,
                 timed_launch_fault *fault, void *fault_context)
{
    timed_simt_bind(timed, memory, host, fault, fault_context);
}

static bool possible(void *timed, const struct grid_launch *launch, uint32_t halves)
{
    return timed_simt_possible(timed, launch, halves);
}

static bool start(void *timed, const struct grid_launch *launch, uint32_t halves, uint64_t queue)
{
    return timed_simt_launch(timed, launch, halves, queue, launch->number);
}

static bool wait(void *timed, uint64_t number)
{
    return timed_simt_wait(timed, number);
}

static const struct simt_counters *counted(void *timed, uint32_t multiprocessor)
{
    return timed_simt_counted(timed, multiprocessor);
}

static bool ready(void *timed, uint64_t number)
{
    return timed_simt_ready(timed, number);
}

static bool pending(void *timed, uint64_t number, struct grid_pending *described)
{
    return timed_simt_pending(timed, number, described);
}

static void resume(void *timed, struct custom_waiter *waiter)
{
    timed_simt_resume(timed, waiter);
}

static void forget(void *timed)
{
    timed_simt_forget(timed);
}

static struct warp *warp(void *timed, uint32_t number)
{
    return timed_simt_warp(timed, number);
}

static void moved(void *timed)
{
    timed_simt_moved(timed);
}

void launches_join(struct timed_launch *launches, struct timed *timed)
{
    launches->machine = (struct timed_launch_machine){.bind = bind,
                                                      .possible = possible,
                                                      .launch = start,
                                                      .wait = wait,
                                                      .counted = counted,
                                                      .ready = ready,
                                                      .pending = pending,
                                                      .resume = resume,
                                                      .forget = forget,
                                                      .warp = warp,
                                                      .moved = moved,
                                                      .context = timed};
}
