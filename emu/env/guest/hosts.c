#include "emu/env/guest/hosts.h"

#include <errno.h>
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "emu/env/guest/fault.h"
#include "emu/sim/alloc.h"
#include "emu/sim/text/say.h"

/* Numbers of registers, and Linux's of calls. */
enum { SP = 2, TP = 4, A0 = 10, A7 = 17 };
enum { N_EXIT = 93, N_SET_TID_ADDRESS = 96, N_FUTEX = 98, N_GETTID = 178, N_CLONE = 220 };

struct guest_host {
    bool runs;       /* it has a thread, */
    uint64_t thread; /* with this number, */
    uint64_t clear;  /* for which this word becomes 0 at its end, unless it is 0 itself */
    uint64_t awaits; /* the word for whose change the thread waits; 0: none */
    uint64_t since;  /* the order in which threads began to wait */
    bool woken;      /* the wait is over, and its call is served again */
};

struct guest_hosts {
    struct system *system;
    struct guest_host *each; /* each[system->hosts] */
    uint64_t threads, waits; /* numbers of the youngest thread, and of the last wait */
};

struct guest_hosts *guest_hosts_new(struct system *system)
{
    struct guest_hosts *hosts = alloc(1, sizeof *hosts);
    *hosts = (struct guest_hosts){
        .system = system, .each = alloc(system->hosts, sizeof *hosts->each), .threads = 1};
    hosts->each[0] = (struct guest_host){.runs = true, .thread = 1};
    return hosts;
}

void guest_hosts_free(struct guest_hosts *hosts)
{
    if (!hosts)
        return;
    free(hosts->each);
    free(hosts);
}

static bool set_word(struct user *user, uint64_t address, uint64_t value)
{
    const uint32_t word = (uint32_t)value;
    return address % sizeof word == 0 && guest_put(user, address, &word, sizeof word) == 0;
}

/* Wakes at most `most` threads that wait for a word, those that have waited longest first. Returns their number. */
static int64_t wake(struct user *user, uint64_t address, uint64_t most)
{
    struct guest_hosts *hosts = user->hosts;
    int64_t woken = 0;
    for (; (uint64_t)woken < most; woken++) {
        struct guest_host *first = NULL;
        for (unsigned i = 0; i < hosts->system->hosts; i++)
            if (hosts->each[i].awaits == address && (!first || hosts->each[i].since < first->since))
                first = &hosts->each[i];
        if (!first)
            break;
        first->awaits = 0;
        first->woken = true;
        guest_cpu_run(user, (unsigned)(first - hosts->each));
        system_resume(hosts->system, (unsigned)(first - hosts->each), true);
    }
    return woken;
}

/* FUTEX_WAIT without a time limit, and FUTEX_WAKE, with or without FUTEX_PRIVATE_FLAG. Sets *waits if the thread waits. */
static int64_t serve_futex(struct user *user, struct guest_host *self, const uint64_t a[6], bool *waits)
{
    enum { WAIT = 0, WAKE = 1, PRIVATE = 128 };
    uint64_t operation = (uint32_t)a[1] & ~(uint64_t)PRIVATE;
    uint32_t value;
    if (self->woken) {
        self->woken = false;
        return 0;
    }
    if (a[0] == 0 || a[0] % sizeof value != 0)
        return -EINVAL;
    if (operation == WAKE)
        return wake(user, a[0], (int32_t)a[2] > 0 ? (uint32_t)a[2] : 0);
    if (operation != WAIT || a[3] != 0)
        return -ENOSYS;
    const void *word = guest_readable(user, a[0], sizeof value);
    if (!word)
        return -EFAULT;
    memcpy(&value, word, sizeof value);
    if (value != (uint32_t)a[2])
        return -EAGAIN;
    self->awaits = a[0];
    self->since = ++user->hosts->waits;
    *waits = true;
    return 0;
}

/* Returns the first host without a thread; system->hosts: none. */
static unsigned idle_host(const struct guest_hosts *hosts)
{
    unsigned i = 0;
    while (i < hosts->system->hosts && hosts->each[i].runs)
        i++;
    return i;
}

/* clone(flags, stack, parent's word, tls, child's word). */
enum {
    CLONE_VM = 0x100,
    CLONE_THREAD = 0x10000,
    CLONE_SETTLS = 0x80000,
    CLONE_PARENT_SETTID = 0x100000,
    CLONE_CHILD_CLEARTID = 0x200000,
    CLONE_CHILD_SETTID = 0x1000000,
    CLONE_KNOWN = CLONE_VM | CLONE_THREAD | CLONE_SETTLS | CLONE_PARENT_SETTID | CLONE_CHILD_CLEARTID |
                  CLONE_CHILD_SETTID | 0x200 | 0x400 | 0x800 |
                  0x40000 /* CLONE_FS, CLONE_FILES, CLONE_SIGHAND, CLONE_SYSVSEM */
};

