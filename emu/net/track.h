/* Links and crossbars on tracks of a trace.
 *
 * Each is a group with lines: of a link its two directions, of a crossbar its outputs, which take requests, and its inputs,
 * which take responses. A message is a slice as long as it occupies the lanes or the input or output, named by operation and
 * address, with its bytes of data and, of a crossbar, the number of the input or output that it comes from. The tracks do not
 * show the latency after that, and time in queues.
 */
#ifndef EMU_NET_TRACK_H
#define EMU_NET_TRACK_H

#include "emu/net/message.h"
#include "emu/sim/report/track.h"

struct net_track;

/* Opens a group with that name and `count` lines in it: name_line() writes the name of each. Never NULL. */
struct net_track *net_track_new(struct track_sink *sink, const char *name, uint32_t count,
                                void (*name_line)(const void *context, uint32_t line, char *text,
                                                  size_t size),
                                const void *context);
void net_track_free(struct net_track *track); /* NULL is allowed */

/* A message occupies the line from one time until another; slices of a line do not overlap. `from`: what it comes from, or
 * NET_TRACK_ONE where there is only one thing. */
enum { NET_TRACK_ONE = -1 };
void net_track_show(const struct net_track *track, uint32_t line, int64_t from,
                    const struct net_message *message, uint64_t begin, uint64_t end);

#endif
