/* A small machine for tests of timing cores: a hart with a megabyte of memory, first-level caches, and below them a
 * port that answers after a fixed time. Programs are assembled instruction by instruction. */
#ifndef TESTS_CORE_RIG_H
#define TESTS_CORE_RIG_H

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#include "emu/core/core.h"
#include "emu/core/tlb.h"
#include "tests/isa/encode.h"

#define RIG_BASE  UINT64_C(0x80000000)
#define RIG_SIZE  UINT64_C(0x100000)
#define RIG_FAR   UINT64_C(0x80080000) /* from here on the port answers as main memory, below as an L2 */
#define RIG_CLOCK UINT64_C(1000000)    /* fs */

enum {
    RIG_NEAR_CLOCKS = 20, /* from the cache's request to its response, below RIG_FAR */
    RIG_FAR_CLOCKS = 100,
    RIG_REQUESTS = 256,
    RIG_STOPS = 16,
};

struct rig_options {
    struct cache_config l1i, l1d;
    bool privileged; /* machine mode without devices */
    bool cold;       /* the program is not in the instruction cache when it starts */
    uint64_t mmio_clocks;
    const struct bus *bus;
};

/* 32 KiB, 4 ways, 64-byte lines, hits in 2 clocks, 8 MSHRs, 8 targets, not coherent; not privileged. */
struct rig_options rig_options_default(void);

struct rig_flight {
    struct rig *rig;
    struct mem_request *request;
    struct event event;
};

struct rig {
    struct rig_options options;
    struct event_queue queue;
    struct clock clock;
    struct phys memory;
    struct bus bus;
    struct decoder *decoder;
    struct hart hart;
    struct cache *l1i, *l1d;
    struct core_tlb *tlb; /* NULL, or made by the test; rig_free() frees it */
    struct core *core;
    uint64_t at; /* address of the next instruction */

    /* The port. */
    struct rig_flight flights[RIG_REQUESTS];
    uint64_t reads, writes, maintained;
    uint64_t asked[RIG_REQUESTS]; /* line addresses of the first reads, in order of arrival */

    /* The server. Programs end by ECALL, which stops a hart that is not privileged. */
    unsigned stop_count;
    enum hart_stop stops[RIG_STOPS];
    uint64_t stop_times[RIG_STOPS];
    enum core_next (*served)(struct rig *rig, enum hart_stop stop); /* NULL: always returns CORE_SLEEP */
    struct core_observer observer;
    uint64_t stalled[CPI_CAUSES]; /* stalled clocks reported to the observer, by cause */
    uint64_t notes;               /* instructions reported to the observer */
};

/* Makes a machine without core: make one from rig_parts() and put it into rig->core, which rig_free() frees. */
struct rig *rig_new(const struct rig_options *options);
struct core_parts rig_parts(struct rig *rig);
void rig_free(struct rig *rig);

/* Emits an instruction at rig->at: RIG_EMIT(rig, addi, .rd = 5, .rs1 = 0, .imm = 5). */
void rig_emit(struct rig *rig, enum insn_id id, struct operands operands);
#define RIG_EMIT(rig, name, ...) rig_emit(rig, INSN_##name, (struct operands){__VA_ARGS__})

/* Emits a branch or JAL to an address. */
void rig_branch(struct rig *rig, enum insn_id id, uint8_t rs1, uint8_t rs2, uint64_t to);
void rig_jump(struct rig *rig, uint8_t rd, uint64_t to);

/* Emits a step of xorshift64 in x5, which is not 0, by x6, and sets rd to its lowest bit. */
void rig_random_bit(struct rig *rig, uint8_t rd);

/* Emits rd = value, in up to 8 instructions. */
void rig_set(struct rig *rig, uint8_t rd, uint64_t value);

void rig_store64(struct rig *rig, uint64_t address, uint64_t value);

/* Puts a privileged hart into supervisor mode, with main memory identity-mapped by pages of 4 KiB; the root, middle and
 * last tables are at the far end. */
void rig_map(struct rig *rig);

/* Brings [address, address + size) into the data cache. */
void rig_warm(struct rig *rig, uint64_t address, uint64_t size, bool dirty);

/* Starts the core at RIG_BASE and runs until it sleeps for good; returns the cycles. Fails unless the CPI stack adds up
 * to all cycles, and cycles plus time asleep to the elapsed time. */
uint64_t rig_run(struct rig *rig);

/* Adds an observer that checks that instructions retire in program order and that their times do not decrease. */
void rig_observe(struct rig *rig);

/* Measures the cost of one iteration of a loop: makes two programs from setup() (once each, may be NULL), body() and a
 * loop around it that counts x31 down, runs them for n and 2n iterations, and returns the difference in cycles: n
 * iterations, except for start-up effects. make() makes the core. The difference in CPI causes is stored in causes,
 * unless that is NULL. */
struct rig_loop {
    void (*setup)(struct rig *rig);
    void (*body)(struct rig *rig);
    struct core *(*make)(struct rig *rig, const void *context);
    const void *context;
    const struct rig_options *options; /* NULL: the defaults */
    uint64_t iterations;
};
uint64_t rig_loop(const struct rig_loop *loop, uint64_t causes[CPI_CAUSES]);

/* Fails unless cycles / iterations is `each`, within slack; both are in hundredths of a cycle. */
void rig_check(uint64_t cycles, uint64_t iterations, uint64_t hundredths, uint64_t slack, const char *what);

#endif
