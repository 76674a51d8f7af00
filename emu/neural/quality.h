/* The iterations of SHA by layer for a stated quality: the units' clocks against the error. */
#ifndef EMU_NEURAL_QUALITY_H
#define EMU_NEURAL_QUALITY_H

#include "emu/neural/train.h"

/* Chooses, of all numbers of iterations by layer (1 to ARITH_SHIFTS each), those with the fewest clocks of the units for an
 * invocation (network_work()) whose error in setup->check, as train_error() gives it, is at most `most`: in the order of clocks, each
 * whose weights, rounded as they are, have at most twice that error is trained on from weights[] for setup->epochs, and the first that
 * then is good enough is taken. Sets setup->iterations, and the network's words and weights[] as train_network() does. The network is
 * trained, and of kind ARITH_SHA. Returns the error; if no choice is good enough, the least one that was found, with its network. */
double quality_choose(struct network *network, float *weights, struct train_setup *setup, double most);

#endif
