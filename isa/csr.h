/* CSR numbers: a constant CSR_mstatus etc. for each row of csr.def. */
#ifndef ISA_CSR_H
#define ISA_CSR_H

enum csr_number {
#define CSR(name, number, text) CSR_##name = number,
#include "isa/csr.def"
};

#endif
