/* The state of the offload controllers, for the files of this room: controller.c (the source of warps, with the table and the
 * tasks), decision.c, packet.c, spare.c, mapping.c, tom.c and check.c. */
#ifndef EMU_TOM_CONTROLLER_CONTROLLER_H
#define EMU_TOM_CONTROLLER_CONTROLLER_H

#include "emu/tom/mapping/mapping.h"
#include "emu/tom/monitor.h"
#include "emu/tom/task.h"

/* Why a block was not offloaded: TOM_REASON(name, meaning). */
#define TOM_REASONS_OF(TOM_REASON)                                                                           \
    TOM_REASON(CONDITION, "condition", "whose condition did not hold")                                       \
    TOM_REASON(TX_BUSY, "tx_busy", "because a channel to the stacks was busy, to which they add bytes")      \
    TOM_REASON(RX_BUSY, "rx_busy", "because a channel from the stacks was busy, to which they add bytes")    \
    TOM_REASON(FULL, "full", "because as many offloads to the stack were under way as it holds warps")       \
    TOM_REASON(COMPUTE, "compute",                                                                           \
               "because instructions of offloads under way would fill the stack (alu_ratio)")                \
    TOM_REASON(NO_ACCESS, "no_access", "that ended without an access")                                       \
    TOM_REASON(NO_STACK, "no_stack", "whose first access was not to a stack that executes blocks")           \
    TOM_REASON(LEARNING, "learning", "because the analyzer saw their accesses, to learn the mapping")        \
    TOM_REASON(DEBUGGED, "debugged", "because a debugger had a breakpoint in them, or stepped their threads")

enum tom_reason {
#define TOM_REASON(name, text, meaning) TOM_##name,
    TOM_REASONS_OF(TOM_REASON)
#undef TOM_REASON
        TOM_REASONS
};

struct tom_check;

/* An input of the crossbar to the links. */
struct tom_port {
    struct mem_link link;
    struct tom_task *first, *last; /* packets that it has not accepted */
};

/* Statistics that are plain counters: X(name, unit, meaning). */
#define TOM_COUNTERS(X)                                                                                      \
    X(instances, "blocks", "Times that a warp came to a block of the table")                                 \
    X(offloaded, "blocks", "Of these, offloaded to a stack")                                                 \
    X(packets, "packets", "Packets sent to stacks")                                                          \
    X(packet_bytes, "bytes", "Bytes of these, without headers")                                              \
    X(answer_bytes, "bytes", "Bytes of their answers, without headers")                                      \
    X(dropped_lines, "lines", "Lines that answers made the caches in front drop")                            \
    X(push_time, "fs", "Time that packets waited for stores, beyond their packing")                          \
    X(away_time, "fs", "Time from decisions to offload to their answers")                                    \
    X(redundant_instructions, "instructions",                                                                \
      "Instructions of warps in front that stacks have executed again")                                      \
    X(redundant_thread_instructions, "instructions", "The same, counted once per thread")

struct tom {
    struct tom_config config;
    struct event_queue *queue;
    uint32_t component;
    struct simt_grid *grid;
    const struct mem_site *memory;
    const struct decoder *decoder;
    struct tom_front *fronts;
    uint32_t front_count, most_slices; /* multiprocessors in front; most slices of a second level */
    struct tom_port *ports;
    struct tom_stack *stacks;
    /* By stack, with TOM_IDEAL: where the stack's multiprocessor finds data; else NULL. */
    struct home_map **replicas;
    struct tom_monitor *monitors; /* by stack */
    uint32_t stack_count;
    struct candidate_entry listed[CANDIDATE_ENTRIES]; /* the program's table */
    size_t listed_count;
    struct tom_table table;
    bool ready;            /* `table` is loaded */
    struct stream_op hint; /* replaces a hint of the program */

    struct tom_task **tasks, *free; /* all tasks; list of those that no warp uses */
    size_t task_count;
    struct warp **warps; /* free warps for copies and for stacks */
    size_t warp_count, warp_room;
    struct tom_mapper mapper;
    struct tom_check *check; /* NULL: none */

    uint64_t instances_of[CANDIDATE_ENTRIES],
        offloaded_of[CANDIDATE_ENTRIES]; /* by entry of the program's table */
    uint64_t refused[TOM_REASONS];
#define TOM_COUNTER(name, unit, meaning) uint64_t name;
    TOM_COUNTERS(TOM_COUNTER)
#undef TOM_COUNTER
};

extern const struct mem_client_ops tom_port_ops; /* packet.c */

/* spare.c. tom_take_warp() returns a free warp, for the task's copy; tom_give_warp() gives the copy back, if there is one. */
struct warp *tom_take_warp(struct tom *tom);
void tom_give_warp(struct tom_task *task);

/* decision.c. Returns whether the condition of the task's entry holds for some of its lanes. */
bool tom_condition_holds(const struct tom_task *task);

/* decision.c. Decides about the block at which the task's warp stands, or begins to execute it up to its first access. */
void tom_decide(struct tom_task *task, uint64_t now);

/* decision.c. Lets the multiprocessor in front execute the block, and counts the reason. */
void tom_stay(struct tom_task *task, enum tom_reason reason);

/* decision.c. With `each_round`: returns whether the block that stayed, a loop at whose begin the warp's lanes in `mask` stand again
 * with operation `op`, may go now. tom_unstay() lets the controller decide anew. */
bool tom_may_leave(struct tom_task *task, const struct stream_op *op, uint32_t mask);
void tom_unstay(struct tom_task *task);

/* decision.c. The block that stayed has ended in front; and the task's has been answered. Both take its times into their means. */
void tom_stayed(const struct tom_task *task);
void tom_returned(const struct tom_task *task, uint64_t now);

/* decision.c. Returns whether the operation is an access whose stack is the destination (`destination`), and that the analyzer sees. */
bool tom_tells_stack(const struct tom_task *task, const struct stream_op *op);

/* decision.c. Finds the stack of the access that a warp executes next, by its lowest lane in `mask`. Returns why the block cannot
 * be offloaded there, or TOM_REASONS. */
enum tom_reason tom_destination(struct tom_task *task, const struct warp *warp, const struct stream_op *op,
                                uint32_t mask);

/* decision.c. Sends the block to task->unit, or lets it stay for the reason given. */
void tom_choose(struct tom_task *task, enum tom_reason reason);

/* decision.c. Ends the execution up to the first access of a block that is not offloaded. If the copy's lanes are still together,
 * the warp continues after the instructions that the copy has executed; otherwise it repeats them. */
void tom_adopt(struct tom_task *task, enum tom_reason reason);

/* packet.c. Offloads the block: copies the registers that it reads, unless the copy goes on where it is (TOM_IDEAL), and begins to
 * push earlier stores and to pack. */
void tom_leave(struct tom_task *task, uint64_t now);

/* packet.c. Sends the packet if it is packed, and all stores before it are in memory. */
void tom_send_if_ready(struct tom_task *task, uint64_t now);

/* Puts the controller between the multiprocessor and the source of its warps. */
void tom_front_join(struct tom_front *front);

#endif
