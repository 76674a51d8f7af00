/* Numbers of the CSRs: CSR_mstatus and so on, a constant for each row of csr.def. */
#ifndef ISA_CSR_H
#define ISA_CSR_H

enum csr_number {
#define CSR(name, number, text) CSR_##name = number,
#include "isa/csr.def"
};

#endif