/* Gives a hart the state of a new thread, which begins behind the call. */
static void begin(struct hart *hart, const struct hart *caller, const uint64_t a[6])
{
    memcpy(hart->x, caller->x, sizeof hart->x);
    memcpy(hart->f, caller->f, sizeof hart->f);
    hart->fflags = caller->fflags;
    hart->frm = caller->frm;
    hart->pc = caller->pc + 4;
    hart->x[A0] = 0;
    hart->x[SP] = a[1];
    if (a[0] & CLONE_SETTLS)
        hart->x[TP] = a[3];
    hart_flush_code(hart);
}

static int64_t serve_clone(struct user *user, const uint64_t a[6])
{
    struct guest_hosts *hosts = user->hosts;
    if ((a[0] & ~(uint64_t)CLONE_KNOWN) || !(a[0] & CLONE_VM) || !(a[0] & CLONE_THREAD) || a[1] == 0)
        return -EINVAL;
    unsigned i = idle_host(hosts);
    if (i == hosts->system->hosts)
        return -EAGAIN;
    uint64_t thread = hosts->threads + 1;
    if (((a[0] & CLONE_PARENT_SETTID) && !set_word(user, a[2], thread)) ||
        ((a[0] & CLONE_CHILD_SETTID) && !set_word(user, a[4], thread)))
        return -EFAULT;
    hosts->each[i] =
        (struct guest_host){.runs = true, .thread = thread, .clear = a[0] & CLONE_CHILD_CLEARTID ? a[4] : 0};
    hosts->threads = thread;
    begin(&hosts->system->harts[i], user->hart, a);
    guest_cpu_run(user, i);
    system_resume(hosts->system, i, false);
    return (int64_t)thread;
}

static bool is_last(const struct guest_hosts *hosts)
{
    unsigned running = 0;
    for (unsigned i = 0; i < hosts->system->hosts; i++)
        running += hosts->each[i].runs;
    return running == 1;
}

/* Ends the host's thread: its hart sleeps until another thread begins. */
static void end_thread(struct user *user, struct guest_host *self)
{
    if (self->clear && set_word(user, self->clear, 0))
        (void)wake(user, self->clear, 1);
    self->runs = false;
    guest_cpu_end(user, user->hart->hartid);
    hart_retire_call(user->hart);
    system_suspend(user->hosts->system, user->hart->hartid);
}

bool guest_hosts_serve(struct user *user)
{
    struct hart *hart = user->hart;
    struct guest_host *self = &user->hosts->each[hart->hartid];
    const uint64_t *a = &hart->x[A0];
    int64_t result;
    bool waits = false;
    switch (hart->x[A7]) {
    case N_CLONE: result = serve_clone(user, a); break;
    case N_FUTEX: result = serve_futex(user, self, a, &waits); break;
    case N_SET_TID_ADDRESS:
        self->clear = a[0];
        result = (int64_t)self->thread;
        break;
    case N_GETTID: result = (int64_t)self->thread; break;
    case N_EXIT:
        if (is_last(user->hosts))
            return false;
        end_thread(user, self);
        guest_settle(user);
        return true;
    default: return false;
    }
    guest_settle(user);
    if (waits) {
        guest_cpu_pause(user, hart->hartid);
        system_suspend(user->hosts->system, hart->hartid);
        return true;
    }
    hart_retire_call(hart);
    hart->x[A0] = (uint64_t)result;
    return true;
}

int guest_hosts_report(struct user *user)
{
    const struct guest_hosts *hosts = user->hosts;
    char text[SYMBOLS_TEXT];
    bool waiting = false;
    for (unsigned i = 0; i < hosts->system->hosts; i++)
        waiting = waiting || hosts->each[i].awaits;
    if (!waiting)
        return fault_asleep(user, false);
    fprintf(say_stream(), "croft: %s: all threads wait, and nothing can wake them:\n",
            user->options->program);
    for (unsigned i = 0; i < hosts->system->hosts; i++) {
        const uint64_t pc = hosts->system->harts[i].pc;
        if (hosts->each[i].runs && hosts->each[i].awaits)
            fprintf(say_stream(), "  on host %u: for the word at 0x%" PRIx64 ", at 0x%" PRIx64 ", %s\n", i,
                    hosts->each[i].awaits, pc, symbols_describe(user->symbols, pc, text, sizeof text));
        else if (hosts->each[i].runs)
            fprintf(say_stream(), "  on host %u: asleep beyond the end of simulated time\n", i);
    }
    return 1;
}
