/* newlib's locks between the host and the threads of multiprocessors.
 *
 * Lanes of one warp may wait for each other here. A spinning lane shares its warp's turns with the holder, as
 * isa/MANUAL.md guarantees (chapter SIMT, progress), so the holder reaches its release. The pause in the loop makes
 * this happen at once, also where the holder waits for the spinning lanes at a post-dominator. */
#include <croft/simt.h>
#include <stdint.h>

#include "host/simt/simt.h"

static inline uint64_t lock_self(void)
{
    return simt_thread_number();
}

static inline void lock_pause(void)
{
    simt_pause();
}

#include "host/newlib/locks.h"
