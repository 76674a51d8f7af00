/* Neural units in the lanes of multiprocessors, with which the AxRAM paper compares itself (NGPU: Yazdanbakhsh et al., "Neural
 * acceleration for GPU throughput processors", MICRO 2015).
 *
 *   send_cfg.ngpu rs1   the next word of a network's image (emu/neural/network.h) goes to all multiprocessors; by host cores
 *   send.ngpu rs1       the thread's next input, a data word (emu/neural/arith.h); by threads of warps
 *   recv.ngpu rd        the thread's next result; waits for it
 *
 * Configuration. The words of an image, header first, follow each other. With the last one, all multiprocessors have the network,
 * `message` later. A first word that is no signature, sizes that no unit executes, and networks that do not fit `weights` and
 * `buffer` trap.
 *
 * Invocation. With its last input, a thread has a result for each neuron of the last layer; it receives them in order, all of
 * them before its next input. The threads of a warp that send their last inputs together are one invocation.
 *
 * Time. A multiprocessor executes one invocation after the other, in order of their last inputs. All lanes do the same step with
 * the same weight: one multiply-accumulate a clock of the multiprocessor (SHA: a clock for each shift), and sigmoid_clocks for
 * each neuron. Instructions that send take the latency of their class; one that receives waits as a load does. Threads whose
 * cores are not timed do not wait.
 *
 * Not modelled: the distribution of the words of an image to the multiprocessors beyond `message`, and buffers that are shared by
 * warps: each thread has its own. */
#ifndef EMU_NGPU_NGPU_H
#define EMU_NGPU_NGPU_H

#include "emu/neural/network.h"
#include "emu/sim/part.h"

struct ngpu_config {
#include "emu/sim/fields_struct.h"

#include "emu/ngpu/ngpu.def"
};

/* The units of all multiprocessors of a machine. */
extern const struct part_kind ngpu_kind;

#endif
