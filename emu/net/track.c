#include "emu/net/track.h"

#include <assert.h>
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>

#include "emu/sim/alloc.h"

struct net_track {
    uint32_t count;
    struct track lines[];
};

struct net_track *net_track_new(struct track_sink *sink, const char *name, uint32_t count,
                                void (*name_line)(const void *context, uint32_t line, char *text,
                                                  size_t size),
                                const void *context)
{
    struct net_track *track = alloc(1, sizeof *track + count * sizeof *track->lines);
    const struct track group = track_group(sink, name);
    track->count = count;
    for (uint32_t i = 0; i < count; i++) {
        char text[32];
        name_line(context, i, text, sizeof text);
        track->lines[i] = track_line(group, text);
    }
    return track;
}

void net_track_free(struct net_track *track)
{
    free(track);
}

void net_track_show(const struct net_track *track, uint32_t line, int64_t from,
                    const struct net_message *message, uint64_t begin, uint64_t end)
{
    const struct mem_request *request = message->request;
    const struct track_value values[] = {{"bytes", NULL, message->bytes}, {"from", NULL, (uint64_t)from}};
    char name[64];
    assert(line < track->count);
    (void)snprintf(name, sizeof name, "%s 0x%" PRIx64, mem_op_name((enum mem_op)request->op),
                   request->address);
    (void)track_write(track->lines[line], &(struct track_record){.kind = TRACK_SLICE,
                                                                 .name = name,
                                                                 .from = begin,
                                                                 .to = end,
                                                                 .values = values,
                                                                 .value_count = from < 0 ? 1 : 2});
}
