/* The operands of nucd, read from a program's registers by the driver (isa/MANUAL.md, "nucd"). */
#ifndef HOST_KERNEL_DRIVER_OPERANDS_H
#define HOST_KERNEL_DRIVER_OPERANDS_H

#include "host/kernel/kernel.h"
#include "isa/include/croft/nucd_bits.h"

enum {
    OPERANDS_SEGMENTS = CROFT_NUCD_SEGMENTS,
    OPERANDS_WORDS = 13, /* words of the longest packet */
    OPERANDS_LINE = 64,  /* bytes per cache line */
};

/* Causes of malformed operands, in the manual's order. */
enum operands_cause {
    OPERANDS_SIGNATURE,
    OPERANDS_ODD_PAIR,
    OPERANDS_NO_LENGTH,
    OPERANDS_REGION_WRAPS,
    OPERANDS_REGION_OUTSIDE,
    OPERANDS_TWO_RESULTS,
    OPERANDS_STACK_POINTER,
    OPERANDS_RANGE_WRAPS,
    OPERANDS_RANGE_OUTSIDE,
    OPERANDS_CAPABILITY,
    OPERANDS_WELL_FORMED,
};

/* A range of whole cache lines, [first, end). */
struct operands_range {
    uint64_t first, end;
};

struct operands {
    uint64_t begin, end; /* the region, [begin, end) */
    struct operands_range in[OPERANDS_SEGMENTS], out[OPERANDS_SEGMENTS];
    unsigned ins, outs;
    uint32_t handed; /* set of registers passed to the task */
    uint8_t capabilities;
    uint8_t result; /* number of the register that the task returns, or 0 */
    bool ordered;   /* the region stops at its first order point; operands_read() clears it */
};

/* Reads the operands of the nucd instruction `bits` at frame->pc. Uses the program's ranges to check memory
 * and code addresses. `capabilities` are those of every accelerator. *operands is complete if the result is
 * OPERANDS_WELL_FORMED. */
enum operands_cause operands_read(const struct kernel_frame *frame, uint32_t bits, uint8_t capabilities,
                                  struct operands *operands);

/* Writes the packet for well-formed operands (format: emu/nucd/packet.h). Returns its number of words. */
unsigned operands_packet(const struct operands *operands, const struct kernel_frame *frame, unsigned frm,
                         uint16_t tag, uint64_t words[OPERANDS_WORDS]);

/* Returns true if one of two tasks must wait for the other: an output range of one overlaps a range of the
 * other. */
bool operands_conflict(const struct operands *a, const struct operands *b);

#endif
