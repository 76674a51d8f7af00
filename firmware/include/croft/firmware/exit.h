/* Program exit: through the test finisher of the QEMU virt board, or HTIF. */
#ifndef CROFT_FIRMWARE_EXIT_H
#define CROFT_FIRMWARE_EXIT_H

/* Ends the emulation with status 0 to 255. Does not flush streams or call atexit() functions. On a machine
 * without a finisher (access fault), uses tohost. */
_Noreturn void machine_exit(int status);

/* Ends the emulation by a store to tohost. 0 means pass; another number, of up to 47 bits, is the test that
 * failed. */
_Noreturn void htif_exit(unsigned long number);

/* Prints one byte through tohost, for machines without a UART. */
void htif_put(char byte);

#endif
