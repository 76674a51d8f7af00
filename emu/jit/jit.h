/* A compiler for a hart's hot code: when to compile, what has been compiled, and its memory. */
#ifndef EMU_JIT_JIT_H
#define EMU_JIT_JIT_H

#include <stdbool.h>
#include <stdint.h>

#include "emu/jit/check.h"
#include "isa/insn.h"

struct hart;
struct jit;

enum jit_mode {
    JIT_OFF,
    JIT_ON,     /* compiles what has run long enough to pay for it */
    JIT_ALWAYS, /* compiles what has run once: for tests */
    JIT_CHECK,  /* as JIT_ALWAYS, with each run of compiled code beside single steps */
};

enum { JIT_MEMORY_LEAST = 1 << 20, JIT_MEMORY = 64 << 20, JIT_MEMORY_MOST = 1 << 30 };

/* Return NULL if this host can compile at all, or, for jit_lacks_llvm(), by both compilers, or else what it lacks. The second opens
 * LLVM's library. */
const char *jit_lacks(void);
const char *jit_lacks_llvm(void);

/* A compiled region, and how often its code was entered. */
struct jit_ran {
    uint64_t pc; /* of its first block */
    uint32_t blocks, insns;
    bool thorough; /* LLVM made it */
    uint64_t entered;
};

struct jit_counter {
    void (*ran)(void *context, const struct jit_ran *ran);
    void *context;
};

/* Attaches a compiler to the hart, which must outlive it. It keeps about `memory` bytes of code, at least JIT_MEMORY_LEAST, and
 * forgets all when they are used up. Where nothing can be compiled, code is interpreted. Returns NULL for JIT_OFF. */
struct jit *jit_new(struct hart *hart, enum jit_mode mode, uint64_t memory);

/* JIT_CHECK: tells differences to the listener. Without one, they end the process with a message. */
void jit_set_listener(struct jit *jit, const struct check_listener *listener);

/* For tests: tells the counter about each region when it is forgotten, at the latest by jit_free(). */
void jit_set_counter(struct jit *jit, const struct jit_counter *counter);

/* For tests: the quick compiler compiles all that jit_compile() is asked for. */
void jit_use_quick(struct jit *jit);

/* For tests: LLVM compiles all that is compiled from now on. */
void jit_use_llvm(struct jit *jit);

/* For tests: as jit_use_llvm(), and regions have row b's function in place of row a's. Returns false if nothing can be compiled. */
bool jit_replace_row(struct jit *jit, enum insn_id a, enum insn_id b);

void jit_free(struct jit *jit); /* may be NULL */

/* Compiles the code around pc now, if it has run, and is not the entry of a region already. Returns whether it is one then. */
bool jit_compile(struct jit *jit, uint64_t pc);

/* Waits for the code that is being made in the background. */
void jit_wait(struct jit *jit);

/* Waits, and returns whether a region could not be compiled, for which jit_lacks() or jit_lacks_llvm() may have the reason: nothing was compiled since. */
bool jit_failed(struct jit *jit);

/* Returns how many regions have been chosen for compiling, and how often their code was entered. */
uint64_t jit_regions(const struct jit *jit);
uint64_t jit_entered(const struct jit *jit);

#endif
