#include "emu/net/wires.h"

#include <stdio.h>
#include <string.h>

const char *const wires_names[] = {
#define WIRES(kind, name, ...) [WIRES_##kind] = #name,
#include "emu/net/wires.def"
    NULL};

const char *const wires_wire_names[] = {
#define WIRES(kind, name, ...) [WIRES_##kind] = #name,
#include "emu/net/wires.def"
    [WIRES_NETWORK] = "network", NULL};

static const struct {
    struct wires_energy energy;
    const char *bit, *idle; /* sources */
} rows[] = {
#define WIRES(kind, name, energy_bit, bit, energy_idle, idle)                                                \
    [WIRES_##kind] = {{energy_bit, energy_idle}, bit, idle},
#include "emu/net/wires.def"
    [WIRES_NETWORK] = {{0, 0}, "the network's", "the network's"}};

struct wires_energy wires_energy(enum wires kind)
{
    return rows[kind].energy;
}

bool wires_leave(enum wires kind)
{
    return kind == WIRES_INTERPOSER || kind == WIRES_PACKAGE;
}

void wires_note(enum wires kind, const char *field, char *buffer, size_t size)
{
    const char *source = strcmp(field, "energy_idle") == 0 ? rows[kind].idle : rows[kind].bit;
    if (kind == WIRES_UNKNOWN || kind == WIRES_NETWORK)
        (void)snprintf(buffer, size, "%s", source);
    else
        (void)snprintf(buffer, size, "%s: %s", wires_wire_names[kind], source);
}
