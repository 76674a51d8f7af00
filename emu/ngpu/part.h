/* The state of the part kind `ngpu`, shared by its files. */
#ifndef EMU_NGPU_PART_H
#define EMU_NGPU_PART_H

#include "emu/hart/custom.h"
#include "emu/ngpu/ngpu.h"
#include "emu/sim/event.h"

/* A thread's words: inputs before its invocation, then results. */
struct ngpu_thread {
    uint64_t launch, number; /* whose words they are: 1 + the launch, and the thread's number in it */
    uint64_t network;        /* the configuration that counts for them */
    uint32_t sent, received, results;
    uint64_t done; /* fs: when the results are there */
    uint32_t words[NETWORK_INPUTS];
};

/* A recv.ngpu that waits. */
struct ngpu_wait {
    struct event event;
    struct ngpu *ngpu;
    struct custom_waiter *waiter;
    struct ngpu_wait *next; /* in the list of free ones */
    struct ngpu_wait *all;  /* in the list of all */
};

struct ngpu_counters {
    uint64_t configurations, invocations, threads;
    uint64_t sha_iterations, fxp_macs, fp_macs, words;
    uint64_t busy_clocks, queue_clocks;
};

struct ngpu {
    struct ngpu_config config;
    struct event_queue *queue;
    uint32_t component;
    uint32_t *image; /* words received so far */
    uint32_t image_words;
    uint32_t image_wanted;  /* all of its words; 0 before its header is there */
    struct network network; /* of the last whole image */
    struct network_work work;
    uint32_t neurons, shifts;    /* of all layers; iterations of SHA for a thread */
    uint64_t number;             /* counts configurations; 0: none */
    uint64_t ready;              /* fs: when all multiprocessors have the network */
    struct ngpu_thread *threads; /* by warp in the stack window, then lane */
    size_t thread_count;
    uint64_t *free; /* by multiprocessor: fs from which its units are free */
    size_t unit_count;
    struct ngpu_wait *waits, *all;
    struct ngpu_counters counters;
};

/* instructions.c: serve the instructions, as struct custom_unit says; the context is a struct ngpu. */
bool ngpu_instruction(void *context, struct custom_call *call);
bool ngpu_instruction_lanes(void *context, struct custom_lanes *lanes);

#endif
