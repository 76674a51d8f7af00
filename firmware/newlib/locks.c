/* newlib's locks in machine mode, between harts. They let several harts use stdio and malloc(); errno is common to all
 * harts. Interrupt handlers should use uart.h instead. */
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
