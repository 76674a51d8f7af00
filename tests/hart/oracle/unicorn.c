#include <inttypes.h>
#include <string.h>

#include <unicorn/unicorn.h>

#include "tests/hart/oracle/oracle.h"

enum { REGISTERS = 64, MSTATUS_FS = 0x6000 };

static bool report(struct error *err, const char *what, uc_err code)
{
    return error_set(err, "unicorn: %s: %s", what, uc_strerror(code));
}

static bool open_engine(uc_engine **uc, const struct batch *batch, struct error *err)
{
    uc_err code = uc_open(UC_ARCH_RISCV, UC_MODE_RISCV64, uc);
    if (code != UC_ERR_OK)
        return report(err, "open", code);
    uint64_t fs = MSTATUS_FS;
    if ((code = uc_mem_map(*uc, BATCH_END, BATCH_LIMIT - BATCH_END, UC_PROT_ALL)) != UC_ERR_OK ||
        (code = uc_mem_write(*uc, BATCH_CODE, batch->code, batch->count * BATCH_CODE_BYTES)) != UC_ERR_OK ||
        (code = uc_mem_write(*uc, BATCH_STATES, batch->states, batch->count * sizeof(struct state))) !=
            UC_ERR_OK ||
        (code = uc_reg_write(*uc, UC_RISCV_REG_MSTATUS, &fs)) != UC_ERR_OK) {
        (void)uc_close(*uc);
        return report(err, "set-up", code);
    }
    return true;
}

/* The identifiers of x0-x31 and f0-f31, and their places in struct state. */
static void registers_of(struct state *state, int ids[REGISTERS], void *values[REGISTERS])
{
    for (int i = 0; i < 32; i++) {
        ids[i] = UC_RISCV_REG_X0 + i;
        values[i] = &state->x[i];
        ids[32 + i] = UC_RISCV_REG_F0 + i;
        values[32 + i] = &state->f[i];
    }
}

static bool run_block(uc_engine *uc, uint64_t index, const struct state *before, struct state *after,
                      struct error *err)
{
    int ids[REGISTERS];
    void *values[REGISTERS];
    *after = *before;
    registers_of(after, ids, values);
    uc_err code;
    uint64_t pc = 0, fcsr = before->fcsr;
    if ((code = uc_reg_write_batch(uc, ids, values, REGISTERS)) != UC_ERR_OK ||
        (code = uc_reg_write(uc, UC_RISCV_REG_FCSR, &fcsr)) != UC_ERR_OK ||
        (code = uc_emu_start(uc, batch_code_at(index), BATCH_END, 0, 0)) != UC_ERR_OK ||
        (code = uc_reg_read_batch(uc, ids, values, REGISTERS)) != UC_ERR_OK ||
        (code = uc_reg_read(uc, UC_RISCV_REG_FCSR, &after->fcsr)) != UC_ERR_OK ||
        (code = uc_reg_read(uc, UC_RISCV_REG_PC, &pc)) != UC_ERR_OK)
        return report(err, "run", code);
    if (pc != BATCH_END)
        return error_set(err, "unicorn: block %" PRIu64 " ends at 0x%" PRIx64, index, pc);
    code = uc_mem_read(uc, batch_state_at(index) + (uint64_t)(after->window - (uint8_t *)after),
                       after->window, sizeof after->window);
    return code == UC_ERR_OK || report(err, "read", code);
}

bool oracle_unicorn(const struct batch *batch, struct state *after, struct error *err)
{
    uc_engine *uc;
    if (!open_engine(&uc, batch, err))
        return false;
    bool ok = true;
    for (uint64_t i = 0; ok && i < batch->count; i++)
        ok = run_block(uc, i, &batch->states[i], &after[i], err);
    (void)uc_close(uc);
    return ok;
}
