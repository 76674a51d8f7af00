/* The services of a timed machine for the mechanisms that its cores offload to. */
#ifndef EMU_CORE_SERVICES_H
#define EMU_CORE_SERVICES_H

#include <stddef.h>
#include <stdint.h>

#include "emu/sim/event.h"

enum { CORE_DESCRIPTION = 512 }; /* bytes that describe() writes at most, with the final NUL */

struct core_services {
    struct event_queue *queue;
    uint32_t *components; /* next component number for events (emu/sim/event.h) */
    /* Tells that a core's interrupt lines have changed. Cores are numbered like harts, those of hosts first. */
    void (*interrupt)(void *context, unsigned core);
    /* Call it before printing a message on standard error. */
    void (*begin_message)(void *context);
    /* Describes a place in the program, such as "main+0x12 (src/main.c:7)", in text[size], where CORE_DESCRIPTION bytes are enough. Returns
     * text. */
    const char *(*describe)(void *context, uint64_t pc, char *text, size_t size);
    /* Ends the run because simulated time is over. `limit` names the limit, a key; the string is constant. */
    void (*expire)(void *context, const char *limit);
    void *context;
};

#endif
