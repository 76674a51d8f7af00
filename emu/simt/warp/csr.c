/* The CSRs of threads: floating-point state, counters, coordinates, and the barrier. */
#include "isa/csr.h"
#include "emu/simt/local_memory.h"
#include "emu/simt/warp/state.h"

unsigned warp_fcsr(const struct warp *warp, unsigned lane)
{
    return (unsigned)warp->frm[lane] << 5 | warp->fflags[lane];
}

void warp_set_fcsr(struct warp *warp, unsigned lane, unsigned fcsr)
{
    warp->fflags[lane] = fcsr & 31;
    warp->frm[lane] = fcsr >> 5 & 7;
    warp->frm_set = warp->frm_set || warp->frm[lane];
}

void warp_thread(const struct warp *warp, unsigned lane, uint32_t thread[3])
{
    const uint32_t *size = warp->place.block_size;
    uint32_t linear = warp->place.warp * warp->memory->setup.width + lane;
    thread[0] = linear % size[0];
    thread[1] = linear / size[0] % size[1];
    thread[2] = linear / size[0] / size[1];
}

uint64_t warp_thread_id(const struct warp *warp, unsigned lane)
{
    const struct warp_place *place = &warp->place;
    uint64_t block =
        (((uint64_t)place->block[2] * place->grid_size[1]) + place->block[1]) * place->grid_size[0] +
        place->block[0];
    return block * warp_block_threads(place) + (uint64_t)place->warp * warp->memory->setup.width + lane;
}

static uint64_t read_place(const struct warp *warp, unsigned lane, unsigned number)
{
    const struct warp_place *place = &warp->place;
    uint32_t thread[3];
    switch (number) {
    case CSR_slane: return lane;
    case CSR_swarp: return place->warp;
    case CSR_smp: return place->multiprocessor;
    case CSR_sthread_id: return warp_thread_id(warp, lane);
    case CSR_sshared: return WARP_SHARED_WINDOW;
    case CSR_sshared_size: return place->scratchpad_size;
    case CSR_sstash: {
        const struct warp_local *local = warp_memory_local(warp->memory);
        return local ? local->maps(local->context, &warp->pad) : 0;
    }
    case CSR_sdma: {
        const struct custom_units *units = warp->memory->setup.custom;
        return units && units->of[EXTENSION_Xdma].execute;
    }
    default: break;
    }
    if (number >= CSR_sgriddim_x)
        return place->grid_size[number - CSR_sgriddim_x];
    if (number >= CSR_sblockdim_x)
        return place->block_size[number - CSR_sblockdim_x];
    if (number >= CSR_sblock_x)
        return place->block[number - CSR_sblock_x];
    warp_thread(warp, lane, thread);
    return thread[number - CSR_sthread_x];
}

void warp_csr_lanes(const struct warp *warp, unsigned number, uint64_t values[WARP_LANES])
{
    const uint32_t *size = warp->place.block_size;
    uint32_t thread[3];
    uint64_t step = number == CSR_slane || number == CSR_sthread_id;
    if (number > CSR_sthread_z) {
        values[0] = read_place(warp, 0, number);
        for (unsigned lane = 1; lane < WARP_LANES; lane++)
            values[lane] = values[lane - 1] + step;
        return;
    }
    warp_thread(warp, 0, thread);
    for (unsigned lane = 0; lane < WARP_LANES; lane++) {
        values[lane] = thread[number - CSR_sthread_x];
        bool carry = ++thread[0] == size[0];
        thread[0] = carry ? 0 : thread[0];
        thread[1] += carry;
        carry = thread[1] == size[1];
        thread[1] = carry ? 0 : thread[1];
        thread[2] += carry;
    }
}

static bool read(const struct warp *warp, unsigned lane, unsigned number, uint64_t *value)
{
    switch (number) {
    case CSR_fflags: *value = warp->fflags[lane]; return true;
    case CSR_frm: *value = warp->frm[lane]; return true;
    case CSR_fcsr: *value = warp_fcsr(warp, lane); return true;
    case CSR_cycle: *value = warp->timed ? warp->cycles : warp->count; return true;
    case CSR_time: *value = warp->timed ? warp->time / warp->tick : warp->count; return true;
    case CSR_instret: *value = warp->count; return true;
    case CSR_sbarrier: *value = 0; return true;
    default:
        if (number < CSR_sthread_x || number > CSR_sdma)
            return false;
        *value = read_place(warp, lane, number);
        return true;
    }
}

bool warp_csr_peek(const struct warp *warp, unsigned lane, unsigned number, uint64_t *value)
{
    return read(warp, lane, number, value);
}

static bool write(struct warp *warp, unsigned lane, unsigned number, uint64_t value)
{
    unsigned fcsr = warp_fcsr(warp, lane);
    if (number == CSR_fflags)
        warp_set_fcsr(warp, lane, (fcsr & 0xe0) | (value & 31));
    else if (number == CSR_frm)
        warp_set_fcsr(warp, lane, (fcsr & 31) | (unsigned)(value & 7) << 5);
    else if (number == CSR_fcsr)
        warp_set_fcsr(warp, lane, value & 255);
    return number == CSR_fflags || number == CSR_frm || number == CSR_fcsr || number == CSR_sbarrier;
}

/* CSRRW with rd = x0 does not read; CSRRS and CSRRC with a source field of 0 do not write. */
bool warp_csr(struct warp *warp, const struct insn *insn, unsigned lane, enum warp_csr operation,
              uint64_t operand, uint64_t *old)
{
    unsigned number = (unsigned)insn->imm & 0xfff;
    bool writes = operation == WARP_CSR_SWAP || insn->rs1 != 0;
    *old = 0;
    if (number == CSR_sbarrier) /* by far the most frequent */
        return true;
    if (!read(warp, lane, number, old))
        return false;
    if (!writes)
        return true;
    return write(warp, lane, number,
                 operation == WARP_CSR_SWAP  ? operand
                 : operation == WARP_CSR_SET ? *old | operand
                                             : *old & ~operand);
}
