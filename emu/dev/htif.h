/* The host-target interface: a program talks to its host through two words of memory, tohost and fromhost. */
#ifndef EMU_DEV_HTIF_H
#define EMU_DEV_HTIF_H

#include "emu/mem/bytes.h"

/* tohost = device[63:56] | command[55:48] | payload[47:0] (Berkeley's front-end server, kept by Spike). A
 * value that is not 0 is acted on, and tohost cleared:
 *
 *   device 0, command 0, odd payload     the run ends with code payload >> 1
 *   device 0, command 0, even payload    a call: see below
 *   device 1, command 0                  read a character; the response is 0x100 | character
 *   device 1, command 1                  write payload[7:0]; the response is 0x100 | character
 *
 * A call's payload is the address of eight 64-bit words: its number, and a0 to a6. The result replaces the
 * first, and the response is 1. exit 93 and write 64 to file 1 or 2 are known; others give -ENOSYS.
 *
 * The response, with device and command in its upper bits, goes to fromhost as soon as that is 0.
 *
 * A store of 8 bytes is acted on at once. After a store to one half of tohost the value is not yet whole: it
 * is acted on when the other half has been stored too, or at the next htif_poll(). */
struct htif_wiring {
    const struct phys *memory;
    const struct bytes_holders *holders; /* of bytes beside it, for calls; NULL: none */
    uint64_t tohost, fromhost;           /* physical addresses; fromhost 0: there is none */
    /* The run ends. Code 0 is success; riscv-tests give the failing test's number. */
    void (*exit)(void *exit_context, uint64_t code);
    void (*output)(void *output_context, uint8_t byte);
    void *exit_context, *output_context;
};

struct htif;

/* NULL when tohost or fromhost is not in memory, or the host has none. Release with htif_free(). */
struct htif *htif_create(const struct htif_wiring *wiring, struct error *err);
void htif_free(struct htif *htif);
void htif_reset(struct htif *htif);

/* To be called after each store that has changed any of the bytes [tohost, tohost + 8). */
void htif_store(struct htif *htif, uint64_t address, uint64_t size);

/* Does what had to wait; to be called now and then, at moments that do not depend on the host. False when the
 * program has asked for something that does not exist: what it was, and what there is. */
bool htif_poll(struct htif *htif, struct error *err);

/* Whether the program waits for a character and can take it. */
bool htif_waits(const struct htif *htif);

/* A character for the program, which must wait for one. */
void htif_receive(struct htif *htif, uint8_t byte);

#endif
