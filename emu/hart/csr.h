/* Control and status registers, as CSR instructions see them. */
#ifndef EMU_HART_CSR_H
#define EMU_HART_CSR_H

#include <stdbool.h>
#include <stdint.h>

struct hart;

/* Reads CSR `number` into *value; false when it does not exist or may not be read: an illegal instruction. */
bool csr_read(const struct hart *hart, unsigned number, uint64_t *value);

/* Writes CSR `number`, keeping only legal bits; false when it does not exist or is read-only. */
bool csr_write(struct hart *hart, unsigned number, uint64_t value);

#endif
