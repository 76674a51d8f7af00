/* Batches for implementations that lack extensions of ours. */
#ifndef TESTS_HART_ORACLE_KNOWN_H
#define TESTS_HART_ORACLE_KNOWN_H

#include "isa/decode.h"
#include "tests/hart/oracle/batch.h"

/* Where generated code has this register reserved: all ones if the next Zicond instruction keeps its operand, else 0. */
enum { KNOWN_MASK = 31 };

/* Copies the batch and replaces instructions that qemu-riscv64 7.2 lacks by others with the same effect and size, as the
 * specifications define them: a Zicond instruction is an AND with the register KNOWN_MASK, a Zcb instruction with the c.nop
 * behind it is its expansion. */
void known_batch(const struct decoder *decoder, const struct batch *from, struct batch *to);

#endif
