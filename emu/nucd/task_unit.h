/* The task unit: an accelerator core's device for offloaded tasks.
 *
 * It holds the memory-mapped work queue, hands the oldest packet's contents to the firmware, watches for the
 * region's end, and tells the host of completion or fault. Two pages: the first for the core's firmware, the
 * second for the host, so that a driver can map that one alone. All registers are 8 bytes; those that cannot
 * be read are 0, those that cannot be written ignore it.
 *
 *   the core's page
 *   0x000  STATUS     r   [2:0] state, see enum task_unit_state; [8] a packet waits in the queue; [9] an error:
 *                         a command that the state forbids, or a transfer that was refused or is no packet;
 *                         [10] the host has answered: it resumed or killed the task
 *   0x008  COMMAND    w   1 TAKE: next packet, IDLE to LOADED; 2 START: LOADED to RUNNING, the end is watched for;
 *                         3 COMPLETE: ENDED to IDLE, tells the host; 4 FAULT: RUNNING to FAULTED, likewise;
 *                         5 CLEAR: bits 9 and 10
 *   0x010  BEGIN      r   the region's first instruction
 *   0x018  END        r   what follows its last
 *   0x020  REGISTERS  r   set of the registers that are handed over
 *   0x028  FORMAT     r   [4:0] number of the result's register, 0: none; [10:8] frm; [23:16] capabilities;
 *                         [47:32] tag
 *   0x030  RESULT     rw  the result, written before COMPLETE
 *   0x038  FFLAGS     rw  the floating-point exceptions that the region raised, likewise
 *   0x040  CAUSE      rw  of a fault: trap cause, written before FAULT, as are
 *   0x048  VALUE      rw  the address (or other trap value)
 *   0x050  PC         rw  and the pc
 *   0x058  DEPTH      r   calls less returns since START, signed
 *   0x060  SUMMARY    r   what is needed to start a task: [31:1] as REGISTERS; [0] the state is LOADED; [39:37]
 *                         frm, in its place in fcsr; [40] code has changed since the last START: FENCE.I is due;
 *                         [41] RANGES was written since then: mrange is to be
 *   0x068  RANGES     r   what the host has written there
 *   0x100+8r          r   contents of register r, 0 if it is not handed over
 *   the host's page
 *   0x1000-0x103f     w   words of a line that is being put together; reading gives what was written
 *   0x1040 DOORBELL   w   puts the line into the queue as part of a transfer of n lines in all, n in [7:0] of the
 *                         first line's doorbell; ignored in the others
 *   0x1048 CREDITS    r   lines of the queue that are free
 *   0x1050 DONE       r   tasks completed or killed since reset
 *   0x1058 RESULT     r   of the task that was completed last
 *   0x1060 OUTCOME    r   likewise: [4:0] fflags, [47:32] tag
 *   0x1068 FAULT      r   as STATUS of the core's page
 *   0x1070 CAUSE, 0x1078 VALUE, 0x1080 OFFSET
 *                     r   of the fault; OFFSET is from the region's begin, signed
 *   0x1088 CONTROL    w   1 RESUME: FAULTED to RUNNING, from the faulting instruction; 2 KILL: any state to IDLE;
 *                         4 ACKNOWLEDGE: lowers the interrupt
 *   0x1090 RANGES     rw  physical address of the table of ranges that regions are translated by, 0: none
 *                         (isa/MANUAL.md, "Range-based translation"), from the next task on
 *   0x1098 FFLAGS     rw  floating-point exceptions of all tasks completed so far; writing 1 to bits clears them
 *
 * COMPLETE first has the core's data cache written back and emptied, and so has CLEAR behind KILL: only then is the
 * host told, and the next task started. Meanwhile TAKE is forbidden, and so it is before the answer is cleared.
 *
 * A transfer is queued as a whole, when its last line has come; one that does not fit then is dropped, with
 * the error bit set. Lines are free again, and the host is told, as soon as TAKE has passed them. */
#ifndef EMU_NUCD_TASK_UNIT_H
#define EMU_NUCD_TASK_UNIT_H

#include "emu/mem/bus.h"
#include "emu/nucd/packet.h"
#include "emu/nucd/region.h"
#include "emu/sim/observer.h"
#include "emu/sim/stats.h"

enum { TASK_UNIT_PAGE = 0x1000, TASK_UNIT_SIZE = 2 * TASK_UNIT_PAGE, TASK_UNIT_ACCESS = BUS_8 };

enum task_unit_offset {
    TASK_UNIT_STATUS = 0x000,
    TASK_UNIT_COMMAND = 0x008,
    TASK_UNIT_BEGIN = 0x010,
    TASK_UNIT_END = 0x018,
    TASK_UNIT_REGISTERS = 0x020,
    TASK_UNIT_FORMAT = 0x028,
    TASK_UNIT_RESULT = 0x030,
    TASK_UNIT_FFLAGS = 0x038,
    TASK_UNIT_CAUSE = 0x040,
    TASK_UNIT_VALUE = 0x048,
    TASK_UNIT_PC = 0x050,
    TASK_UNIT_DEPTH = 0x058,
    TASK_UNIT_SUMMARY = 0x060,
    TASK_UNIT_RANGES = 0x068,
    TASK_UNIT_LIVE_INS = 0x100,
    TASK_UNIT_LINE = 0x1000,
    TASK_UNIT_DOORBELL = 0x1040,
    TASK_UNIT_CREDITS = 0x1048,
    TASK_UNIT_DONE = 0x1050,
    TASK_UNIT_HOST_RESULT = 0x1058,
    TASK_UNIT_HOST_OUTCOME = 0x1060,
    TASK_UNIT_HOST_STATUS = 0x1068,
    TASK_UNIT_HOST_CAUSE = 0x1070,
    TASK_UNIT_HOST_VALUE = 0x1078,
    TASK_UNIT_HOST_OFFSET = 0x1080,
    TASK_UNIT_CONTROL = 0x1088,
    TASK_UNIT_HOST_RANGES = 0x1090,
    TASK_UNIT_HOST_FFLAGS = 0x1098,
};

