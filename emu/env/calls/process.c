/* System calls on the process, its memory and time. */
#include <errno.h>
#include <signal.h>
#include <stdio.h>
#include <string.h>

#include "emu/env/calls/state.h"
#include "emu/env/guest/fault.h"
#include "emu/sim/mix.h"

enum {
    EPOCH = 1577836800, /* 2020-01-01 00:00:00 UTC: each program's start */
    NANOSECONDS = 1000000000,
    TICKS = 100, /* clock ticks per second (AT_CLKTCK) */
};

/* The kernel's struct timespec and struct timeval. */
struct guest_time {
    int64_t seconds, fraction;
};

int64_t call_exit(struct user *user, const uint64_t a[6])
{
    guest_end(user, (int)(a[0] & 0xff));
    return 0;
}

/* The kernel serves the call itself where threads can run (host/kernel/hosts.h). */
int64_t call_clone(struct user *user, const uint64_t a[6])
{
    (void)a;
    if (!user->warned_of_threads)
        guest_warn(user, "no host is left for another thread, so the program cannot start it: run it on a "
                         "machine with a clock and more hosts, as with -m ddr3 --set host.count=4; where "
                         "accelerators take tasks, also with --env kernel; without a clock, with --env "
                         "kernel -m virt --set harts=4");
    user->warned_of_threads = true;
    return -EAGAIN;
}

/* Returns whether a signal is ignored by default (the kernel's SIGCHLD, SIGCONT, SIGURG, SIGWINCH). */
static bool default_is_nothing(uint64_t number)
{
    return number == 17 || number == 18 || number == 23 || number == 28;
}

static int64_t send_signal(struct user *user, uint64_t number)
{
    enum { HANDLER_DEFAULT = 0, HANDLER_IGNORE = 1 };
    if (number >= GUEST_SIGNALS)
        return -EINVAL;
    uint64_t handler = user->signals[number].handler;
    if (number == 0 || handler == HANDLER_IGNORE ||
        (handler == HANDLER_DEFAULT && default_is_nothing(number)))
        return 0;
    if (handler != HANDLER_DEFAULT)
        guest_warn(user, "the program has a handler for signal %d, but handlers are never called",
                   (int)number);
    user->signal = (int)number;
    guest_end(user, fault_signal(user, (int)number));
    return 0;
}

int64_t call_kill(struct user *user, const uint64_t a[6])
{
    int32_t process = (int32_t)a[0];
    if (process != GUEST_PROCESS_ID && process != 0 && process != -GUEST_PROCESS_ID)
        return -ESRCH;
    return send_signal(user, a[1]);
}

int64_t call_tgkill(struct user *user, const uint64_t a[6])
{
    if ((int32_t)a[0] != GUEST_PROCESS_ID || (int32_t)a[1] != GUEST_PROCESS_ID)
        return -ESRCH;
    return send_signal(user, a[2]);
}

int64_t call_rt_sigaction(struct user *user, const uint64_t a[6])
{
    if (a[0] == 0 || a[0] >= GUEST_SIGNALS || a[3] != 8)
        return -EINVAL;
    if (a[1] && (a[0] == SIGKILL || a[0] == SIGSTOP))
        return -EINVAL;
    struct guest_signal old = user->signals[a[0]];
    const void *new = a[1] ? guest_readable(user, a[1], sizeof old) : NULL;
    if (a[1] && !new)
        return -EFAULT;
    if (a[2] && !guest_writable(user, a[2], sizeof old))
        return -EFAULT;
    if (new)
        memcpy(&user->signals[a[0]], new, sizeof old);
    return a[2] ? guest_put(user, a[2], &old, sizeof old) : 0;
}

int64_t call_rt_sigprocmask(struct user *user, const uint64_t a[6])
{
    enum { BLOCK = 0, UNBLOCK = 1, SET = 2 };
    uint64_t old = user->blocked_signals, set = 0;
    if (a[3] != 8)
        return -EINVAL;
    if (a[2] && !guest_writable(user, a[2], sizeof old))
        return -EFAULT;
    if (a[1]) {
        const void *from = guest_readable(user, a[1], 8);
        if (!from)
            return -EFAULT;
        memcpy(&set, from, 8);
        if (a[0] > SET)
            return -EINVAL;
        user->blocked_signals = a[0] == BLOCK ? old | set : a[0] == UNBLOCK ? old & ~set : set;
    }
    return a[2] ? guest_put(user, a[2], &old, sizeof old) : 0;
}

