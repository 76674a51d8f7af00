/* The packet generator's function: turns the operands of a nucd into a task, and the task into the packet for
 * an accelerator (NUCD paper, section IV-A: input-load sequencer and packet producer).
 *
 * A packet is a sequence of 8-byte words:
 *   0      [31:0] set of the registers handed over; bit 0, for x0, which is never handed over, is always 1
 *          and marks a packet; [36:32] number of the result's register, 0: none; [39:37] frm;
 *          [47:40] capabilities; [63:48] tag, which the completion repeats
 *   1      the address of the region's first instruction, which is even; [0] the region stops at its first
 *          order point
 *   2      the address after the region's last instruction
 *   3...   the values of the registers, in order of register numbers
 * A transfer holds one or more packets and fills whole lines of the work queue. If a word where a packet
 * could begin has bit 0 clear, the rest of its line is empty. */
#ifndef EMU_NUCD_PACKET_H
#define EMU_NUCD_PACKET_H

#include "emu/nucd/cause.h"
#include "emu/nucd/task.h"
#include "isa/include/croft/nucd_bits.h"

enum {
    NUCD_SIGNATURE = CROFT_NUCD_SIGNATURE,
    NUCD_LINE_WORDS = NUCD_LINE / 8,
    NUCD_QUEUE_LINES = 1024,                               /* maximum length of a work queue */
    NUCD_PACKET_FIXED = 3,                                 /* words before the values of registers */
    NUCD_PACKET_WORDS = NUCD_PACKET_FIXED + NUCD_LIVE_INS, /* maximum length of a packet */
};

/* A nucd as the generator sees it. read() returns an integer register's value in program order. */
struct nucd_operands {
    uint64_t pc;
    uint8_t xn, xd; /* the fields rs1 and rs2 */
    uint8_t frm;
    uint64_t (*read)(const void *context, unsigned reg);
    const void *context;
};

/* The limits that operands must keep. */
struct nucd_limits {
    const uint8_t *capabilities; /* capabilities[i]: of accelerator i */
    unsigned accelerators;
    /* memory() returns whether there is memory at the address, or can be once it is touched. code() returns
     * whether all of [begin, end) is code. NULL: not checked. */
    bool (*memory)(const void *context, uint64_t address);
    bool (*code)(const void *context, uint64_t begin, uint64_t end);
    const void *context;
};

/* Returns NUCD_WELL_FORMED and stores *task, or returns why the operands are malformed. */
enum nucd_cause nucd_packet_task(const struct nucd_operands *operands, const struct nucd_limits *limits,
                                 struct nucd_task *task);

/* Returns the set of registers that the input-load sequencer reads after Xn, Xd and Xt: gp, tp, and the
 * registers of used segments that are handed over. Bit r stands for x[r]. The arguments are the values of Xn,
 * Xd and Xt. */
uint32_t nucd_packet_sources(uint64_t xn, uint64_t xd, uint64_t xt);

static inline unsigned nucd_packet_words(const struct nucd_task *task)
{
    return NUCD_PACKET_FIXED + (unsigned)__builtin_popcount(task->live_ins.mask);
}

/* Returns the number of lines that `words` words take in a write buffer or work queue. */
static inline unsigned nucd_words_lines(unsigned words)
{
    return (words + NUCD_LINE_WORDS - 1) / NUCD_LINE_WORDS;
}

/* Returns the number of flits of `words` words on a link of `width` bytes per clock. The address travels
 * beside the data. */
static inline unsigned nucd_words_flits(unsigned words, unsigned width)
{
    return (8 * words + width - 1) / width;
}

/* Writes the packet. Returns its number of words, at most NUCD_PACKET_WORDS. */
unsigned nucd_packet_write(const struct nucd_task *task, uint16_t tag, uint64_t *words);

/* A packet as an accelerator reads it. */
struct nucd_packet {
    uint64_t begin, end;
    struct nucd_live_ins live_ins;
    uint16_t tag;
    uint8_t capabilities, result, frm;
    bool ordered;
};

/* Returns the number of words of the packet that begins with this word, or 0 if this is not the first word of
 * a packet. */
unsigned nucd_packet_length(uint64_t word);

/* Reads a packet. nucd_packet_length() of its first word must not be 0. */
void nucd_packet_read(const uint64_t *words, struct nucd_packet *packet);

#endif
