/* A program's threads on multiprocessors: serves the calls that launch them and the calls that they make, and
 * prints messages about them. emu/simt/grid/launch.h executes them. */
#ifndef EMU_ENV_THREADS_H
#define EMU_ENV_THREADS_H

#include "emu/env/guest/guest.h"
#include "emu/simt/grid/launch.h"

struct threads;
struct kernel_frame;

/* Gives the program threads. `memory` is all physical memory. `stacks` is the physical address of the
 * threads' stacks; 0: they are mapped in the program's heap at the first launch. The hooks of `system` serve
 * the program's calls, and launches share host time with it in quanta (system_open_call()); NULL: a call runs
 * to its end at once. `hosts` is the number of hosts whose threads can launch, the system's first harts; 1 without a
 * system. All arguments must outlive the result. Release with threads_free(). */
struct threads *threads_new(struct user *user, const struct launch_options *options,
                            const struct phys *memory, uint64_t stacks, struct system *system,
                            unsigned hosts);
void threads_free(struct threads *threads);

/* An environment whose programs have threads of their own, which it lets take turns and wait (Linux). It serves calls of
 * threads_call() again after threads_turn() or threads_awaits(). All page tables are complete. */
struct threads_scheduler {
    /* Returns the physical address of that many bytes, or 0 if there is no room. Called at the first launch. */
    uint64_t (*stacks)(void *context, uint64_t bytes);
    /* Serves a call of a kernel's thread, whose registers the hart has. Returns the value for a0. */
    int64_t (*serve)(void *context);
    /* Returns the number, not 0, of the program's thread whose call is being served. */
    uint64_t (*caller)(void *context);
    /* Returns whether that thread's stack pointer is on its alternate signal stack. */
    bool (*alternate)(void *context);
    /* With a clock: a launch has ended. */
    void (*changed)(void *context);
    /* With a clock: calls threads_tell_thread() for each thread that waits. */
    void (*tell)(void *context);
    void *context;
};

/* Hands the program's threads over to a scheduler, before the first launch. *scheduler must outlive them. */
void threads_schedule(struct threads *threads, const struct threads_scheduler *scheduler);

/* With a scheduler: returns whether the call that has just been served must be repeated when threads_ready(*what). */
bool threads_awaits(struct threads *threads, uint64_t *what);
bool threads_ready(struct threads *threads, uint64_t what);

/* With a scheduler: the program's thread of that number has ended; its unfinished launch ends. */
void threads_abandon(struct threads *threads, uint64_t caller);

/* Serves the call that the guest has just made: one that launches threads, waits for launches or asks for limits
 * (croft/simt_call.h), or any of calls_serve(). Returns the value for a0. */
int64_t threads_call(struct user *user);

/* For threads under the kernel, which serves calls about memory itself. After a call, threads_ask() returns
 * whether a thread has made a call for the kernel, with its number in call[0] and its arguments in
 * call[1..6]. The kernel then passes the result to threads_answer() and repeats the program's call. */
bool threads_ask(struct threads *threads, uint64_t call[7]);
void threads_answer(struct threads *threads, uint64_t result);

/* For threads on a timed machine that run concurrently with the hosts' harts: under the kernel, or with several hosts.
 * threads_wait() returns whether the call of the program that has just been served waits for multiprocessors and must be
 * repeated; NULL is allowed. Under the kernel, the multiprocessors interrupt (SEIP) the host that made a launch when
 * threads of the launch need the kernel, and a host whose call need not wait any longer. threads_need() serves
 * DOOR_THREADS (door.h), threads_forget() DOOR_FORGET, and a scheduler's change of page tables. Without the kernel, the call is served again (system_resume()). */
bool threads_wait(struct threads *threads);
void threads_need(struct threads *threads, struct kernel_frame *frame);
void threads_forget(struct threads *threads);

/* Returns whether the program's call for a launch is unfinished. An unfinished call must be served again; at
 * the end of the run it counts as retired, like other calls within which a program ends. NULL is allowed. */
bool threads_call_open(const struct threads *threads);

/* Without a clock and with several hosts under the kernel, or with a scheduler: returns whether the call that has just been served must be repeated
 * when other harts have had a turn: a launch has not ended. NULL is allowed. */
bool threads_turn(struct threads *threads);

/* For debuggers: the program's launches, and whether threads wait for a host's hart, which serves them. */
struct launch *threads_launch(const struct threads *threads);
bool threads_call_host(const struct threads *threads, unsigned *host);

/* Reports that the instruction limit has ended the run within a launch. Returns USER_STATUS_LIMIT. */
int threads_report_limit(const struct threads *threads);

/* With a scheduler: prints which launch a thread waits for, if that has not ended; awaited: of threads_awaits(). */
void threads_tell_thread(const struct threads *threads, uint64_t thread, uint64_t awaited);

/* If the program waits for a launch, prints which one, after the message about the end of the run. NULL is allowed. */
void threads_tell_wait(const struct threads *threads);

/* Publishes the launch's statistics: see launch_publish(). */
void threads_publish(const struct threads *threads, struct stats *stats);

#endif
