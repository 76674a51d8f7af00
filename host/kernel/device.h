/* The accelerators' devices, as seen by the driver. Each is a page of registers that is mapped into the
 * program for the duration of a call (isa/include/croft/task_unit.h). */
#ifndef HOST_KERNEL_DEVICE_H
#define HOST_KERNEL_DEVICE_H

#include "host/kernel/kernel.h"
#include "isa/include/croft/task_unit.h"

enum { DEVICES = KERNEL_DRIVER_ACCELERATORS };

/* Base of the devices' consecutive pages in the program's address space; programs use nothing below
 * CROFT_DRAM_BASE. */
#define DEVICES_AT UINT64_C(0x10000000)

/* Returns a device's registers. The device must be mapped, and sstatus.SUM set, because the page is a user
 * page. */
static inline volatile struct task_unit_host *device_at(unsigned number)
{
    return (volatile struct task_unit_host *)(DEVICES_AT + number * (uint64_t)PAGE);
}

/* Maps the page at a physical address as device `number`. False when out of memory for page tables. */
bool device_map(unsigned number, uint64_t physical);

/* Unmaps the devices whose bits are set. */
void device_unmap(uint64_t set);

/* Writes a packet of `count` words line by line and rings the doorbell after each line. */
void device_send(unsigned number, const uint64_t *words, unsigned count);

#endif
