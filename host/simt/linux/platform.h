/* What the runtime of launches needs of Linux's C libraries. It is compiled by the compiler of croft cc, with newlib's headers, and
 * uses of these only what glibc and musl have alike. host/simt/newlib/platform.h is that of croft cc's programs. */
#ifndef HOST_SIMT_PLATFORM_H
#define HOST_SIMT_PLATFORM_H

#include <stdint.h>
#include <stdlib.h>

/* The C libraries' locks know the program's threads alone: kernels must not need them. */
#define SIMT_LOCKS

static inline void simt_prepare(void)
{
}

/* Ends the program with a message about a thread of a grid. */
void simt_fail(uint64_t thread, const char *what);

/* Programs of Linux need no executable stack. */
__asm__(".pushsection .note.GNU-stack, \"\", @progbits\n.popsection");

#endif
