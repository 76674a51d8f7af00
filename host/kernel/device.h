/* The accelerators' devices as the driver sees them: each a page of registers that is mapped into the program for the
 * time of a call (isa/include/croft/task_unit.h). */
#ifndef HOST_KERNEL_DEVICE_H
#define HOST_KERNEL_DEVICE_H

#include "host/kernel/kernel.h"
#include "isa/include/croft/task_unit.h"

enum { DEVICES = KERNEL_DRIVER_UNITS };

/* Where the pages of the devices are in the program's address space, one behind the other: programs have nothing below
 * CROFT_DRAM_BASE. */
#define DEVICES_AT UINT64_C(0x10000000)

/* The device must be mapped, and sstatus.SUM be set, as its page is the program's. */
static inline volatile struct task_unit_host *device_at(unsigned number)
{
    return (volatile struct task_unit_host *)(DEVICES_AT + number * (uint64_t)PAGE);
}

/* Maps the page at a physical address as that of a device. False when there is no memory for a table. */
bool device_map(unsigned number, uint64_t physical);

/* Takes the pages of a set of devices, by bits, away. */
void device_unmap(uint64_t set);

/* Writes a packet line by line, and rings the doorbell after each. */
void device_send(unsigned number, const uint64_t *words, unsigned count);

#endif
