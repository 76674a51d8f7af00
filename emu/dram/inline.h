/* Functions that the compiler must inline. It decides by a function's size, without knowing how small the
 * function becomes when its arguments are constants. Use this only in paths that run at least once per event,
 * and where a measurement supports it. */
#ifndef EMU_SIM_INLINE_H
#define EMU_SIM_INLINE_H

#define FORCE_INLINE inline __attribute__((always_inline))

#endif
