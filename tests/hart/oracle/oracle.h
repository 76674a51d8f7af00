/* Independent implementations that run batches: qemu-riscv64 as a process, libunicorn in this one. */
#ifndef TESTS_HART_ORACLE_ORACLE_H
#define TESTS_HART_ORACLE_ORACLE_H

#include <stdbool.h>

#include "emu/sim/error.h"
#include "tests/hart/oracle/batch.h"

/* Runs the batch's blocks under `emulator RUNNER`, and fills after[0 .. count-1]. Files go to `folder`. */
bool oracle_qemu(const char *runner, const char *folder, const struct batch *batch, struct state *after,
                 struct error *err);

/* Runs the batch's blocks with libunicorn. */
bool oracle_unicorn(const struct batch *batch, struct state *after, struct error *err);

#endif
