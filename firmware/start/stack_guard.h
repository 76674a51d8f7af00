/* The guard below a hart's stack: PMP entries 12 and 13, of 16. Programs that use PMP take the first entries, which
 * also take precedence, and the last ones for everything else. */
#ifndef FIRMWARE_START_STACK_GUARD_H
#define FIRMWARE_START_STACK_GUARD_H

#define GUARD_START  pmpaddr12 /* address / 4 */
#define GUARD_END    pmpaddr13 /* its entry is the one that covers the range (top of range) */
#define GUARD_CONFIG pmpcfg2   /* of entries 8 to 15 */

#define GUARD_LOCK_BIT    47           /* L of entry 13 */
#define GUARD_CONFIG_BITS (0x88 << 40) /* L, and A = TOR, without R, W and X */

#endif
