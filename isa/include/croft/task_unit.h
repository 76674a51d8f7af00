/* The registers of a task unit, an accelerator's device for offloaded tasks (emu/nucd/units/task_unit.h), shared by firmware,
 * drivers and emulator.
 *
 * It has two pages: the first for the accelerator's firmware, the second for the host, so that a driver can map that
 * one alone. All registers have 8 bytes; write-only registers read as 0, read-only ones ignore writes.
 *
 *   the accelerator's page
 *   0x000  STATUS     r   [2:0] state, see enum task_unit_state; [8] a packet waits in the queue; [9] error: the
 *                         state forbids a command, or a transfer was dropped or is not a packet; [10] the host has
 *                         answered: it resumed or killed the task; [11] the region was left by anything but its end,
 *                         and VALUE is the pc of the instruction that has left it: firmware reports a fault; [12]
 *                         the data cache is being written back and emptied
 *   0x008  COMMAND    w   1 TAKE: next packet, IDLE to LOADED; 2 START: LOADED to RUNNING, watch for the region's end;
 *                         3 COMPLETE: ENDED to IDLE, notify the host; 4 FAULT: RUNNING to FAULTED, notify the host;
 *                         5 CLEAR: clears bits 9 and 10 of STATUS
 *   0x010  BEGIN      r   address of the region's first instruction
 *   0x018  END        r   end of its last instruction
 *   0x020  REGISTERS  r   set of the registers that are handed over
 *   0x028  FORMAT     r   [4:0] number of the result's register, 0: none; [10:8] frm; [23:16] capabilities;
 *                         [47:32] tag
 *   0x030  RESULT     rw  the result, written before COMPLETE
 *   0x038  FFLAGS     rw  floating-point exceptions that the region raised, written before COMPLETE
 *   0x040  CAUSE      rw  trap cause of a fault, written before FAULT
 *   0x048  VALUE      rw  trap value of a fault (such as the address), written before FAULT
 *   0x050  PC         rw  pc of a fault, written before FAULT
 *   0x058  DEPTH      r   calls minus returns since START, signed
 *   0x060  SUMMARY    r   what firmware needs to start a task: [31:1] as REGISTERS; [0] the state is LOADED; [39:37]
 *                         frm, at its place in fcsr; [40] code has changed since the last START: execute FENCE.I;
 *                         [41] RANGES was written since then: write mrange
 *   0x068  RANGES     r   what the host has written to its RANGES
 *   0x070  CONTEXT    rw  physical address at which firmware keeps a region's registers while a fault waits for its
 *                         answer: x0 to x31, 8 bytes each; 0: not known. Written once; the emulator reads it to show
 *                         regions and to serve their calls
 *   0x100+8r          r   contents of register r, 0 if it is not handed over
 *   the host's page
 *   0x1000-0x103f     w   words of a line under construction; reads return what was written
 *   0x1040 DOORBELL   w   puts the line into the queue as part of a transfer of n lines, n in [7:0] of the first line's
 *                         doorbell; ignored in the others
 *   0x1048 CREDITS    r   free lines of the queue
 *   0x1050 DONE       r   tasks completed or killed since reset
 *   0x1058 RESULT     r   of the task completed last
 *   0x1060 OUTCOME    r   of the task completed last: [4:0] fflags, [47:32] tag
 *   0x1068 FAULT      r   as STATUS of the accelerator's page
 *   0x1070 CAUSE, 0x1078 VALUE, 0x1080 OFFSET
 *                     r   of the fault; OFFSET is its pc minus the region's begin, signed
 *   0x1088 CONTROL    w   1 RESUME: FAULTED to RUNNING, from the faulting instruction; 2 KILL: any state to IDLE;
 *                         4 ACKNOWLEDGE: lowers the interrupt
 *   0x1090 RANGES     rw  physical address of the table of ranges that translates regions, 0: none (isa/MANUAL.md,
 *                         "Range-based translation"); applies from the next task on
 *   0x1098 FFLAGS     rw  floating-point exceptions of all tasks completed so far; writing 1 to bits clears them
 *
 * COMPLETE, and CLEAR after KILL, first write back and empty the accelerator's data cache; only then is the host
 * notified and the next task started. TAKE is forbidden meanwhile, and also before CLEAR has cleared the host's answer.
 *
 * A transfer is queued as a whole when its last line has arrived; a transfer that does not fit is dropped and sets the
 * error bit. TAKE frees the lines of its packet and notifies the host of them.
 *
 * Assembler sources see only what precedes the C part. */