int64_t call_times(struct user *user, const uint64_t a[6])
{
    uint64_t ticks = guest_process_nanoseconds(user) / (NANOSECONDS / TICKS);
    const uint64_t times[4] = {ticks}; /* user, system, children's user, children's system */
    int64_t failed = a[0] ? guest_put(user, a[0], times, sizeof times) : 0;
    return failed ? failed : (int64_t)(guest_nanoseconds(user) / (NANOSECONDS / TICKS));
}

int64_t call_uname(struct user *user, const uint64_t a[6])
{
    /* sysname, nodename, release, version, machine, domainname */
    static const char names[6][65] = {"Linux", "undercroft", "5.10.0", "#1", "riscv64", "(none)"};
    return guest_put(user, a[0], names, sizeof names);
}

int64_t call_gettimeofday(struct user *user, const uint64_t a[6])
{
    uint64_t now = guest_nanoseconds(user);
    const struct guest_time time = {EPOCH + (int64_t)(now / NANOSECONDS),
                                    (int64_t)(now % NANOSECONDS / 1000)};
    const int32_t zone[2] = {0, 0}; /* minutes west of Greenwich, daylight saving time */
    int64_t failed = a[0] ? guest_put(user, a[0], &time, sizeof time) : 0;
    return !failed && a[1] ? guest_put(user, a[1], zone, sizeof zone) : failed;
}

/* Sets *nanoseconds to the time of one of Linux's clocks. Returns false if the clock is unknown. */
static bool read_clock(const struct user *user, uint64_t clock, uint64_t *nanoseconds)
{
    enum { REALTIME, MONOTONIC, PROCESS, THREAD, MONOTONIC_RAW, REALTIME_COARSE, MONOTONIC_COARSE, BOOTTIME };
    *nanoseconds = guest_nanoseconds(user);
    if (clock == PROCESS)
        *nanoseconds = guest_process_nanoseconds(user);
    if (clock == THREAD)
        *nanoseconds = guest_thread_nanoseconds(user);
    if (clock == REALTIME || clock == REALTIME_COARSE)
        *nanoseconds += UINT64_C(1) * EPOCH * NANOSECONDS;
    return clock <= BOOTTIME;
}

int64_t call_clock_gettime(struct user *user, const uint64_t a[6])
{
    uint64_t now;
    if (!read_clock(user, a[0], &now))
        return -EINVAL;
    const struct guest_time time = {(int64_t)(now / NANOSECONDS), (int64_t)(now % NANOSECONDS)};
    return guest_put(user, a[1], &time, sizeof time);
}

int64_t call_clock_getres(struct user *user, const uint64_t a[6])
{
    const struct guest_time resolution = {0, 1};
    uint64_t now;
    if (!read_clock(user, a[0], &now))
        return -EINVAL;
    return a[1] ? guest_put(user, a[1], &resolution, sizeof resolution) : 0;
}

int64_t call_time(struct user *user, const uint64_t a[6])
{
    const int64_t now = EPOCH + (int64_t)(guest_nanoseconds(user) / NANOSECONDS);
    int64_t failed = a[0] ? guest_put(user, a[0], &now, sizeof now) : 0;
    return failed ? failed : now;
}

/* Sleeps until a clock that shows `now` shows the guest's timespec at `address` (`absolute`), or for that
 * span. */
static int64_t sleep_until(struct user *user, uint64_t address, bool absolute, uint64_t now)
{
    struct guest_time time;
    const void *from = guest_readable(user, address, sizeof time);
    if (!from)
        return -EFAULT;
    memcpy(&time, from, sizeof time);
    if (time.seconds < 0 || time.fraction < 0 || time.fraction >= NANOSECONDS)
        return -EINVAL;
    const uint64_t longest = UINT64_C(1) << 32; /* in seconds; longer sleeps would wrap the clocks */
    uint64_t seconds = (uint64_t)time.seconds > longest ? longest : (uint64_t)time.seconds;
    uint64_t span = seconds * NANOSECONDS + (uint64_t)time.fraction;
    if (absolute)
        span = span > now ? span - now : 0;
    guest_sleep(user, span);
    return 0;
}

