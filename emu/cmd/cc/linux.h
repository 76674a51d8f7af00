/* The cross compilers for programs of Linux, with our headers and runtime. */
#ifndef EMU_CMD_CC_LINUX_H
#define EMU_CMD_CC_LINUX_H

/* Replaces this process by a compiler of Linux programs, "riscv64-linux-gnu-gcc" or "-g++", which gets our headers and then
 * arguments[count]. Returns the exit status if that fails; `command` begins the message. */
int cc_linux(const char *command, const char *compiler, char *const *arguments, int count);

#endif
