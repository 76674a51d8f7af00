/* Signals: queues, delivery to handlers, and what becomes of those without one. */
#include <errno.h>
#include <inttypes.h>
#include <signal.h>
#include <string.h>

#include "emu/core/tasks.h"
#include "emu/env/guest/fault.h"
#include "emu/env/linux/state.h"
#include "emu/machine/scheduler.h"
#include "emu/sim/text/say.h"

enum { HANDLER_DEFAULT = 0, HANDLER_IGNORE = 1 };

/* Flags of actions and of alternate stacks (asm-generic/signal.h). */
#define ACTION_ONSTACK   UINT64_C(0x08000000)
#define ACTION_RESTART   UINT64_C(0x10000000)
#define ACTION_NODEFER   UINT64_C(0x40000000)
#define ACTION_RESETHAND UINT64_C(0x80000000)
enum { STACK_USED = 1, STACK_DISABLED = 2 };

/* The frame on the handler's stack (arch/riscv/include/uapi/asm/ucontext.h, sigcontext.h). */
struct signal_frame {
    int32_t number, error, code, pad;
    union {
        struct {
            int32_t sender, user;
            uint64_t value;
        } sent;
        uint64_t address;
        uint8_t bytes[112];
    } info;
    uint64_t flags, link, stack, stack_flags, stack_size;
    uint64_t mask, unused[15], align;
    uint64_t pc, x[31];
    uint64_t f[32];
    uint32_t fcsr;
    uint32_t reserved[67];
};

_Static_assert(sizeof(struct signal_frame) == 1088, "as the kernel's");

static uint64_t bit(int number)
{
    return UINT64_C(1) << (number - 1);
}

/* Returns whether a signal does nothing by default (SIGCHLD, SIGCONT, SIGURG, SIGWINCH); stopping is not modelled. */
static bool default_is_nothing(int number)
{
    return number == 17 || number == 18 || number == 23 || number == 28 || (number >= 20 && number <= 22);
}

static bool is_ignored(const struct process *process, int number)
{
    const uint64_t handler = process->user->signals[number].handler;
    return handler == HANDLER_IGNORE || (handler == HANDLER_DEFAULT && default_is_nothing(number));
}

static void append(struct signal_queue *queue, const struct queued_signal *signal)
{
    enum { FIRST_QUEUED = 32 }; /* lower numbers wait once at most */
    if (queue->count == LINUX_QUEUED ||
        (signal->number < FIRST_QUEUED && (queue->pending & bit(signal->number))))
        return;
    queue->pending |= bit(signal->number);
    queue->signals[queue->count++] = *signal;
}

/* Takes the first signal of the lowest number in `set`. */
static bool take(struct signal_queue *queue, uint64_t set, struct queued_signal *signal)
{
    if (!(queue->pending & set))
        return false;
    const int number = __builtin_ctzll(queue->pending & set) + 1;
    size_t i = 0, more = 0;
    while (queue->signals[i].number != number)
        i++;
    *signal = queue->signals[i];
    queue->count--;
    memmove(&queue->signals[i], &queue->signals[i + 1], (queue->count - i) * sizeof *signal);
    for (i = 0; i < queue->count; i++)
        more += queue->signals[i].number == number;
    if (more == 0)
        queue->pending &= ~bit(number);
    return true;
}

bool signal_add_overrun(struct process *process, struct thread *thread, int32_t timer, uint64_t expiries)
{
    struct signal_queue *queue = thread ? &thread->signals : &process->signals;
    for (size_t i = 0; i < queue->count; i++) {
        struct queued_signal *signal = &queue->signals[i];
        if (signal->code != LINUX_SIGNAL_TIMER || signal->sender != timer)
            continue;
        signal->user += (int32_t)expiries;
        return true;
    }
    return false;
}

bool signal_take(struct process *process, struct thread *thread, uint64_t set, struct queued_signal *signal)
{
    return take(&thread->signals, set, signal) || take(&process->signals, set, signal);
}

bool signal_is_due(const struct process *process, const struct thread *thread)
{
    uint64_t set = (thread->signals.pending | process->signals.pending) & ~thread->blocked;
    for (; set; set &= set - 1)
        if (!is_ignored(process, __builtin_ctzll(set) + 1))
            return true;
    return false;
}

int64_t signal_put_info(struct process *process, uint64_t address, const struct queued_signal *signal)
{
    const struct signal_frame frame = {.number = signal->number,
                                       .code = signal->code,
                                       .info.sent = {signal->sender, signal->user, signal->value}};
    return address_space_write(&process->space, address, &frame, 128) ? 0 : -EFAULT;
}

