/* The host-target interface (HTIF): a program talks to its host through two words in memory, tohost and
 * fromhost. */
#ifndef EMU_DEV_HTIF_H
#define EMU_DEV_HTIF_H

#include "emu/mem/phys/bytes.h"
#include "emu/sim/snapshot/snapshot.h"

/* tohost = device[63:56] | command[55:48] | payload[47:0] (Berkeley's front-end server; also in Spike). A
 * nonzero value is a command; executing it clears tohost:
 *
 *   device 0, command 0, odd payload     end the run with code payload >> 1
 *   device 0, command 0, even payload    a call: see below
 *   device 1, command 0                  read a character; the response is 0x100 | character
 *   device 1, command 1                  write payload[7:0]; the response is 0x100 | character
 *
 * The payload of a call is the address of eight 64-bit words: the call's number, then a0 to a6. The result
 * replaces the first word, and the response is 1. Supported are exit (93), and write (64) to file 1 or 2;
 * other calls return -ENOSYS.
 *
 * A response, with device and command in its upper bits, is stored to fromhost once fromhost is 0.
 *
 * A store of 8 bytes executes the command at once. After a store to one half of tohost, the command is
 * executed when the other half is stored, or at the next htif_poll(). */
struct htif_wiring {
    const struct phys *memory;
    const struct bytes_holders *holders; /* holders of bytes outside of memory, for calls; NULL: none */
    uint64_t tohost, fromhost;           /* physical addresses; fromhost 0: none */
    /* Ends the run. Code 0 is success; riscv-tests return the number of the failing test. */
    void (*exit)(void *exit_context, uint64_t code);
    void (*output)(void *output_context, uint8_t byte);
    void *exit_context, *output_context;
};

struct htif;

/* Creates an HTIF. NULL with err set when tohost or fromhost is not in memory, or when out of host memory.
 * Free with htif_free(). */
struct htif *htif_new(const struct htif_wiring *wiring, struct error *err);
void htif_free(struct htif *htif);
void htif_reset(struct htif *htif);
void htif_snapshot(struct htif *htif, struct snapshot *snapshot);

/* Return the addresses; fromhost is 0 if there is none. */
uint64_t htif_tohost(const struct htif *htif);
uint64_t htif_fromhost(const struct htif *htif);

/* Call it after each store that changed any of the bytes [tohost, tohost + 8). */
void htif_store(struct htif *htif, uint64_t address, uint64_t size);

/* Executes a command of which only one half of tohost was stored, and delivers waiting responses. Call it
 * regularly, at simulated times that do not depend on the host. False when the program has issued an invalid
 * command; err then names it and lists the valid ones. */
bool htif_poll(struct htif *htif, struct error *err);

/* Returns true if the program waits for a character and can take it. */
bool htif_waits(const struct htif *htif);

/* Sends a character to the program. htif_waits() must be true. */
void htif_receive(struct htif *htif, uint8_t byte);

#endif
