/* The configuration of a core: one struct for in-order and out-of-order cores. */
#ifndef EMU_CORE_CONFIG_H
#define EMU_CORE_CONFIG_H

#include "emu/core/config/latency.h"
#include "emu/core/frontend/predict.h"
#include "emu/sim/part.h"

enum core_model { CORE_FUNCTIONAL, CORE_INORDER, CORE_OOO };

/* The variants of the kind. A functional core, which has no timing, shows the values of an out-of-order core. */
enum core_variant { CORE_VARIANT_INORDER, CORE_VARIANT_OOO };
enum { CORE_BIT_INORDER = 1 << CORE_VARIANT_INORDER, CORE_BIT_OOO = 1 << CORE_VARIANT_OOO };

struct core_config {
    enum core_model core;
    uint64_t clock; /* Hz */
    uint32_t range_tlb_entries;
#include "emu/sim/fields_struct.h"

#include "emu/core/config/core.def"
    struct predict_config predict;
    struct core_latencies latency;
};

/* The kind of cores. Its children: l1i, l1d (cache_kind) and tlb (tlb_kind). */
extern const struct part_kind core_kind;

/* Sets *config to the defaults of a timed core of the model. */
void core_config_default(struct core_config *config, enum core_model model);

#endif
