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

/* A debugger's access: any existing CSR in any mode. */
bool csr_peek(const struct hart *hart, unsigned number, uint64_t *value);
bool csr_poke(struct hart *hart, unsigned number, uint64_t value);

#endif
