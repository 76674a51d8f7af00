/* A Linux program: its threads, and what serves them. */
#ifndef EMU_ENV_LINUX_STATE_H
#define EMU_ENV_LINUX_STATE_H

#include <limits.h>
#include <poll.h>

#include "emu/core/tasks.h"
#include "emu/env/guest/guest.h"
#include "emu/env/linux.h"
#include "emu/env/linux/space.h"
#include "emu/env/threads.h"

enum { X_RA = 1, X_SP = 2, X_TP = 4, X_A0 = 10, X_A1 = 11, X_A2 = 12, X_A7 = 17 };

enum {
    LINUX_HOSTS = 512,      /* hosts that threads can run on */
    LINUX_THREADS = 4096,   /* threads of a program at once */
    LINUX_QUEUED = 64,      /* signals that wait for one thread, or for the process */
    LINUX_CALLS_MOST = 600, /* call numbers that are warned about singly */
    LINUX_TIMERS = 128,     /* timers of a program at once */
    LINUX_LIMITS = 16,      /* resources of setrlimit */
    LINUX_ALARMS = 3,       /* ITIMER_REAL, ITIMER_VIRTUAL, ITIMER_PROF */
    LINUX_SLICE = 1000000,  /* ns that a thread runs while others wait for a host (ours) */
    LINUX_SETTLE = 20000,   /* ns until the next look whether its tasks have ended (ours) */
};

/* A call's result: the thread waits, or its registers are set already. */
#define LINUX_WAITS   INT64_MIN
#define LINUX_RETURNS (INT64_MIN + 1)
/* The thread gives way to others and then makes its call again. */
#define LINUX_TURNS   (INT64_MIN + 2)

/* Never, of times in ns. */
#define LINUX_NEVER UINT64_MAX

/* The registers of a thread that is not on a hart. */
struct context {
    uint64_t x[32], f[32], pc;
    uint8_t fflags, frm;
};

enum { LINUX_SIGNAL_TIMER = -2 }; /* SI_TIMER */

/* A signal that waits to be delivered. */
struct queued_signal {
    int32_t number, code;
    int32_t sender, user; /* si_pid, si_uid; of a timer si_tid, si_overrun */
    uint64_t value;       /* si_value, or the fault's address */
};

struct signal_queue {
    uint64_t pending; /* bit number - 1 */
    struct queued_signal signals[LINUX_QUEUED];
    size_t count;
};

enum thread_state { THREAD_READY, THREAD_RUNNING, THREAD_WAITING };

/* What a thread waits for. LOCK: for a priority-inheriting mutex. AGAIN, POLL: until another call may have made a file ready. LAUNCH: for
 * multiprocessors. */
enum thread_wait { WAIT_FUTEX, WAIT_LOCK, WAIT_TIME, WAIT_SIGNAL, WAIT_AGAIN, WAIT_POLL, WAIT_LAUNCH };

struct thread {
    struct thread *next; /* by ascending number */
    int32_t id;
    enum thread_state state;
    unsigned host; /* while running */
    struct context context;
    uint64_t order;     /* of ready threads: the lowest runs first */
    uint64_t slice_end; /* ns */
    bool settles;       /* its turn is over, or a signal waits, but its tasks are not complete */
    uint64_t clear_tid; /* address, or 0 */
    uint64_t robust, robust_size;
    char name[16];

    enum thread_wait wait;
    uint64_t affinity[LINUX_HOSTS / 64]; /* hosts that it asked for; all 0: any */
    uint64_t wait_address,
        wait_bits;     /* of a futex: its key and set; of signals: the set; of a launch: threads_awaits() */
    uint64_t deadline; /* ns of the process's clock, or LINUX_NEVER */
    int64_t timeout_result; /* what the call returns at the deadline */
    uint64_t rest_address;  /* where the rest of an interrupted sleep is stored, or 0 */
    uint64_t info_address;  /* where sigtimedwait stores the signal, or 0 */
    uint64_t moved;         /* of a call on a pipe or socket that waits: bytes moved so far */
    uint64_t poll_deadline; /* of a poll that is repeated; 0: none */
    bool reads;             /* this poll is another call that waits for one file */
    struct pollfd *input;   /* of a poll: what of it others than threads make ready, on the host */
    size_t inputs, input_room;

