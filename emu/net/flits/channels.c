#include "emu/net/flits/channels.h"

#include <assert.h>

/* Flits that each channel gives up for priority buffers. */
static uint32_t given_up(const struct network_config *config)
{
    uint32_t channels = config->classes * config->vcs + config->shared_vcs;
    return (config->priority_buffer + channels - 1) / channels;
}

/* Priority buffers of a port, or 0. */
static uint32_t buffers_of(const struct network_config *config, const struct routing *routing)
{
    return !config->priority_buffer ? 0 : routing->sets * (config->priority_by_class ? config->classes : 1);
}

static bool fits_buffers(const struct network_config *config, const struct routing *routing, uint32_t flits,
                         struct error *err)
{
    uint32_t buffers = buffers_of(config, routing);
    if (!buffers)
        return true;
    if (config->priority_buffer < buffers)
        return error_set(
            err,
            "priority_buffer: %u flits; each of %u classes and %u sets of channels needs one of its own, or "
            "packets could wait for each other in a cycle",
            config->priority_buffer, buffers / routing->sets, routing->sets);
    if (given_up(config) >= config->buffer)
        return error_set(
            err, "priority_buffer: %u flits of all channels leave nothing of %u flits for each channel",
            config->priority_buffer, config->buffer);
    uint32_t least = config->buffer - given_up(config), own = config->priority_buffer / buffers;
    if (config->flow != NETWORK_WORMHOLE && flits > (least < own ? least : own))
        return error_set(
            err,
            "priority_buffer: channels keep %u flits and priority buffers have %u; packets have up to %u "
            "flits and need room for all of them",
            least, own, flits);
    return true;
}

bool channels_fit(const struct network_config *config, const struct routing *routing, uint32_t flits,
                  struct error *err)
{
    uint32_t buffers = buffers_of(config, routing),
             channels = config->classes * config->vcs + config->shared_vcs;
    if (config->shared_vcs && config->shared_vcs < routing->sets)
        return error_set(err,
                         "shared_vcs: %u; the routing needs one for each of its %u sets of channels, or none",
                         config->shared_vcs, routing->sets);
    if (channels + buffers > NETWORK_VCS)
        return error_set(
            err,
            "vcs: %u for each of %u classes, %u for all of them, and %u priority buffers; a port has at most "
            "%d channels",
            config->vcs, config->classes, config->shared_vcs, buffers, NETWORK_VCS);
    return fits_buffers(config, routing, flits, err);
}

/* Divides `count` channels from `first` on among the routing's sets: the lower half, rounded up, and the rest. With one
 * set, it has all of them. */
static void split_sets(uint32_t sets, uint32_t first, uint32_t count, uint64_t masks[])
{
    uint32_t low = sets > 1 ? count - count / 2 : count;
    masks[0] = low_bits(low) << first;
    if (sets > 1)
        masks[1] = low_bits(count) << first & ~masks[0];
}

/* Sets the masks of a class's channels: its own, then its priority buffers of `size` flits each. */
static void make_class(struct channels *channels, uint32_t class, uint32_t size)
{
    uint32_t sets = channels->sets, from = class * channels->class_vcs;
    assert(from < NETWORK_VCS);
    channels->node[0][class] = low_bits(channels->own) << from;
    split_sets(sets, from, channels->own, &channels->wire[0][class * sets]);
    for (uint32_t set = 0; channels->class_vcs > channels->own && set < sets; set++) {
        uint32_t vc = from + channels->own + set;
        channels->wire[1][class * sets + set] = BIT(vc);
        channels->node[1][class] |= BIT(vc);
        channels->depth[vc] = (uint16_t)size;
    }
    channels->priority |= channels->node[1][class];
}

/* Sets the masks of the shared channels of all classes, then of their priority buffers of `size` flits each. */
static void make_shared(struct channels *channels, uint32_t size)
{
    uint32_t sets = channels->sets, from = channels->classes * channels->class_vcs;
    if (channels->in_common) {
        channels->shared_node[0] = low_bits(channels->in_common) << from;
        split_sets(sets, from, channels->in_common, channels->shared_wire[0]);
    }
    for (uint32_t set = 0; from + channels->in_common < channels->vcs && set < sets; set++) {
        uint32_t vc = from + channels->in_common + set;
        channels->shared_wire[1][set] = BIT(vc);
        channels->shared_node[1] |= BIT(vc);
        channels->depth[vc] = (uint16_t)size;
    }
    channels->shared = channels->shared_node[0] | channels->shared_node[1];
    channels->priority |= channels->shared_node[1];
}

void channels_make(struct channels *channels, const struct network_config *config,
                   const struct routing *routing)
{
    uint32_t buffers = buffers_of(config, routing), classes = config->classes;
    uint32_t size = buffers ? config->priority_buffer / buffers : 0;
    *channels =
        (struct channels){.vcs = classes * config->vcs + config->shared_vcs + buffers,
                          .class_vcs = config->vcs + (config->priority_by_class ? buffers / classes : 0),
                          .classes = classes,
                          .sets = routing->sets,
                          .groups = classes * routing->sets,
                          .own = config->vcs,
                          .in_common = config->shared_vcs,
                          .halves = {UINT64_C(0x5555555555555555), UINT64_C(0xaaaaaaaaaaaaaaaa)}};
    for (uint32_t vc = 0; vc < channels->vcs; vc++)
        channels->depth[vc] = (uint16_t)(config->buffer - (size ? given_up(config) : 0));
    for (uint32_t class = 0; class < classes; class ++)
        make_class(channels, class, size);
    make_shared(channels, size);
}
