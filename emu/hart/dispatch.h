/* Dispatch from one handler to the next, with the GNU extensions on which the interpreter's speed depends. */
#ifndef EMU_HART_DISPATCH_H
#define EMU_HART_DISPATCH_H

#define LIKELY(condition)   __builtin_expect(!!(condition), 1)
#define UNLIKELY(condition) __builtin_expect(!!(condition), 0)
#define ALWAYS_INLINE       inline __attribute__((always_inline))
#define COLD                __attribute__((cold, noinline))
#define NOINLINE            __attribute__((noinline))

/* A handler ends in a tail call of the next one, so that operands stay in host registers. GCC makes it one whenever it
 * optimises; Clang is told to. Builds without optimisation or with sanitizers (CROFT_TRAMPOLINE) instead return the
 * next op to a loop, and keep acc and budget in the hart. TAIL_RETURN marks calls of one handler by another, which must
 * not accumulate stack frames either. */
#if !defined(__OPTIMIZE__) || defined(CROFT_TRAMPOLINE)
#define HART_TRAMPOLINE 1
#define DISPATCH(next)                                                                                       \
    do {                                                                                                     \
        hart->acc = acc;                                                                                     \
        hart->budget = budget;                                                                               \
        return (next);                                                                                       \
    } while (0)
#define TAIL_RETURN return
#else
#define HART_TRAMPOLINE 0
#ifdef __clang__
#define TAIL_RETURN __attribute__((musttail)) return
#else
#define TAIL_RETURN return
#endif
#define DISPATCH(next) TAIL_RETURN(next)->run(hart, (next), acc, budget)
#endif

#endif