    uint64_t blocked, saved_blocked; /* signal masks; saved: restored after the handler */
    bool restores;                   /* saved_blocked is valid */
    uint64_t stack, stack_size;      /* alternate stack; size 0: none */
    struct signal_queue signals;
    uint64_t ran, began;  /* ns on hosts, and since when */
    uint16_t io_priority; /* as ioprio_set has it; without effect */
};

/* Kinds of files that the environment itself serves (struct file): an expiry counter, whose `own` is its timer's number, and a
 * reader of the signals of the set `own`, on the host both event counters; an epoll; a socket of a pair, and one whose other end may be
 * outside of the program (calls/socket.h); the name of thread `own`, to be written; the folder /dev/shm. */
enum { FILE_TIMER = 1, FILE_SIGNALS, FILE_EPOLL, FILE_PAIR, FILE_SOCKET, FILE_NAME, FILE_SHARED };

struct bound_name;
struct named_memory;

/* A timer: of a descriptor, which counts its expiries, or of timer_create, which sends a signal. */
struct timer {
    enum timer_kind { TIMER_FREE, TIMER_OF_FILE, TIMER_OF_SIGNAL } kind;
    bool real; /* absolute times are real time */
    /* The time that it follows: the clock's, or that which all threads, or one, have run. */
    enum timer_time { TIME_OF_CLOCK, TIME_OF_PROCESS, TIME_OF_THREAD } time;
    int32_t timed;               /* that thread's number */
    uint64_t deadline, period;   /* ns; LINUX_NEVER: off */
    struct queued_signal signal; /* number 0: none is sent */
    int32_t thread;              /* that receives it; 0: the process does */
    uint64_t overrun;            /* expiries that the last signal does not count */
};

struct process {
    const struct linux_options *options;
    struct phys all, memory; /* memory: the program's part of `all` */
    struct memory_limit limit;
    struct decoder *decoder;
    struct system system;
    struct tasks *tasks; /* NULL: no accelerator takes tasks */
    struct user *user;
    struct threads_scheduler scheduler; /* of user->threads */
    struct space space;
    struct mirror mirror;
    int memory_file;        /* of `all`, if it is mirrored; else -1 */
    struct sandbox sysroot; /* root -1: none */
    unsigned hosts;
    uint64_t
        stub; /* physical address of the trap stub, or of the kernel, whose frames follow it in pages of their own */
    unsigned irq; /* the interrupt that calls a host */

    struct thread *threads;
    struct thread *on[LINUX_HOSTS]; /* the thread on a host, or NULL */
    bool fence[LINUX_HOSTS];        /* the host's TLBs are out of date */
    int32_t next_id;
    int32_t caller; /* the thread whose call is being served */
    uint64_t next_order;
    unsigned thread_count;

    struct signal_queue signals;
    uint64_t trampoline; /* address of rt_sigreturn's code */
    /* The timers of setitimer, by `which`: the first one follows the process's clock, the others the time that its threads run. */
    struct alarm {
        uint64_t deadline, period; /* ns; LINUX_NEVER: off */
    } alarms[LINUX_ALARMS];
    struct timer timers[LINUX_TIMERS];
    unsigned timers_of_threads; /* those that are on and follow processor time */
    uint64_t timers_due;        /* ns: the first deadline of a timer, or LINUX_NEVER */
    bool reads_signals;         /* a descriptor of signals has been made */
    uint64_t passed;            /* without a clock: ns that kernels have taken, in which harts do not run */
    uint64_t awaited;           /* ns: input has been waited for in real time until then, and none has come */
    bool epolls_input;          /* an epoll has a standard stream or a socket */
    uint64_t ended_ran;         /* ns that threads which have ended ran */
    uint32_t umask;
    /* What setrlimit and prctl keep; without effect, but RLIMIT_NOFILE. */
    struct limit {
        uint64_t soft, hard;
    } limits[LINUX_LIMITS];
    uint64_t timer_slack;
    uint32_t personality;
    int32_t death_signal;
    bool subreaper, huge_pages_off, dumpable, keeps_capabilities;
    uint64_t entry, headers, header_count, auxiliary, auxiliary_size; /* of the ELF file, and on the stack */
    uint64_t arguments, arguments_end;
    char *executable; /* absolute path */
    bool told[LINUX_CALLS_MOST];
    bool warned_of_fork, warned_of_network, warned_of_abstract, warned_of_memory, warned_of_writing,
        no_new_privileges;
    struct bound_name *bound_names; /* of sockets, calls/socket_name.c */
    unsigned bound_count;
    struct named_memory *shared_names; /* of /dev/shm, calls/paths/shared_name.c */
    unsigned shared_count;
    uint64_t files_made; /* calls/paths/own_file.c */
};

