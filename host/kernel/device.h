/* The accelerators' devices as the driver sees them: each a page of registers that is mapped into the program for the
 * time of a call (emu/nucd/task_unit.h says what they are). */
#ifndef HOST_KERNEL_DEVICE_H
#define HOST_KERNEL_DEVICE_H

#include "host/kernel/kernel.h"

enum { DEVICES = 64 };

/* Where the pages of the devices are in the program's address space, one behind the other: programs have nothing below
 * CROFT_DRAM_BASE. */
#define DEVICES_AT UINT64_C(0x10000000)

/* The host's half of a task unit. */
struct device {
    uint64_t line[8];
    uint64_t doorbell, credits, done, result, outcome, status, cause, value, offset, control, ranges, flags;
};

enum { DEVICE_STATE = 7, DEVICE_FAULTED = 4 };      /* in status */
enum { DEVICE_RESUME = 1, DEVICE_ACKNOWLEDGE = 4 }; /* to control */

/* The device must be mapped, and sstatus.SUM be set, as its page is the program's. */
static inline volatile struct device *device_at(unsigned number)
{
    return (volatile struct device *)(DEVICES_AT + number * (uint64_t)PAGE);
}

/* Maps the page at a physical address as that of a device. False when there is no memory for a table. */
bool device_map(unsigned number, uint64_t physical);

/* Takes the pages of a set of devices, by bits, away. */
void device_unmap(uint64_t set);

/* Writes a packet line by line, and rings the doorbell after each. */
void device_send(unsigned number, const uint64_t *words, unsigned count);

#endif
