/* The end of the program: through the test finisher of the QEMU virt board, or HTIF. */
#ifndef CROFT_FIRMWARE_EXIT_H
#define CROFT_FIRMWARE_EXIT_H

/* Ends the emulation with a status of 0-255, without flushing streams or calling what atexit() has
 * registered. A machine without finisher (an access fault) is told through tohost. */
_Noreturn void machine_exit(int status);

/* Ends the emulation by a store to tohost: 0 is a pass, another number of up to 47 bits the test that failed.
 */
_Noreturn void htif_exit(unsigned long number);

/* Prints one byte through tohost, for machines without a UART. */
void htif_put(char byte);

#endif
