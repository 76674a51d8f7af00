/* Offsets in struct trap_frame (croft/firmware/trap.h) for assembler; trap.c checks them. */
#ifndef FIRMWARE_START_TRAP_FRAME_H
#define FIRMWARE_START_TRAP_FRAME_H

#define FRAME_PC     (32 * 8)
#define FRAME_STATUS (33 * 8)
#define FRAME_CAUSE  (34 * 8)
#define FRAME_VALUE  (35 * 8)
#define FRAME_FP     (36 * 8) /* followed by f0-f7, f10-f17, f28-f31, fcsr */

#endif
