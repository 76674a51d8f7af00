/* The devices that a machine description asks for, made and wired. */
#ifndef EMU_MACHINE_BOARD_H
#define EMU_MACHINE_BOARD_H

#include "emu/dev/console.h"
#include "emu/dev/htif.h"
#include "emu/dev/rom.h"
#include "emu/machine/machine.h"
#include "emu/mem/bus.h"

/* What the devices need of the machine around them. Ticks are of 10 MHz, simulated. */
struct board_host {
    uint64_t (*ticks)(void *context); /* now, also in the middle of a hart's run; never goes back */
    void (*moved)(void *context);     /* board_next_event() may have become earlier; may be NULL */
    /* The level of a hart's interrupt has changed; number is MSIP 3, MTIP 7, SEIP 9 or MEIP 11. */
    void (*interrupt)(void *context, unsigned hart, unsigned number, bool level);
    void (*exit)(void *context, int status);      /* finisher: the run ends, status 0 to 255 */
    void (*tohost)(void *context, uint64_t code); /* HTIF: the run ends; 0 is success */
    void (*reset)(void *context);                 /* finisher: restart the machine, board_reset() included */
    void *context;
};

struct board;

/* Makes config's devices and puts them on the bus. Bus, console (NULL: output is dropped and there is no
 * input) and what host points to must outlive the board. NULL, with a message that names the key and where it
 * was set, when devices overlap or share an interrupt. The host may be called from here on. Release with
 * board_free(). */
struct board *board_create(const struct machine_config *config, struct bus *bus,
                           const struct board_host *host, struct console *console, struct error *err);
void board_free(struct board *board);

/* All devices as after board_create(). The boot program stays. */
void board_reset(struct board *board);

/* Adds HTIF at the addresses of a program's symbols, fromhost 0 if it has none. */
bool board_add_htif(struct board *board, uint64_t tohost, uint64_t fromhost, struct error *err);

/* HTIF, whose htif_store() the harts' stores to tohost call; NULL before board_add_htif(). */
struct htif *board_htif(const struct board *board);

/* Puts the boot program in the ROM and returns the address at which the harts start. False without a ROM. */
bool board_set_boot(struct board *board, const struct rom_boot *boot, uint64_t *address);

/* The wire to an interrupt number of the PLIC, which belongs to the owner from now on; it ends nowhere if there is no
 * PLIC. Fails when the number belongs to somebody else or does not exist. */
bool board_connect(struct board *board, const char *owner, uint64_t number, struct irq_line *line,
                   struct error *err);

/* mtime: what the harts' time CSR reads. */
uint64_t board_time(const struct board *board);

/* The tick at which board_update() has something to do next, or TIMEBASE_NEVER. May be at most now. */
uint64_t board_next_event(const struct board *board);

/* Brings the levels of all interrupts up to date with the present tick. */
void board_update(struct board *board);

/* To be called at each poll point (console.h): updates, hands over input, does HTIF's deferred work. */
enum console_state board_poll(struct board *board, struct error *err);

/* Like console_wait(), for when all harts sleep and board_next_event() is never. False when no input will
 * ever come, or nobody would take it and no user is there to end the run. */
bool board_wait(struct board *board, int milliseconds);

#endif