#ifndef CROFT_TASK_UNIT_H
#define CROFT_TASK_UNIT_H

#define TASK_UNIT_PAGE 0x1000
#define TASK_UNIT_SIZE (2 * TASK_UNIT_PAGE)

#define TASK_UNIT_STATUS    0x000
#define TASK_UNIT_COMMAND   0x008
#define TASK_UNIT_BEGIN     0x010
#define TASK_UNIT_END       0x018
#define TASK_UNIT_REGISTERS 0x020
#define TASK_UNIT_FORMAT    0x028
#define TASK_UNIT_RESULT    0x030
#define TASK_UNIT_FFLAGS    0x038
#define TASK_UNIT_CAUSE     0x040
#define TASK_UNIT_VALUE     0x048
#define TASK_UNIT_PC        0x050
#define TASK_UNIT_DEPTH     0x058
#define TASK_UNIT_SUMMARY   0x060
#define TASK_UNIT_RANGES    0x068
#define TASK_UNIT_CONTEXT   0x070
#define TASK_UNIT_LIVE_INS  0x100

#define TASK_UNIT_LINE         0x1000
#define TASK_UNIT_DOORBELL     0x1040
#define TASK_UNIT_CREDITS      0x1048
#define TASK_UNIT_DONE         0x1050
#define TASK_UNIT_HOST_RESULT  0x1058
#define TASK_UNIT_HOST_OUTCOME 0x1060
#define TASK_UNIT_HOST_STATUS  0x1068
#define TASK_UNIT_HOST_CAUSE   0x1070
#define TASK_UNIT_HOST_VALUE   0x1078
#define TASK_UNIT_HOST_OFFSET  0x1080
#define TASK_UNIT_CONTROL      0x1088
#define TASK_UNIT_HOST_RANGES  0x1090
#define TASK_UNIT_HOST_FFLAGS  0x1098

/* Fields of STATUS. */
#define TASK_UNIT_STATE_MASK    7
#define TASK_UNIT_STATE_RUNNING 2
#define TASK_UNIT_STATE_ENDED   3
#define TASK_UNIT_WAITS         (1 << 8)
#define TASK_UNIT_ERROR         (1 << 9)
#define TASK_UNIT_ANSWERED      (1 << 10)
#define TASK_UNIT_LEFT_SHIFT    11
#define TASK_UNIT_LEFT          (1 << TASK_UNIT_LEFT_SHIFT)
#define TASK_UNIT_EMPTYING      (1 << 12)

/* Commands. */
#define TASK_UNIT_TAKE     1
#define TASK_UNIT_START    2
#define TASK_UNIT_COMPLETE 3
#define TASK_UNIT_FAULT    4
#define TASK_UNIT_CLEAR    5

/* Bit numbers in SUMMARY. */
#define TASK_UNIT_LOADED_SHIFT 0
#define TASK_UNIT_FCSR_SHIFT   32
#define TASK_UNIT_CODE_SHIFT   40
#define TASK_UNIT_RANGES_SHIFT 41

/* Values for CONTROL. */
#define TASK_UNIT_RESUME      1
#define TASK_UNIT_KILL        2
#define TASK_UNIT_ACKNOWLEDGE 4

#ifndef __ASSEMBLER__
#include <stddef.h>
#include <stdint.h>

enum task_unit_state {
    TASK_UNIT_IDLE,
    TASK_UNIT_LOADED,
    TASK_UNIT_RUNNING = TASK_UNIT_STATE_RUNNING,
    TASK_UNIT_ENDED = TASK_UNIT_STATE_ENDED,
    TASK_UNIT_FAULTED,
};

/* The host's page. */
struct task_unit_host {
    uint64_t line[8];
    uint64_t doorbell, credits, done, result, outcome, status, cause, value, offset, control, ranges, fflags;
};

#ifndef __cplusplus
_Static_assert(offsetof(struct task_unit_host, doorbell) == TASK_UNIT_DOORBELL - TASK_UNIT_PAGE &&
                   offsetof(struct task_unit_host, status) == TASK_UNIT_HOST_STATUS - TASK_UNIT_PAGE &&
                   offsetof(struct task_unit_host, control) == TASK_UNIT_CONTROL - TASK_UNIT_PAGE &&
                   offsetof(struct task_unit_host, fflags) == TASK_UNIT_HOST_FFLAGS - TASK_UNIT_PAGE,
               "the struct has the registers at their offsets");
#endif
#endif

#endif
