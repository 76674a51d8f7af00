/* The CSRs of threads: floating-point state, counters, coordinates, the barrier. */
#include "emu/hart/warp_state.h"

enum { FFLAGS = 0x001, FRM = 0x002, FCSR = 0x003, CYCLE = 0xc00, TIME = 0xc01, INSTRET = 0xc02 };

/* Coordinates, in the order of isa/csr.def. */
enum {
    THREAD = 0xcc0,
    BLOCK = 0xcc3,
    BLOCK_SIZE = 0xcc6,
    GRID_SIZE = 0xcc9,
    LANE = 0xccc,
    WARP = 0xccd,
    MULTIPROCESSOR = 0xcce,
    THREAD_ID = 0xccf,
    SHARED = 0xcd0,
    SHARED_SIZE = 0xcd1
};

static uint64_t read_place(const struct warp *warp, unsigned lane, unsigned number)
{
    const struct warp_place *place = &warp->place;
    uint32_t thread[3];
    switch (number) {
    case LANE: return lane;
    case WARP: return place->warp;
    case MULTIPROCESSOR: return place->multiprocessor;
    case THREAD_ID: return warp_thread_id(warp, lane);
    case SHARED: return WARP_SHARED_WINDOW;
    case SHARED_SIZE: return place->scratchpad_size;
    default: break;
    }
    if (number >= GRID_SIZE)
        return place->grid_size[number - GRID_SIZE];
    if (number >= BLOCK_SIZE)
        return place->block_size[number - BLOCK_SIZE];
    if (number >= BLOCK)
        return place->block[number - BLOCK];
    warp_thread(warp, lane, thread);
    return thread[number - THREAD];
}

static bool read(const struct warp *warp, unsigned lane, unsigned number, uint64_t *value)
{
    switch (number) {
    case FFLAGS: *value = warp->fflags[lane]; return true;
    case FRM: *value = warp->frm[lane]; return true;
    case FCSR: *value = warp_fcsr(warp, lane); return true;
    case CYCLE: *value = warp->timed ? warp->cycles : warp->count; return true;
    case TIME: *value = warp->timed ? warp->ticks : warp->count; return true;
    case INSTRET: *value = warp->count; return true;
    case WARP_CSR_BARRIER: *value = 0; return true;
    default:
        if (number < THREAD || number > SHARED_SIZE)
            return false;
        *value = read_place(warp, lane, number);
        return true;
    }
}

static bool write(struct warp *warp, unsigned lane, unsigned number, uint64_t value)
{
    unsigned fcsr = warp_fcsr(warp, lane);
    if (number == FFLAGS)
        warp_set_fcsr(warp, lane, (fcsr & 0xe0) | (value & 31));
    else if (number == FRM)
        warp_set_fcsr(warp, lane, (fcsr & 31) | (unsigned)(value & 7) << 5);
    else if (number == FCSR)
        warp_set_fcsr(warp, lane, value & 255);
    return number == FFLAGS || number == FRM || number == FCSR || number == WARP_CSR_BARRIER;
}

/* CSRRW with rd = x0 does not read; CSRRS and CSRRC with a source field of 0 do not write. */
bool warp_csr(struct warp *warp, const struct insn *insn, unsigned lane, enum warp_csr operation,
              uint64_t operand, uint64_t *old)
{
    unsigned number = (unsigned)insn->imm & 0xfff;
    bool writes = operation == WARP_CSR_SWAP || insn->rs1 != 0;
    *old = 0;
    if (!read(warp, lane, number, old))
        return false;
    if (!writes)
        return true;
    return write(warp, lane, number,
                 operation == WARP_CSR_SWAP  ? operand
                 : operation == WARP_CSR_SET ? *old | operand
                                             : *old & ~operand);
}
