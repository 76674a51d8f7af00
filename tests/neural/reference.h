/* An independent reference of AxRAM's arithmetic and networks, from the definitions in emu/neural/arith.h and network.h: exact
 * integers of any size that is needed, one addition at a time; no floating point of the host but for the sigmoid table. */
#ifndef TESTS_NEURAL_REFERENCE_H
#define TESTS_NEURAL_REFERENCE_H

#include "emu/neural/network.h"

/* As arith_accumulate() and arith_sigmoid(). */
uint64_t reference_accumulate(enum arith_kind kind, uint64_t sum, uint32_t data, uint32_t weight);
uint32_t reference_sigmoid(enum arith_kind kind, uint64_t sum);

/* Single precision by integers: rounded to nearest, ties to even; NaNs are 0x7fc00000. */
uint32_t reference_multiply(uint32_t a, uint32_t b);
uint32_t reference_add(uint32_t a, uint32_t b);

/* As network_evaluate(), by recursion over the definition of a neuron. */
void reference_network(const struct network *network, const uint32_t *inputs, uint32_t *outputs);

#endif
