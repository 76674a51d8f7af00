/* Predecoded code of warps: each instruction is decoded once, with its handler, for all warps that execute
 * it, and the breakpoints in it (warp_debug.h). */
#ifndef EMU_SIMT_WARP_CODE_CODE_H
#define EMU_SIMT_WARP_CODE_CODE_H

#include "emu/hart/stream.h"
#include "emu/simt/warp.h"

struct warp;
struct warp_op;
struct warp_memory;

typedef enum warp_event warp_handler(struct warp *warp, const struct warp_op *op);

struct warp_op {
    warp_handler *run; /* NULL: not decoded yet */
    struct stream_op stream;
    struct insn insn; /* stream.insn */
    uint8_t rd;       /* integer or floating-point register; HART_SINK for x0 */
    uint64_t meet;    /* of a branch: warp_meet(); 0: not looked up yet */
};

/* What is done for all lanes, in one build variant (rows.h). */
struct warp_table {
    warp_handler *rows[INSN_COUNT]; /* of each instruction, indexed by enum insn_id */
    warp_handler *on_stack;         /* of loads and stores relative to sp */
    /* for the choice of lanes (places.h) */
    uint32_t (*at)(const struct warp *warp, uint64_t pc, int64_t depth);
    uint32_t (*beyond)(const struct warp *warp, uint64_t stop, int64_t depth);
    void (*select)(struct warp *warp, uint32_t mask);
    void (*park)(struct warp *warp, uint64_t pc);
};
extern const struct warp_table warp_rows_base, warp_rows_v3, warp_rows_v4;

/* Returns the post-dominators of the code that are known so far (meet.h). They are discarded with the code. */
struct warp_meets *warp_code_meets(struct warp_code *code);

/* Creates an empty cache. Returns NULL with err set when the host has no memory. warp_code_free() accepts
 * NULL. */
struct warp_code *warp_code_new(struct error *err);
void warp_code_free(struct warp_code *code);
void warp_code_flush(struct warp_code *code);

/* Chooses the variant, before any warp is made: otherwise it is the best that the host can execute. warp_code_table() returns it; NULL:
 * not chosen yet. */
void warp_code_use(struct warp_code *code, const struct warp_table *table);
const struct warp_table *warp_code_table(const struct warp_code *code);

/* decode.c: returns whether the host can execute the variant. */
bool warp_code_can(const struct warp_table *table);

enum { WARP_CODE_OPS = WARP_PAGE / 2 };

/* Forgets what was decoded from the bytes first to last of a page of memory (code_pages.h). Returns whether ops
 * of the page are left. */
bool warp_code_forget(struct warp_code *code, uint64_t page, unsigned first, unsigned last);

/* Returns the ops of the page at `address`, a multiple of WARP_PAGE: one per even address, decoded or not.
 * They are valid until the cache is flushed. */
struct warp_op *warp_code_page(struct warp_code *code, uint64_t address);

/* Notes the page of memory from which the ops of the page at `address`, if there are any, are decoded. */
void warp_code_mark(struct warp_code *code, uint64_t address, uint64_t page);

#endif
