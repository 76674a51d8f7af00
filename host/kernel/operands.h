/* The operands of nucd, as the driver reads them from a program's registers (isa/MANUAL.md, "nucd"). */
#ifndef HOST_KERNEL_OPERANDS_H
#define HOST_KERNEL_OPERANDS_H

#include "host/kernel/kernel.h"
#include "isa/include/croft/nucd_bits.h"

enum {
    OPERANDS_SEGMENTS = CROFT_NUCD_SEGMENTS,
    OPERANDS_WORDS = 13, /* of a packet, at most */
    OPERANDS_LINE = 64,  /* bytes of a cache line */
};

/* The causes of malformed operands, in the manual's order. */
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

/* Whole cache lines: addresses of the first byte and of what follows the last one. */
struct operands_range {
    uint64_t first, end;
};

struct operands {
    uint64_t begin, end; /* of the region */
    struct operands_range in[OPERANDS_SEGMENTS], out[OPERANDS_SEGMENTS];
    unsigned ins, outs;
    uint32_t handed; /* set of registers */
    uint8_t capabilities;
    uint8_t result; /* number of the register that comes back, or 0 */
};

/* Reads the operands of the nucd, whose bits are given, at frame->pc. The program's ranges say what is memory and what
 * is text; every accelerator has `capabilities`. *operands is complete when they are well-formed. */
enum operands_cause operands_read(const struct kernel_frame *frame, uint32_t bits, uint8_t capabilities,
                                  struct operands *operands);

/* Writes the packet (emu/nucd/packet.h draws it) for these operands, which are well-formed; returns its words. */
unsigned operands_packet(const struct operands *operands, const struct kernel_frame *frame, unsigned frm,
                         uint16_t tag, uint64_t words[OPERANDS_WORDS]);

/* Whether one of two tasks must wait for the other: an output range of one meets a range of the other. */
bool operands_conflict(const struct operands *a, const struct operands *b);

#endif