/* Lets a waiting thread see a signal: it takes it, repeats its call, or returns from it. */
static void interrupt(struct process *process, struct thread *thread, int number)
{
    struct queued_signal signal;
    if (thread->wait == WAIT_SIGNAL && (thread->wait_bits & bit(number)) &&
        signal_take(process, thread, thread->wait_bits, &signal)) {
        if (thread->info_address)
            (void)signal_put_info(process, thread->info_address, &signal);
        thread_wake(process, thread, signal.number);
        return;
    }
    if (!signal_is_due(process, thread))
        return;
    if ((thread->wait == WAIT_AGAIN || thread->wait == WAIT_POLL) && thread->moved > 0) { /* a part is done */
        const int64_t moved = (int64_t)thread->moved;
        thread->moved = 0;
        thread_wake(process, thread, moved);
        return;
    }
    bool restarts = thread->wait == WAIT_AGAIN || (thread->wait == WAIT_POLL && thread->reads) ||
                    (thread->wait == WAIT_FUTEX && thread->deadline == LINUX_NEVER);
    if (thread->wait == WAIT_LAUNCH || thread->wait == WAIT_LOCK ||
        (restarts && (process->user->signals[number].flags & ACTION_RESTART)))
        thread_repeat(process, thread);
    else
        thread_wake(process, thread, -EINTR);
}

/* Returns the thread that takes a signal to the process: one that waits for it, the first that does not block it, or
 * NULL. */
static struct thread *taker(const struct process *process, int number)
{
    for (struct thread *t = process->threads; t; t = t->next)
        if (t->state == THREAD_WAITING && t->wait == WAIT_SIGNAL && (t->wait_bits & bit(number)))
            return t;
    for (struct thread *t = process->threads; t; t = t->next)
        if (!(t->blocked & bit(number)))
            return t;
    return NULL;
}

void signal_send(struct process *process, struct thread *thread, const struct queued_signal *signal)
{
    const int number = signal->number;
    struct thread *to = thread ? thread : taker(process, number);
    bool wanted =
        to && to->state == THREAD_WAITING && to->wait == WAIT_SIGNAL && (to->wait_bits & bit(number));
    bool blocked = !to || (to->blocked & bit(number)); /* without `to`, all threads block it */
    if (is_ignored(process, number) && !wanted && !blocked)
        return;
    append(thread ? &thread->signals : &process->signals, signal);
    if (to && to->state == THREAD_WAITING && (wanted || !blocked))
        interrupt(process, to, number);
    else if (to && to->state == THREAD_RUNNING)
        system_set_interrupt(&process->system, to->host, process->irq, true);
    if (process->reads_signals)
        threads_repeat(process);
}

bool signal_stack_used(const struct thread *thread, uint64_t sp)
{
    return thread->stack_size && sp > thread->stack && sp - thread->stack <= thread->stack_size;
}

static void fill_frame(const struct process *process, const struct thread *thread, const struct hart *hart,
                       const struct queued_signal *signal, struct signal_frame *frame)
{
    (void)process;
    *frame = (struct signal_frame){
        .number = signal->number,
        .code = signal->code,
        .stack = thread->stack,
        .stack_flags = thread->stack_size == 0                    ? STACK_DISABLED
                       : signal_stack_used(thread, hart->x[X_SP]) ? STACK_USED
                                                                  : 0,
        .stack_size = thread->stack_size,
        .mask = thread->restores ? thread->saved_blocked : thread->blocked,
        .pc = hart->priv.mepc,
        .fcsr = (uint32_t)(hart->frm << 5 | hart->fflags),
    };
    if (signal->code > 0 && signal->code < 128)
        frame->info.address = signal->value;
    else
        frame->info.sent.sender = signal->sender, frame->info.sent.user = signal->user,
        frame->info.sent.value = signal->value;
    memcpy(frame->x, &hart->x[1], sizeof frame->x);
    memcpy(frame->f, hart->f, sizeof frame->f);
}

void signal_kill(struct process *process, struct hart *hart, int number)
{
    struct user *user = process->user;
    if (user->ended)
        return;
    hart->pc = hart->priv.mepc;
    hart->privilege = PRIV_U; /* the report reads the program's memory */
    priv_changed(hart);
    user->hart = hart;
    user->signal = number;
    guest_end(user, fault_signal(user, number));
}

/* Ends a call that has waited and would come again: a handler may make such calls, too. It has moved bytes, is interrupted, or begins
 * anew. */
static void end_call(struct thread *thread, struct hart *hart, uint64_t flags)
{
    const bool limited = thread->poll_deadline != LINUX_NEVER;
    const bool restarts = thread->reads && !limited && (flags & ACTION_RESTART);
    if (thread->moved > 0 || (thread->poll_deadline != 0 && !restarts)) {
        hart->x[X_A0] = thread->moved > 0 ? thread->moved : (uint64_t)-EINTR;
        hart->priv.mepc += 4;
    }
    thread->moved = thread->poll_deadline = 0;
}

