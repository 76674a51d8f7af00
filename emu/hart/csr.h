/* Control and status registers, as CSR instructions and debuggers see them. */
#ifndef EMU_HART_CSR_H
#define EMU_HART_CSR_H

#include <stdbool.h>
#include <stdint.h>

struct hart;

/* Reads CSR `number` into *value; false when it does not exist or the hart's mode may not read it: an illegal
 * instruction. */
bool csr_read(const struct hart *hart, unsigned number, uint64_t *value);

/* Writes CSR `number`, keeping only legal values (WARL); false when it does not exist, is read-only, or the
 * hart's mode may not write it. */
bool csr_write(struct hart *hart, unsigned number, uint64_t value);

/* The CSRs that hold the bits of CSR `number`: mstatus for sstatus, mie for sie, mip for sip, fflags and frm
 * for fcsr; else itself. Returns how many there are, 1 or 2. */
unsigned csr_holders(unsigned number, unsigned holders[2]);

/* What CSRRS and CSRRC set and clear bits of, where `read` is what they read: of mip and sip, only what
 * software has written, without the wires (privileged specification, section 3.1.9). */
uint64_t csr_to_modify(const struct hart *hart, unsigned number, uint64_t read);

/* A debugger's access: any existing CSR in any mode. */
bool csr_peek(const struct hart *hart, unsigned number, uint64_t *value);
bool csr_poke(struct hart *hart, unsigned number, uint64_t value);

#endif
