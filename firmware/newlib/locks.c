/* newlib's locks in machine mode. They let several harts use stdio and malloc(); all harts share errno.
 * Interrupt handlers should use uart.h instead. */
#include <croft/firmware/hart.h>
#include <stdint.h>

static inline uint64_t lock_self(void)
{
    return hart_id() + 1;
}

static inline void lock_pause(void)
{
}

#include "host/newlib/locks.h"
