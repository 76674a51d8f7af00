/* What timing cores do while they only warm: instructions pass through caches, TLBs and the branch predictor
 * as they would in time, but take none. */
#ifndef EMU_CORE_WARM_H
#define EMU_CORE_WARM_H

#include "emu/core/code.h"
#include "emu/core/predict.h"
#include "emu/core/serial.h"

/* The entries of the core's batch from number `first` on. Nothing is counted in the predictor. */
void warm_batch(struct core *core, struct code_map *code, struct predictor *predictor, uint32_t first);

/* The fetch of the instruction at pc. */
void warm_fetch(struct core *core, struct code_map *code, uint64_t pc, unsigned length);

/* What the instruction that serial_step() has executed does to the data cache and its TLB; cache-block
 * operations take effect at once. */
void warm_serial(struct core *core, const struct serial *serial);

#endif
