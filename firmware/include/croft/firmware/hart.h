/* Several harts: hart 0 runs main(); the others sleep until they are given a function to run. */
#ifndef CROFT_FIRMWARE_HART_H
#define CROFT_FIRMWARE_HART_H

#include <stdbool.h>

/* The calling hart's id. */
unsigned hart_id(void);

/* How many harts the machine has, at most CROFT_HARTS_MAX; their ids are 0 to that number - 1. The first to
 * ask must be hart 0. */
unsigned hart_count(void);

/* Lets an idle hart run function(argument) on its own stack. When the function returns, the hart is idle
 * again. False if there is no such hart, it is busy, or it is hart 0. The memory written before the call is
 * visible to the function. Only one hart may start others. */
bool hart_start(unsigned hart, void (*function)(void *), void *argument);

/* Waits until the hart is idle; what its function wrote is then visible. */
void hart_wait(unsigned hart);

/* The address of the device tree that the loader passed in a1 to hart 0. */
const void *hart_device_tree(void);

#endif
