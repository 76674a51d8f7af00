/* What a nucd instruction asks for, in plain types: the module's Linux headers and the kernel's own do not go together. */
#ifndef HOST_LINUX_DECODE_H
#define HOST_LINUX_DECODE_H

enum { DECODE_WORDS = 13, DECODE_SPANS = 4, DECODE_LINE = 64 };

/* Whole cache lines, [first, end). */
struct decode_span {
    unsigned long first, end;
};

struct decode_task {
    unsigned long words[DECODE_WORDS]; /* the packet (emu/nucd/packet.h) */
    unsigned count;
    unsigned long begin, end; /* of the region */
    struct decode_span in[DECODE_SPANS], out[DECODE_SPANS];
    unsigned ins, outs;
    unsigned result; /* number of the register that the region returns, or 0 */
};

struct decode_source {
    const unsigned long *x; /* the process's 32 registers */
    unsigned long pc;
    unsigned bits; /* the instruction */
    unsigned frm;
    unsigned capabilities; /* of each accelerator */
    unsigned tag;
    int ordered; /* the region stops at its first order point */
};

enum decode_kind { DECODE_OTHER, DECODE_NUCD, DECODE_MARK_BEGIN, DECODE_MARK_END };

/* Says what the instruction is, with the process's registers. */
enum decode_kind decode_kind(const struct decode_source *source);

/* Fills in *task. Returns 0 if the operands are malformed (isa/MANUAL.md, "nucd"); whether there is memory at the addresses is
 * not looked at. */
int decode_task(const struct decode_source *source, struct decode_task *task);

#endif