/* Enters the handler. */
static void enter(struct process *process, struct thread *thread, struct hart *hart,
                  const struct queued_signal *signal)
{
    struct guest_signal *action = &process->user->signals[signal->number];
    struct signal_frame frame;
    uint64_t sp = hart->x[X_SP];
    end_call(thread, hart, action->flags);
    if ((action->flags & ACTION_ONSTACK) && thread->stack_size && !signal_stack_used(thread, sp))
        sp = thread->stack + thread->stack_size;
    sp = (sp - sizeof frame) & ~UINT64_C(15);
    fill_frame(process, thread, hart, signal, &frame);
    const struct space_map *map = address_space_find(&process->space, sp);
    if (!map || !(map->protection & SPACE_WRITE) ||
        !address_space_write(&process->space, sp, &frame, sizeof frame)) {
        signal_kill(process, hart, SIGSEGV);
        return;
    }
    hart->x[X_RA] = process->trampoline;
    hart->x[X_SP] = sp;
    hart->x[X_A0] = (uint64_t)signal->number;
    hart->x[X_A1] = sp;
    hart->x[X_A2] = sp + offsetof(struct signal_frame, flags);
    hart->priv.mepc = action->handler;
    thread->restores = false;
    thread->blocked |= action->mask | (action->flags & ACTION_NODEFER ? 0 : bit(signal->number));
    thread->blocked &= ~(bit(SIGKILL) | bit(SIGSTOP));
    if (action->flags & ACTION_RESETHAND)
        action->handler = HANDLER_DEFAULT;
}

void signals_deliver(struct process *process, struct thread *thread, struct hart *hart)
{
    struct queued_signal signal;
    while (!process->user->ended && signal_take(process, thread, ~thread->blocked, &signal)) {
        if (is_ignored(process, signal.number))
            continue;
        if (process->user->signals[signal.number].handler == HANDLER_DEFAULT)
            signal_kill(process, hart, signal.number);
        else
            enter(process, thread, hart, &signal);
    }
    if (thread->restores) {
        thread->blocked = thread->saved_blocked;
        thread->restores = false;
    }
}

int64_t signal_return(struct process *process, struct thread *thread)
{
    struct hart *hart = &process->system.harts[thread->host];
    struct signal_frame frame;
    if (!address_space_read(&process->space, hart->x[X_SP], &frame, sizeof frame)) {
        signal_kill(process, hart, SIGSEGV);
        return LINUX_RETURNS;
    }
    thread->blocked = frame.mask & ~(bit(SIGKILL) | bit(SIGSTOP));
    memcpy(&hart->x[1], frame.x, sizeof frame.x);
    memcpy(hart->f, frame.f, sizeof frame.f);
    hart->fflags = frame.fcsr & 31;
    hart->frm = frame.fcsr >> 5 & 7;
    hart->priv.mepc = frame.pc & ~UINT64_C(1);
    thread->stack = frame.stack;
    thread->stack_size = frame.stack_flags & STACK_DISABLED ? 0 : frame.stack_size;
    hart->reserved = false;
    priv_changed(hart);
    return LINUX_RETURNS;
}

/* Returns the signal of a trap, with its code. */
static struct queued_signal signal_of(const struct process *process, uint64_t cause, uint64_t value,
                                      uint64_t pc)
{
    enum { ILL_ILLOPC = 1, TRAP_BRKPT = 1, SEGV_MAPERR = 1, SEGV_ACCERR = 2, BUS_ADRALN = 1, BUS_ADRERR = 2 };
    switch (cause) {
    case TRAP_ILLEGAL_INSTRUCTION:
        return (struct queued_signal){.number = SIGILL, .code = ILL_ILLOPC, .value = pc};
    case TRAP_BREAKPOINT: return (struct queued_signal){.number = SIGTRAP, .code = TRAP_BRKPT, .value = pc};
    case TRAP_FETCH_MISALIGNED:
    case TRAP_LOAD_MISALIGNED:
    case TRAP_STORE_MISALIGNED:
        return (struct queued_signal){.number = SIGBUS, .code = BUS_ADRALN, .value = value};
    default: {
        const struct space_map *map = address_space_find(&process->space, value);
        if (map && map->beyond && map->protection)
            return (struct queued_signal){.number = SIGBUS, .code = BUS_ADRERR, .value = value};
        return (struct queued_signal){
            .number = SIGSEGV, .code = map ? SEGV_ACCERR : SEGV_MAPERR, .value = value};
    }
    }
}

void signal_fault(struct process *process, struct thread *thread, struct hart *hart)
{
    struct user *user = process->user;
    const struct trap trap = {(enum trap_cause)hart->priv.mcause, hart->priv.mtval};
    const struct queued_signal signal = signal_of(process, trap.cause, trap.value, hart->priv.mepc);
    if (user->signals[signal.number].handler > HANDLER_IGNORE && !(thread->blocked & bit(signal.number))) {
        append(&thread->signals, &signal);
        return;
    }
    user->hart = hart;
    hart->pc = hart->priv.mepc;
    hart->trap = trap;
    hart->privilege = PRIV_U; /* the report reads the program's memory */
    priv_changed(hart);
    user->signal = signal.number;
    const int status = fault_report(user);
    const struct space_map *map =
        signal.number == SIGBUS ? address_space_find(&process->space, trap.value) : NULL;
    if (map && map->beyond)
        say("0x%" PRIx64 " is behind the end of '%s', which is mapped there", trap.value, map->file->name);
    guest_end(user, signal.number == SIGBUS ? 128 + SIGBUS : status);
}
