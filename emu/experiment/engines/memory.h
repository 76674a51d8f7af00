/* The memory of this machine, for deciding how many runs fit. */
#ifndef EMU_EXPERIMENT_ENGINES_MEMORY_H
#define EMU_EXPERIMENT_ENGINES_MEMORY_H

#include <stdint.h>
#include <sys/types.h>

/* Returns the bytes that new processes can take: the kernel's estimate, or what the control group leaves if that is less.
 * UINT64_MAX: unknown. */
uint64_t memory_available(void);

/* Returns the bytes that a process has in memory; 0: unknown. */
uint64_t memory_resident(pid_t process);

#endif