/* time.c */

/* Returns the process's clock in ns. */
uint64_t linux_now(const struct process *process);

/* threads.c */

/* Makes a thread, ready to run, that has the given number. */
struct thread *thread_new(struct process *process);

/* Forgets a running thread. */
void thread_remove(struct process *process, struct thread *thread);

/* Lets a running thread wait. Its call then returns LINUX_WAITS. */
void thread_wait(struct process *process, struct thread *thread, enum thread_wait wait, uint64_t deadline,
                 int64_t timeout_result);

/* Makes a waiting thread ready; its call returns `result`. */
void thread_wake(struct process *process, struct thread *thread, int64_t result);

/* Makes a waiting thread ready to make its call again. */
void thread_repeat(struct process *process, struct thread *thread);
/* The same of all threads that wait for something that another call may have changed. */
void threads_repeat(struct process *process);

/* Loads and stores a thread's registers. */
void thread_load(const struct thread *thread, struct hart *hart);
void thread_store(struct thread *thread, const struct hart *hart);

/* Gives each idle host that a ready thread can use a software interrupt. */
void threads_call_hosts(struct process *process);

/* At an interrupt, of a thread for which a signal waits if `signalled`: returns whether its turn is over. A thread whose tasks are
 * not complete keeps the host, and its signals wait, until they are: their results would be lost when another thread or a handler
 * begins a task there. Its hart settles meanwhile. */
bool threads_end_turn(struct process *process, struct thread *thread, bool signalled);

/* Chooses the thread that a host goes on with, and loads it: the one it has unless that waits, has ended, or `yields` while
 * others are ready. Returns false if the host has none. */
bool threads_choose(struct process *process, unsigned host, bool yields);

/* Adds what a thread waits for on the host. */
void thread_add_input(struct thread *thread, int host, short events);

/* Lets threads that wait for standard streams and sockets go on when one is ready on the host. While no thread can run but `asks`, which
 * is about to wait, too (NULL: none), waits for that in real time, but not longer than until `until` of the process's clock. LINUX_NEVER:
 * for ever; then no thread can run, and no kernel on a multiprocessor. Returns whether an input is ready, of `asks` or of another. */
bool threads_await_input(struct process *process, const struct thread *asks, uint64_t until);

/* Returns whether a thread other than `thread` runs, or can, or waits for a kernel on multiprocessors, which runs. */
bool threads_others_run(const struct process *process, const struct thread *thread);

/* Time: wakes threads whose deadline has come, and interrupts those whose slice is over. */
void threads_update(struct process *process);

/* Returns the time in ns at which threads_update() or alarms_update() next has work, or may have, or LINUX_NEVER. */
uint64_t threads_next(const struct process *process);

/* Returns the time in ns that an alarm follows. */
uint64_t alarm_now(const struct process *process, unsigned which);

/* Returns the time in ns that a timer follows; of a thread that has ended LINUX_NEVER - 1. */
uint64_t timer_now(const struct process *process, const struct timer *timer);

/* Return the ns that a thread has run, and all threads of the process. */
uint64_t thread_ran(const struct process *process, const struct thread *thread);
uint64_t threads_ran(const struct process *process);

/* Returns the thread with a number, or NULL. */
struct thread *thread_find(const struct process *process, int32_t id);

/* timers.c */

/* Takes a free timer, which is off. Returns its number, or -1. */
int timer_new(struct process *process, enum timer_kind kind);
/* Lets it expire at a deadline, then every `period` ns (0: never again); LINUX_NEVER: it is off. */
void timer_start(struct process *process, unsigned number, uint64_t deadline, uint64_t period);
/* Lets timers whose deadline has come expire. */
void timers_update(struct process *process);
/* Sends the signals of setitimer's timers that are due. */
void alarms_update(struct process *process);

