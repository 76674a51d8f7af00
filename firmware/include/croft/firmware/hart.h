/* Multiple harts: hart 0 runs main(); the others sleep until hart_start() gives them a function. */
#ifndef CROFT_FIRMWARE_HART_H
#define CROFT_FIRMWARE_HART_H

#include <stdbool.h>

/* Returns the calling hart's id. */
unsigned hart_id(void);

/* Returns the number of harts, at most CROFT_HARTS_MAX. Their ids are 0 to that number - 1. Hart 0 must make
 * the first call. */
unsigned hart_count(void);

/* Makes an idle hart run function(argument) on its own stack. When the function returns, the hart is idle
 * again. False if the hart does not exist, is busy, or is hart 0. Memory written before the call is visible
 * to the function. Only one hart may start others. */
bool hart_start(unsigned hart, void (*function)(void *), void *argument);

/* Waits until the hart is idle. Memory written by its function is then visible. */
void hart_wait(unsigned hart);

/* Returns the address of the device tree, which the loader passed to hart 0 in a1. */
const void *hart_device_tree(void);

#endif