enum task_unit_state {
    TASK_UNIT_IDLE,
    TASK_UNIT_LOADED,
    TASK_UNIT_RUNNING,
    TASK_UNIT_ENDED,
    TASK_UNIT_FAULTED,
};

enum { TASK_UNIT_WAITS = 1 << 8, TASK_UNIT_ERROR = 1 << 9, TASK_UNIT_ANSWERED = 1 << 10 }; /* in STATUS */

enum task_unit_command {
    TASK_UNIT_TAKE = 1,
    TASK_UNIT_START,
    TASK_UNIT_COMPLETE,
    TASK_UNIT_FAULT,
    TASK_UNIT_CLEAR,
};

/* In SUMMARY. */
#define TASK_UNIT_LOADED_BIT UINT64_C(1)
#define TASK_UNIT_FCSR_SHIFT 32
#define TASK_UNIT_CODE_BIT   (UINT64_C(1) << 40)
#define TASK_UNIT_RANGES_BIT (UINT64_C(1) << 41)

enum task_unit_control { TASK_UNIT_RESUME = 1, TASK_UNIT_KILL = 2, TASK_UNIT_ACKNOWLEDGE = 4 };

enum task_unit_event {
    TASK_UNIT_EMPTIED,   /* lines are free again */
    TASK_UNIT_COMPLETED, /* by COMPLETE */
    TASK_UNIT_STOPPED,   /* by FAULT */
    TASK_UNIT_KILLED,    /* by KILL or task_unit_kill() */
};

/* What the host is told. */
struct task_unit_report {
    enum task_unit_event event;
    unsigned lines; /* EMPTIED */
    uint16_t tag;   /* of the task, all below */
    uint8_t fflags; /* COMPLETED */
    uint64_t result;
    uint64_t cause, value; /* STOPPED */
    int64_t offset;        /* of its pc from the region's begin */
};

struct task_unit_config {
    uint32_t queue_lines; /* 2 to NUCD_QUEUE_LINES */
    uint8_t capabilities;
    struct irq_line work; /* to the core: high while a packet can be taken, while ENDED, while ANSWERED */
    struct irq_line done; /* to the host: rises with COMPLETED, STOPPED and KILLED, until ACKNOWLEDGE */
    /* Writes the core's data cache back and empties it, and calls task_unit_emptied() then. NULL: there is
     * none. */
    void (*empty)(void *context);
    void *context;
};

/* Is told what a unit reports; functions may be NULL. */
struct task_unit_observer {
    struct observer link;
    void (*told)(void *context, const struct task_unit_report *report);
    void (*started)(void *context); /* START was executed */
    void *context;
};

struct task_unit;

/* NULL, with a message, when the configuration is not as above or the host has no memory. */
struct task_unit *task_unit_create(const struct task_unit_config *config, struct error *err);
void task_unit_free(struct task_unit *unit);

/* Adds an observer, which stays the caller's (emu/sim/observer.h). */
void task_unit_observe(struct task_unit *unit, struct task_unit_observer *observer);

void task_unit_reset(struct task_unit *unit);

extern const struct device_ops task_unit_ops;

/* Puts a transfer of at most the queue's lines into the queue; what its last line does not hold is filled
 * with zeros. False, with the error bit set, when it does not fit: the sender has no credits for it. */
bool task_unit_push(struct task_unit *unit, const uint64_t *words, unsigned count);

enum task_unit_state task_unit_state(const struct task_unit *unit);

/* The packet that TAKE has taken; valid unless IDLE. */
const struct nucd_packet *task_unit_packet(const struct task_unit *unit);

/* The region under way, for nucd_region_follow(), while RUNNING; else NULL. */
struct nucd_region *task_unit_region(struct task_unit *unit);

/* The core's pc is where it goes on after what nucd_region_follow() was told. True if that is the region's
 * end: the state is then ENDED. */
bool task_unit_arrive(struct task_unit *unit, uint64_t pc);

/* The host's answers to a fault, or KILL at any time but IDLE: they return whether the state allows them. */
bool task_unit_resume(struct task_unit *unit);
bool task_unit_kill(struct task_unit *unit);

/* What config->empty was asked for is done. */
void task_unit_emptied(struct task_unit *unit);

/* Code was changed: the core has to execute FENCE.I before the next task. */
void task_unit_change_code(struct task_unit *unit);

/* The host's RANGES register. */
void task_unit_set_ranges(struct task_unit *unit, uint64_t table);

/* Registers "tasks" and all else that is counted. */
void task_unit_publish(struct task_unit *unit, struct stats *stats, struct scope scope);

#endif