/* futex.c */
int64_t futex_call(struct process *process, struct thread *thread, const uint64_t a[6]);
/* Wakes up to `most` threads that wait at an address, as a shared futex. Returns their number. */
int64_t futex_wake(struct process *process, uint64_t address, uint64_t most, uint64_t bits);
/* The kernel's part of mutexes that an ending thread holds: marks robust ones, and gives priority-inheriting ones to threads that wait. */
void futex_abandon(struct process *process, struct thread *thread);

/* signals.c */

/* Sends a signal to a thread; NULL: to the process. */
void signal_send(struct process *process, struct thread *thread, const struct queued_signal *signal);
/* Returns whether the stack pointer is on the thread's alternate stack. */
bool signal_stack_used(const struct thread *thread, uint64_t sp);
/* Enters the handler of a pending signal of the thread that runs on the hart. May end the program. */
void signals_deliver(struct process *process, struct thread *thread, struct hart *hart);
/* Turns the trap at which the hart has stopped into a signal; reports it and ends the program if that is not handled. */
void signal_fault(struct process *process, struct thread *thread, struct hart *hart);
/* Returns whether the thread has a pending signal that is not blocked and does something. */
bool signal_is_due(const struct process *process, const struct thread *thread);
int64_t signal_return(struct process *process, struct thread *thread);
/* Adds expiries to the overruns of a timer's signal that still waits for the thread (NULL: for the process). Returns false if none
 * does. */
bool signal_add_overrun(struct process *process, struct thread *thread, int32_t timer, uint64_t expiries);
/* Takes a pending signal of the set. Returns false if there is none. */
bool signal_take(struct process *process, struct thread *thread, uint64_t set, struct queued_signal *signal);
/* Stores a signal as siginfo_t. Returns 0 or -EFAULT. */
int64_t signal_put_info(struct process *process, uint64_t address, const struct queued_signal *signal);
/* Ends the program by a signal, with a report. */
void signal_kill(struct process *process, struct hart *hart, int number);

/* kernel.c: the kernel beneath the program. */

/* Loads the kernel, and lets a hart enter it by traps. kernel_begin(): the hart begins in the program. */
bool kernel_load_image(struct process *process, struct error *err);
void kernel_set_up_hart(const struct process *process, struct hart *hart);
void kernel_begin(const struct process *process, struct hart *hart);

/* Maps the kernel and its frames in the upper half of the address space, for supervisor mode. */
void kernel_map(const struct process *process);

/* The kernel's registers while the hart has the program's, at the door; and the thread that has trapped. */
struct kernel_visit {
    uint64_t x[32], pc;
    int32_t thread; /* 0: none */
};

/* Begin and end a visit: the hart gets the registers of the program, with mepc, mcause and mtval; and the kernel's again, while those of
 * the thread that it goes on with are put into its frame. */
struct kernel_visit kernel_enter(const struct process *process, struct hart *hart);
void kernel_leave(struct process *process, struct hart *hart, const struct kernel_visit *visit);

/* launches.c */

/* Gives the program threads on multiprocessors, if the machine has them. */
void launches_init(struct process *process);

/* calls.c */

/* Serves the call of the thread on the hart. Returns its result, LINUX_WAITS, LINUX_RETURNS or LINUX_TURNS. */
int64_t linux_call(struct process *process, struct thread *thread, struct hart *hart);

/* calls/limit.c */

/* Sets the limits and what else prctl keeps to what a process begins with. */
void limits_init(struct process *process);

/* refuse.c */

/* Returns -ENOSYS for the call of the hart; warns once of each number that it "is missing", or whatever `how` says. */
int64_t call_refuse(struct process *process, uint64_t number, const char *how);

/* load.c */

/* Loads the program and its dynamic linker and builds the stack; sets the context's pc and sp. */
bool linux_load(struct process *process, struct context *context, struct error *err);

/* proc.c */

/* Opens one of the files of /proc that exist for programs. Returns a host descriptor of its text; -ENOENT: there is no such
 * file. */
int proc_open(struct process *process, const char *path);
/* Returns the thread whose name a file of /proc has, or NULL. */
struct thread *proc_named(const struct process *process, const char *path);
/* Writes where a link of /proc leads. Returns false if the path is none. */
bool proc_link(const struct process *process, const struct thread *thread, const char *path,
               char link[PATH_MAX]);

#endif
