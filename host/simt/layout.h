/* Constants shared by entry.S and C; simt.h and scalar.c check them. Offsets of struct simt_thread's fields
 * from tp, which points just past the struct, and the size of the frame that simt_scalar_switch() pushes. */
#ifndef HOST_SIMT_LAYOUT_H
#define HOST_SIMT_LAYOUT_H

#define SIMT_THREAD_SIZE   32
#define SIMT_THREAD_NUMBER (-32)
#define SIMT_THREAD_AFTER  (-24)
#define SIMT_THREAD_END    (-16)
#define SIMT_THREAD_REENT  (-8)

#define SIMT_SWITCH_FRAME 224

/* The frame that croft_simt_barrier() and croft_simt_yield() push: t0 and 35 registers. */
#define SIMT_SAVE_FRAME 288

#endif
