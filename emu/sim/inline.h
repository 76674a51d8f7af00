/* Makes the compiler inline a function. The compiler decides by the function's size, and cannot know how
 * little of it is left when arguments are constants. Use it only on paths that run at least once per event,
 * and only where a measurement justifies it. */
#ifndef EMU_SIM_INLINE_H
#define EMU_SIM_INLINE_H

#define FORCE_INLINE inline __attribute__((always_inline))

#endif
