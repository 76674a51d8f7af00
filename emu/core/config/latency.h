/* The latencies of instructions by kind of work: tables with defaults like those of Cortex-A53 and Cortex-A57. */
#ifndef EMU_CORE_CONFIG_LATENCY_H
#define EMU_CORE_CONFIG_LATENCY_H

#include "emu/core/core.h"

/* One value for each row of latency.def. */
enum core_work {
#define LATENCY(name, ...) CORE_WORK_##name,
#include "emu/core/config/latency.def"
    CORE_WORKS
};

/* The issue ports of an out-of-order core, as bits: those of Cortex-A57 (AArch64SchedA57.td: units B, 2 x I, M, L, S,
 * X, W). */
enum core_port {
    PORT_BRANCH = 1,
    PORT_ALU0 = 2,
    PORT_ALU1 = 4,
    PORT_ALU = PORT_ALU0 | PORT_ALU1,
    PORT_MULTI = 8, /* multiplication, division */
    PORT_LOAD = 16,
    PORT_STORE = 32,
    PORT_FP0 = 64, /* also divides */
    PORT_FP1 = 128,
    PORT_FP = PORT_FP0 | PORT_FP1,
    PORTS = 8,
};

struct core_latencies {
    struct core_latency of[CORE_WORKS];
};

/* Returns the kind of work of an instruction; `serial` for illegal instructions. */
enum core_work core_work_of(enum insn_id id);

/* Fills a table of latencies by instruction, for the cores' inner loops. */
void core_latencies_expand(const struct core_latencies *latencies, struct core_latency table[INSN_COUNT]);

#endif
