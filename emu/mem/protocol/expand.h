/* Makes tables from the rows in the file PROTOCOL_ROWS: STATE(name, number, properties), CACHE(state, event,
 * next, action) and DIRECTORY(request, standing, probe, reply, next). Include it once in a C file. */
#include "emu/mem/protocol.h"

#define CACHE(state, event, next, action)
#define DIRECTORY(request, standing, probe, reply, next)
#define STATE(name, number, properties) STATE_##name = (number),
enum {
#include PROTOCOL_ROWS
};
#undef STATE
#define STATE(name, number, properties) {#name, number, properties},
static const struct protocol_state states[] = {
#include PROTOCOL_ROWS
};
#undef STATE
#undef CACHE
#define STATE(name, number, properties)
#define CACHE(state, event, next, action)                                                                    \
    {STATE_##state, PROTOCOL_##event, STATE_##next, PROTOCOL_DO_##action},
static const struct protocol_cache_row cache_rows[] = {
#include PROTOCOL_ROWS
};
#undef CACHE
#define CACHE(state, event, next, action)
#ifdef PROTOCOL_HAS_DIRECTORY
#undef DIRECTORY
#define DIRECTORY(request, standing, probe, reply, next)                                                     \
    {PROTOCOL_##request, PROTOCOL_##standing, PROTOCOL_##probe, PROTOCOL_REPLY_##reply, PROTOCOL_##next},
static const struct protocol_directory_row directory_rows[] = {
#include PROTOCOL_ROWS
};
#endif
#undef STATE
#undef CACHE
#undef DIRECTORY
