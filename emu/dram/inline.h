/* Functions that the compiler must put into their callers. It judges by a function's size, and cannot know
 * how little is left of one whose arguments are constants. For paths that run once an event or more, where
 * that was measured. */
#ifndef EMU_SIM_INLINE_H
#define EMU_SIM_INLINE_H

#define FORCE_INLINE inline __attribute__((always_inline))

#endif
