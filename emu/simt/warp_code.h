/* Predecoded code of warps: each instruction once, with its handler, however many warps execute it. */
#ifndef EMU_SIMT_WARP_CODE_H
#define EMU_SIMT_WARP_CODE_H

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
    uint8_t rd;       /* the integer or floating-point register, HART_SINK for x0 */
};

/* The handlers of one build variant (warp_rows.h), by enum insn_id. */
struct warp_table {
    warp_handler *rows[INSN_COUNT];
};
extern const struct warp_table warp_rows_base, warp_rows_v3;

/* An empty cache; NULL when the host has no memory. */
struct warp_code *warp_code_new(struct error *err);
void warp_code_free(struct warp_code *code);
void warp_code_flush(struct warp_code *code);

/* Chooses the handlers; by itself it takes the best that the host can execute. For tests, before any code is decoded. */
void warp_code_use(struct warp_code *code, const struct warp_table *table);

enum { WARP_CODE_OPS = WARP_PAGE / 2 };

/* The ops of the page at address, a multiple of WARP_PAGE: one for every even address in it, decoded or not. They stay
 * until the cache is flushed. */
struct warp_op *warp_code_page(struct warp_memory *memory, uint64_t address);

/* Decodes what stands at pc. An op that cannot be fetched traps when it is run and is not kept. */
void warp_code_decode(struct warp_memory *memory, struct warp_op *op, uint64_t pc);

/* Handlers that are no row's. */
warp_handler warp_illegal, warp_fetch_fault;

#endif
