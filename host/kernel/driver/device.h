/* The accelerators' devices, as seen by the driver. Each is a page of registers that is mapped into the
 * program for the duration of a call (isa/include/croft/task_unit.h). */
#ifndef HOST_KERNEL_DRIVER_DEVICE_H
#define HOST_KERNEL_DRIVER_DEVICE_H

#include "host/kernel/kernel.h"
#include "isa/include/croft/task_unit.h"

struct host;

enum { DEVICES = KERNEL_DRIVER_ACCELERATORS };

/* Base of the devices' consecutive pages in the program's address space; programs use nothing below
 * CROFT_DRAM_BASE. */
#define DEVICES_AT UINT64_C(0x10000000)

/* Makes the page tables for all devices in a host's tables. False when out of memory. */
bool device_prepare(struct host *host);

/* Maps the page at a physical address as device `number` into the program on this host. False when out of memory for page tables. */
bool device_map(unsigned number, uint64_t physical);

/* Unmaps the devices whose bits are set from the program on this host. */
void device_unmap(uint64_t set);

/* Writes a packet of `count` words line by line and rings the doorbell after each line. */
void device_send(volatile struct task_unit_host *device, const uint64_t *words, unsigned count);

#endif
