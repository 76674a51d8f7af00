/* What entry.S and C have to agree on; simt.h and scalar.c compare. Distances of struct simt_thread's fields from tp, which
 * points behind it, and the size of the frame that simt_scalar_switch() leaves on the stack. */
#ifndef HOST_SIMT_LAYOUT_H
#define HOST_SIMT_LAYOUT_H

#define SIMT_THREAD_SIZE   32
#define SIMT_THREAD_NUMBER (-32)
#define SIMT_THREAD_AFTER  (-24)
#define SIMT_THREAD_END    (-16)
#define SIMT_THREAD_REENT  (-8)

#define SIMT_SWITCH_FRAME 224

#endif
