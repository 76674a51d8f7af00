/* Gets a process of Linux the chips of AxRAM for <croft/axram_memory.h>, through /dev/axram. */
#define _GNU_SOURCE
#include "host/linux/chips.h"

#include <errno.h>
#include <fcntl.h>
#include <limits.h>
#include <stdlib.h>
#include <string.h>
#include <sys/ioctl.h>
#include <sys/mman.h>
#include <unistd.h>

#include "host/axram/memory.h"
#include "host/linux/axram_device.h"

#ifndef MAP_FIXED_NOREPLACE
#define MAP_FIXED_NOREPLACE 0x100000
#endif

static int failed(int device, const char *what)
{
    const int number = errno;
    close(device);
    return axram_fail(number, "/dev/axram: %s: %s", what, strerror(number));
}

/* Returns the number in AXRAM_CHIPS; 0: all chips. What is no number is more than any machine has. */
static unsigned wanted(const char *text)
{
    char *end;
    const unsigned long number = text ? strtoul(text, &end, 10) : 0;
    return text && (*end || end == text || number == 0 || number > UINT_MAX) ? UINT_MAX : (unsigned)number;
}

/* Takes chips. Returns 0 or -1. */
static int take(int device, struct axram_chips *chips)
{
    const char *text = getenv("AXRAM_CHIPS");
    chips->count = wanted(text);
    while (ioctl(device, AXRAM_TAKE, chips) != 0) {
        if (errno == EINVAL && text) {
            close(device);
            return axram_fail(
                EINVAL,
                "AXRAM_CHIPS=%s: the machine has fewer chips, or the number is not a multiple of "
                "those that work together; unset it for all chips",
                text);
        }
        if (errno != EINTR)
            return failed(device, "taking chips");
    }
    return 0;
}

int chips_take(struct chips_taken *taken)
{
    const int device = open("/dev/axram", O_RDWR | O_CLOEXEC);
    struct axram_chips chips;
    if (device < 0)
        return axram_fail(errno, "/dev/axram: %s", strerror(errno));
    memset(&chips, 0, sizeof chips);
    if (take(device, &chips) != 0)
        return -1;
    /* Where programs of `croft run` have it, so that addresses that they compute are the same. */
    void *const place = (void *)(uintptr_t)chips.base;
    void *const mapped =
        mmap(place, chips.size, PROT_READ | PROT_WRITE, MAP_SHARED | MAP_FIXED_NOREPLACE, device, 0);
    if (mapped != place)
        return failed(
            device, "mapping accelerator memory at its physical address, which this process may use already");
    close(device);
    *taken = (struct chips_taken){.base = chips.base + chips.first * chips.piece,
                                  .size = chips.size / chips.all * chips.count,
                                  .turn = chips.piece * chips.all,
                                  .piece = chips.piece,
                                  .count = chips.count};
    return 0;
}
