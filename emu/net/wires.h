/* Kinds of wires, and the energies that follow from them where a description sets none. */
#ifndef EMU_NET_WIRES_H
#define EMU_NET_WIRES_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

enum wires {
#define WIRES(kind, name, ...) WIRES_##kind,
#include "emu/net/wires.def"
    WIRES_NETWORK, /* of a wire of a graph: as the network's others */
    WIRES_KINDS = WIRES_NETWORK,
};

extern const char *const wires_names[];      /* by value up to WIRES_PACKAGE, then NULL */
extern const char *const wires_wire_names[]; /* by value, then NULL */

/* What a description must set (struct energy_account). */
#define WIRES_UNTOLD "wires (on_chip, interposer or package)"

struct wires_energy {
    uint64_t bit, idle; /* fJ for a bit that moves, and for one that an idle wire could have carried */
};

/* Returns the energies of a kind; zeros if it is not known. */
struct wires_energy wires_energy(enum wires kind);

/* Returns whether wires of the kind leave the chip. */
bool wires_leave(enum wires kind);

/* Writes the source of a kind's energy_bit or energy_idle. */
void wires_note(enum wires kind, const char *field, char *buffer, size_t size);

#endif
