/* What NUCD needs of the machine with a clock that it is a part of. */
#ifndef EMU_NUCD_MACHINE_H
#define EMU_NUCD_MACHINE_H

#include <stddef.h>
#include <stdint.h>

#include "emu/sim/event.h"

enum { NUCD_DESCRIPTION = 512 }; /* bytes that describe() writes at most */

struct nucd_machine {
    struct event_queue *queue;
    uint32_t *components; /* numbers of components given so far: the next one's (emu/sim/event.h) */
    /* The interrupt wires of a core's hart have changed; cores are numbered with the hosts first. */
    void (*interrupt)(void *context, unsigned core);
    /* A message will be printed on standard error. */
    void (*begin_message)(void *context);
    /* Names a place in the program, "main+0x12 (src/main.c:7)", in text[size], and returns it. */
    const char *(*describe)(void *context, uint64_t pc, char *text, size_t size);
    /* Ends the run: simulated time is over, by this limit, a key, which is constant. */
    void (*expire)(void *context, const char *limit);
    void *context;
};

#endif
