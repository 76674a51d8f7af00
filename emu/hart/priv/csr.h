/* Control and status registers, for CSR instructions and debuggers. */
#ifndef EMU_HART_PRIV_CSR_H
#define EMU_HART_PRIV_CSR_H

#include <stdbool.h>
#include <stdint.h>

struct hart;

/* Reads CSR `number` into *value. Returns false if it does not exist or the hart's mode may not read it: an illegal
 * instruction. */
bool csr_read(const struct hart *hart, unsigned number, uint64_t *value);

/* Writes CSR `number`, keeping only legal values (WARL). Returns false if it does not exist, is read-only, or the
 * hart's mode may not write it. */
bool csr_write(struct hart *hart, unsigned number, uint64_t value);

/* Lists the CSRs that hold the bits of CSR `number`: mstatus for sstatus, mie for sie, mip for sip, fflags and frm for
 * fcsr; else `number` itself. Returns their number, 1 or 2. */
unsigned csr_holders(unsigned number, unsigned holders[2]);

/* Returns the value in which CSRRS and CSRRC set and clear bits; `read` is the value that they read. For mip and sip the
 * returned value has only the bits that software has written, without the interrupt wires (privileged specification,
 * section 3.1.9). */
uint64_t csr_to_modify(const struct hart *hart, unsigned number, uint64_t read);

/* A debugger's access: to any existing CSR in any mode; csr_poke() returns false for read-only ones. */
bool csr_peek(const struct hart *hart, unsigned number, uint64_t *value);
bool csr_poke(struct hart *hart, unsigned number, uint64_t value);

#endif