int64_t call_nanosleep(struct user *user, const uint64_t a[6])
{
    return sleep_until(user, a[0], false, 0);
}

int64_t call_clock_nanosleep(struct user *user, const uint64_t a[6])
{
    uint64_t now;
    if (!read_clock(user, a[0], &now))
        return -EINVAL;
    return sleep_until(user, a[2], a[1] & 1, now);
}

void call_random(struct user *user, uint8_t *bytes, uint64_t length)
{
    for (uint64_t i = 0; i < length; i += 8) {
        uint64_t value = mix_next(&user->random);
        memcpy(bytes + i, &value, length - i < 8 ? length - i : 8);
    }
}

int64_t call_getrandom(struct user *user, const uint64_t a[6])
{
    enum { RANDOM_MOST = 33554431 }; /* of one call (getrandom(2)) */
    const uint64_t length = a[1] < RANDOM_MOST ? a[1] : RANDOM_MOST;
    uint8_t *to = guest_reaches(user, a[0], a[1], true) ? guest_writable(user, a[0], length) : NULL;
    if (!to)
        return -EFAULT;
    call_random(user, to, length);
    return (int64_t)length;
}

/* Limits can be read but not changed. */
int64_t call_prlimit(struct user *user, const uint64_t a[6])
{
    enum { LIMIT_STACK = 3, LIMIT_FILES = 7, LIMIT_COUNT = 16 };
    if (a[1] >= LIMIT_COUNT)
        return -EINVAL;
    if (a[2])
        return -EPERM;
    uint64_t limit = UINT64_MAX;
    if (a[1] == LIMIT_STACK)
        limit = user->options->stack_size;
    if (a[1] == LIMIT_FILES)
        limit = FILES_MAX;
    const uint64_t soft_and_hard[2] = {limit, limit};
    return a[3] ? guest_put(user, a[3], soft_and_hard, sizeof soft_and_hard) : 0;
}

int64_t call_brk(struct user *user, const uint64_t a[6])
{
    return (int64_t)heap_break(&user->heap, a[0]);
}

int64_t call_mmap(struct user *user, const uint64_t a[6])
{
    enum { FIXED = 0x10, ANONYMOUS = 0x20, FIXED_NOREPLACE = 0x100000 };
    if (!(a[3] & ANONYMOUS))
        return -ENODEV;
    if (a[1] == 0 || (a[3] & (FIXED | FIXED_NOREPLACE)))
        return -EINVAL;
    uint64_t address = heap_map(&user->heap, a[1]);
    return address ? (int64_t)address : -ENOMEM;
}

int64_t call_munmap(struct user *user, const uint64_t a[6])
{
    return heap_unmap(&user->heap, a[0], a[1]) ? 0 : -EINVAL;
}

int64_t call_mremap(struct user *user, const uint64_t a[6])
{
    enum { MAY_MOVE = 1 };
    uint64_t old_size = (a[1] + GUEST_PAGE - 1) & ~(uint64_t)(GUEST_PAGE - 1);
    if (a[0] % GUEST_PAGE != 0 || a[2] == 0 || (a[3] & ~(uint64_t)MAY_MOVE) || old_size < a[1])
        return -EINVAL;
    if (old_size == 0 || !heap_is_mapped(&user->heap, a[0], old_size))
        return -EFAULT;
    uint64_t new_size = (a[2] + GUEST_PAGE - 1) & ~(uint64_t)(GUEST_PAGE - 1);
    if (new_size >= a[2] && new_size <= old_size) {
        if (new_size < old_size)
            (void)heap_unmap(&user->heap, a[0] + new_size, old_size - new_size);
        return (int64_t)a[0];
    }
    uint64_t address = a[3] & MAY_MOVE ? heap_map(&user->heap, a[2]) : 0;
    if (!address)
        return -ENOMEM;
    memcpy(guest_writable(user, address, old_size), guest_readable(user, a[0], old_size), old_size);
    (void)heap_unmap(&user->heap, a[0], old_size);
    return (int64_t)address;
}

int64_t call_flush_icache(struct user *user, const uint64_t a[6])
{
    (void)a;
    const struct system *system = user->hosts ? user->options->system : NULL;
    hart_flush_code(user->hart);
    for (unsigned i = 0; system && i < system->hosts; i++)
        hart_flush_code(&system->harts[i]);
    return 0;
}
