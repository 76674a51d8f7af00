/* Warming: instructions pass through caches, TLBs and the branch predictor as in timed execution, but take no time. */
#ifndef EMU_CORE_WARM_H
#define EMU_CORE_WARM_H

#include "emu/core/frontend/code_map.h"
#include "emu/core/frontend/predict.h"
#include "emu/core/serial.h"

/* Warms with entries `first` and later of the core's batch. The predictor counts nothing. */
void warm_batch(struct core *core, struct code_map *code, struct predictor *predictor, uint32_t first);

/* Warms with the fetch of the instruction at pc. */
void warm_fetch(struct core *core, struct code_map *code, uint64_t pc, unsigned length);

/* Warms data cache and TLB with the accesses of an instruction that serial_step() has executed; cache-block operations
 * take effect at once. */
void warm_serial(struct core *core, const struct serial *serial);

#endif
