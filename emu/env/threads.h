/* Threads of a program on multiprocessors, as the environment serves them: the calls that launch them, the calls that they
 * make, and the messages about them. What happens between is emu/simt/launch.h. */
#ifndef EMU_ENV_THREADS_H
#define EMU_ENV_THREADS_H

#include "emu/env/guest.h"
#include "emu/simt/launch.h"

struct threads;

/* Gives the program threads. memory: all that physical addresses name; stacks: where the stacks' bytes are in it, or 0:
 * they are mapped in the program's heap when first needed; system: whose hooks serve the program's calls, and which launches
 * share the host's time with by quanta (system_open_call()), or NULL: a call of theirs takes all the time that it needs.
 * What is passed must outlive it. Release with threads_free(). */
struct threads *threads_new(struct user *user, const struct launch_options *options,
                            const struct phys *memory, uint64_t stacks, struct system *system);
void threads_free(struct threads *threads);

/* While a thread's call is served: bytes of stacks and of its scratchpad, a copy that goes back when the call has been
 * served. NULL when they are not all there, or no thread calls. */
void *threads_view(struct threads *threads, uint64_t address, uint64_t length, bool write);

/* Of threads under the kernel, which serves calls about memory itself. After a call: whether a thread has made one, whose
 * number and arguments go to call[0] and [1..6]; then the program's call is to be made again after threads_answer(). */
bool threads_ask(struct threads *threads, uint64_t call[7]);
void threads_answer(struct threads *threads, uint64_t result);

/* Whether the program's call for a launch is not over: it is to be served again or, at the end of the run, counts as retired
 * like others within which a program ends. NULL is allowed. */
bool threads_call_open(const struct threads *threads);

/* Reports that the limit of instructions has ended the run within a launch. Returns USER_STATUS_LIMIT. */
int threads_report_limit(const struct threads *threads);

/* launch_publish(). */
void threads_publish(const struct threads *threads, struct stats *stats);

#endif
