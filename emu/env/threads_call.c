/* Serves the system calls of threads and reports their traps. */
#include <errno.h>
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "emu/env/calls.h"
#include "emu/env/fault.h"
#include "emu/env/threads_state.h"
#include "emu/sim/alloc.h"

enum { A0 = 10, A7 = 17 };

static void settle(struct threads *threads)
{
    const struct warp_scratchpad *pad = warp_scratchpad(threads->caller);
    for (struct copy *copy = threads->copies, *next; copy; copy = next) {
        next = copy->next;
        if (copy->write)
            (void)warp_memory_store(launch_memory(threads->launch), pad, copy->address, copy->bytes,
                                    copy->length);
        free(copy);
    }
    threads->copies = NULL;
}

void *threads_view(struct threads *threads, uint64_t address, uint64_t length, bool write)
{
    if (!threads->caller)
        return NULL;
    const struct warp_scratchpad *pad = warp_scratchpad(threads->caller);
    if (length > launch_memory(threads->launch)->stack_size + pad->size)
        return NULL;
    struct copy *copy = alloc(1, sizeof *copy + length);
    *copy = (struct copy){threads->copies, address, length, write};
    if (!warp_memory_load(launch_memory(threads->launch), pad, address, copy->bytes, length)) {
        free(copy);
        return NULL;
    }
    threads->copies = copy;
    return copy->bytes;
}

/* The hart's own registers while it holds a lane's, from which calls and reports read them. */
struct registers {
    uint64_t x[32], pc;
};

static struct registers show_lane(struct hart *hart, const struct warp *warp, unsigned lane)
{
    struct registers kept = {.pc = hart->pc};
    memcpy(kept.x, hart->x, sizeof kept.x);
    for (unsigned i = 1; i < 32; i++)
        hart->x[i] = warp_register(warp, i, lane);
    hart->pc = warp_pc(warp, lane);
    return kept;
}

static void show_host(struct hart *hart, const struct registers *kept)
{
    memcpy(hart->x, kept->x, sizeof kept->x);
    hart->pc = kept->pc;
}

/* Returns whether the kernel serves the call: brk, munmap, mremap, mmap, mprotect, riscv_flush_icache (see
 * host/kernel/main.c). */
static bool is_kernels(uint64_t number)
{
    return (number >= 214 && number <= 216) || number == 222 || number == 226 || number == 259;
}

/* Returns whether the kernel has served the lane's call, with its result in *result. If not, requests it. */
static bool ask_kernel(struct threads *threads, const struct warp *warp, unsigned lane, uint64_t *result)
{
    if (threads->beside)
        return threads_take_answer(threads, warp, lane, result);
    if (threads->answered) {
        threads->answered = false;
        *result = threads->answer;
        warp_memory_forget(launch_memory(threads->launch));
        return true;
    }
    threads->asked[0] = warp_register(warp, A7, lane);
    for (unsigned i = 0; i < 6; i++)
        threads->asked[1 + i] = warp_register(warp, A0 + i, lane);
    return false;
}

bool threads_ask(struct threads *threads, uint64_t call[7])
{
    if (!threads || !threads->asked[0])
        return false;
    memcpy(call, threads->asked, sizeof threads->asked);
    threads->asked[0] = 0;
    return true;
}

void threads_answer(struct threads *threads, uint64_t result)
{
    threads->answered = true;
    threads->answer = result;
}

/* Returns whether there are missing bytes that the kernel can bring in. */
static bool can_bring(const struct user *user, const struct kernel_missing *missing)
{
    return missing->length > 0 && kernel_pages_allow(user->pages, missing->address,
                                                     missing->write ? CROFT_RANGE_WRITE : CROFT_RANGE_READ);
}

bool threads_serve(void *context, struct warp *warp, unsigned lane, uint64_t *result)
{
    struct threads *threads = context;
    struct user *user = threads->user;
    if (threads->system)
        system_quiet(threads->system); /* the call may print */
    threads->missing.length = 0;
    if (user->pages && is_kernels(warp_register(warp, A7, lane)))
        return ask_kernel(threads, warp, lane, result);
    struct registers kept = show_lane(user->hart, warp, lane);
    threads->caller = warp;
    *result = (uint64_t)calls_serve(user);
    guest_settle(user);
    threads->missing = (struct kernel_missing){0};
    if (user->pages)
        threads->missing = kernel_pages_settle(user->pages, true);
    settle(threads);
    threads->caller = NULL;
    show_host(user->hart, &kept);
    if (*result != (uint64_t)-EFAULT || !can_bring(user, &threads->missing))
        threads->missing.length = 0;
    return !user->ended && threads->missing.length == 0;
}

void threads_fault(void *context, struct warp *warp, const struct warp_report *report)
{
    struct threads *threads = context;
    struct user *user = threads->user;
    struct registers kept = show_lane(user->hart, warp, report->lane);
    if (threads->system)
        system_quiet(threads->system);
    const uint32_t *block = warp_where(warp)->block;
    uint32_t thread[3];
    warp_thread(warp, report->lane, thread);
    fprintf(stderr,
            "croft: %s: in thread (%" PRIu32 ", %" PRIu32 ", %" PRIu32 ") of block (%" PRIu32 ", %" PRIu32
            ", %" PRIu32 ") of launch %" PRIu64 ", lane %u of warp %" PRIu32 ":\n",
            user->options->program, thread[0], thread[1], thread[2], block[0], block[1], block[2],
            warp_where(warp)->launch, report->lane, warp_where(warp)->warp);
    uint64_t below;
    if (warp_overflowed(warp, report->lane, &below))
        fprintf(stderr,
                "croft: %s: stack overflow: sp is %" PRIu64
                " bytes below the end of the thread's stack of %" PRIu64
                " bytes: endless recursion, or is simt.stack too small?\n",
                user->options->program, below, threads->options->stack);
    user->hart->trap = report->trap;
    guest_end(user, fault_report(user));
    if (threads->system)
        system_exit(threads->system, user->status);
    show_host(user->hart, &kept);
}
