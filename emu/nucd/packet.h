/* The packet generator's work: from the operands of nucd to a task, and to the packet that tells an
 * accelerator of it (NUCD paper, section IV-A: input-load sequencer and packet producer).
 *
 * A packet is a run of 8-byte words:
 *   0      [31:0] set of the registers that are handed over, where bit 0, as x0 never is, is 1 and marks a
 *          packet; [36:32] number of the result's register, 0: none; [39:37] frm; [47:40] capabilities;
 *          [63:48] tag, which the completion repeats
 *   1, 2   addresses of the region's first instruction and of what follows its last
 *   3...   the registers' contents, in order of their numbers
 * Several packets can follow each other in one transfer, which fills whole lines of the work queue; a word
 * without bit 0 in the place of word 0 says that the rest of its line is empty. */
#ifndef EMU_NUCD_PACKET_H
#define EMU_NUCD_PACKET_H

#include "emu/nucd/cause.h"
#include "emu/nucd/task.h"
#include "isa/include/croft/nucd_bits.h"

enum {
    NUCD_SIGNATURE = CROFT_NUCD_SIGNATURE,
    NUCD_LINE_WORDS = NUCD_LINE / 8,
    NUCD_QUEUE_LINES = 1024,                               /* of a work queue, at most */
    NUCD_PACKET_FIXED = 3,                                 /* words before the registers' */
    NUCD_PACKET_WORDS = NUCD_PACKET_FIXED + NUCD_LIVE_INS, /* at most */
};

/* What the generator knows of a nucd. read() gives an integer register's value in program order. */
struct nucd_operands {
    uint64_t pc;
    uint8_t xn, xd; /* the fields rs1 and rs2 */
    uint8_t frm;
    uint64_t (*read)(const void *context, unsigned reg);
    const void *context;
};

/* What operands can ask for. */
struct nucd_limits {
    const uint8_t *capabilities; /* of each accelerator */
    unsigned accelerators;
    /* Whether there is memory, or can be once it is touched, at the address; and whether all of
     * [begin, end) is code. NULL: not checked. */
    bool (*memory)(const void *context, uint64_t address);
    bool (*code)(const void *context, uint64_t begin, uint64_t end);
    const void *context;
};

/* NUCD_WELL_FORMED with *task, or what makes the operands malformed. */
enum nucd_cause nucd_packet_task(const struct nucd_operands *operands, const struct nucd_limits *limits,
                                 struct nucd_task *task);

/* The registers that the input-load sequencer reads after Xn, Xd and Xt: those in used segments that are
 * handed over, gp and tp. Bit r stands for xr. x are the values of Xn, Xd, Xt. */
uint32_t nucd_packet_sources(uint64_t xn, uint64_t xd, uint64_t xt);

static inline unsigned nucd_packet_words(const struct nucd_task *task)
{
    return NUCD_PACKET_FIXED + (unsigned)__builtin_popcount(task->live_ins.mask);
}

/* Lines of a write buffer or work queue for so many words. */
static inline unsigned nucd_words_lines(unsigned words)
{
    return (words + NUCD_LINE_WORDS - 1) / NUCD_LINE_WORDS;
}

/* Flits for so many words on a link of `width` bytes a clock; the address travels beside them. */
static inline unsigned nucd_words_flits(unsigned words, unsigned width)
{
    return (8 * words + width - 1) / width;
}

/* Writes the packet; returns its number of words, at most NUCD_PACKET_WORDS. */
unsigned nucd_packet_write(const struct nucd_task *task, uint16_t tag, uint64_t *words);

/* What an accelerator reads from a packet. */
struct nucd_packet {
    uint64_t begin, end;
    struct nucd_live_ins live_ins;
    uint16_t tag;
    uint8_t capabilities, result, frm;
};

/* The number of words that the packet with this word 0 has. 0: it is no packet. */
unsigned nucd_packet_length(uint64_t word);

/* Reads a packet, whose length nucd_packet_length() has given as more than 0. */
void nucd_packet_read(const uint64_t *words, struct nucd_packet *packet);

#endif
