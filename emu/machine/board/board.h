/* The devices of a machine description, made and connected. */
#ifndef EMU_MACHINE_BOARD_BOARD_H
#define EMU_MACHINE_BOARD_BOARD_H

#include "emu/dev/htif.h"
#include "emu/dev/rom.h"
#include "emu/io/console.h"
#include "emu/machine/machine.h"
#include "emu/mem/phys/bus.h"

/* What the devices need from the rest of the machine. A tick is 100 ns (10 MHz) of simulated time. */
struct board_host {
    uint64_t (*ticks)(void *context); /* current tick, exact also during a hart's run; never decreases */
    void (*moved)(void *context);     /* board_next_event() may have become earlier; may be NULL */
    /* The level of a hart's interrupt has changed; number is MSIP 3, MTIP 7, SEIP 9 or MEIP 11. */
    void (*interrupt)(void *context, unsigned hart, unsigned number, bool level);
    void (*exit)(void *context, int status);      /* finisher: ends the run with status 0 to 255 */
    void (*tohost)(void *context, uint64_t code); /* HTIF: ends the run; code 0 is success */
    void (*reset)(void *context); /* finisher: restarts the machine; must call board_reset() */
    void *context;
};

struct board;

/* Makes config's devices and adds them to the bus. bus, console (NULL: output is dropped and there is no
 * input) and host->context must outlive the board. Calls to the host may come from here on. NULL, with a
 * message that names the key and where it was set, when devices overlap or share an interrupt. Release with
 * board_free(). */
struct board *board_new(const struct machine_config *config, struct bus *bus, const struct board_host *host,
                        struct console *console, struct error *err);
void board_free(struct board *board);

/* Resets all devices to their state after board_new(). Keeps the boot program. */
void board_reset(struct board *board);

/* Adds HTIF at the addresses of the program's symbols; fromhost is 0 if the program has none. False with err
 * set on failure. */
bool board_add_htif(struct board *board, uint64_t tohost, uint64_t fromhost, struct error *err);

/* Returns HTIF, or NULL before board_add_htif(). The harts must report stores to tohost with htif_store(). */
struct htif *board_htif(const struct board *board);

/* Writes the boot program to the ROM. *address is where the harts start. False without a ROM. */
bool board_set_boot(struct board *board, const struct rom_boot *boot, uint64_t *address);

/* Assigns a PLIC interrupt number to the owner and sets *line to its interrupt line, which is not connected
 * if there is no PLIC. False with err set when the number does not exist or has another owner. */
bool board_connect(struct board *board, const char *owner, uint64_t number, struct irq_line *line,
                   struct error *err);

/* Saves or restores all devices, HTIF included. */
void board_snapshot(struct board *board, struct snapshot *snapshot);

/* Returns mtime in ticks, the value of the harts' time CSR. */
uint64_t board_time(const struct board *board);

/* Returns the tick of the next event for board_update(), or TIMEBASE_NEVER. It may be now or in the past. */
uint64_t board_next_event(const struct board *board);

/* Updates the levels of all interrupts to the current tick. */
void board_update(struct board *board);

/* Updates devices, passes input to them and executes deferred HTIF commands. Call it at each poll point
 * (console.h). Returns the console's state; CONSOLE_FAILED with err set on failure. */
enum console_state board_poll(struct board *board, struct error *err);

/* Like console_wait(): call it when all harts sleep and board_next_event() is TIMEBASE_NEVER. False when no
 * input can come, or when no program waits for input and no user is there to end the run. */
bool board_wait(struct board *board, int milliseconds);

#endif
