/* Devices on the bus: what they are described by, and how a board makes, resets and describes them. A device's registers,
 * its interrupt and its node of the device tree stand in one file, which ends with its kind. */
#ifndef EMU_DEV_DEVICE_H
#define EMU_DEV_DEVICE_H

#include "emu/dev/node.h"
#include "emu/dev/timebase.h"
#include "emu/mem/bus.h"
#include "emu/sim/part.h"

/* The beginning of every device's configuration. */
struct device_config {
    uint64_t base; /* address of its registers */
    uint32_t irq;  /* number of its interrupt at the PLIC; 0: it has none */
};

/* What a device is made with. The functions belong to the board, which is `context`. */
struct device_site {
    unsigned harts;
    struct timebase timebase;
    struct irq_line irq; /* its wire to the PLIC, which ends nowhere if there is none */
    /* A wire to a hart: NODE_MSI, MTI, SEI or MEI. */
    struct irq_line (*hart_line)(void *context, unsigned hart, unsigned number);
    void (*transmit)(void *context, uint8_t byte); /* to the console */
    void (*exit)(void *context, int status);       /* ends the run, with status 0 to 255 */
    void (*restart)(void *context);                /* restarts the machine */
    void *context;
};

/* The extension of a device's kind (struct part_kind). */
struct device_kind {
    uint64_t size;   /* of its registers in bytes */
    unsigned sizes;  /* BUS_1 ...: accesses that it takes */
    bool executable; /* it holds code */
    bool storage;    /* its bytes are ordinary ones (emu/mem/bytes.h) */
    bool controller; /* takes other devices' interrupts: made before them */
    const struct device_ops *ops;
    /* NULL when the host has no memory. */
    void *(*make)(const void *config, const struct device_site *site);
    void (*free)(void *device);
    void (*reset)(void *device);                /* as after make(); NULL: nothing to do */
    uint64_t (*next_event)(const void *device); /* timebase.h; NULL: never */
    void (*update)(void *device);               /* timebase.h; NULL: nothing to do */
    /* Its node among those of the bus, and what it adds behind them; NULL: none. */
    void (*describe)(struct node_writer *writer, const void *config);
    void (*describe_use)(struct node_writer *writer);
};

/* Rows that most devices have: for PART, a configuration that begins like struct device_config. */
#define DEVICE_BASE(at)                                                                                      \
    {                                                                                                        \
        "base", FIELD_ADDRESS, offsetof(struct device_config, base), sizeof(uint64_t), "0x0",                \
            "0xfffffffffff000", "0x1000", NULL, {at, at}, 0, "Address of its registers.",                    \
        {                                                                                                    \
            "", ""                                                                                           \
        }                                                                                                    \
    }
#define DEVICE_IRQ(number)                                                                                   \
    {                                                                                                        \
        "irq", FIELD_COUNT, offsetof(struct device_config, irq), sizeof(uint32_t), "1", "96", "1", NULL,     \
            {number, number}, 0, "Its interrupt's number at the PLIC; each number belongs to one device.",   \
        {                                                                                                    \
            "", ""                                                                                           \
        }                                                                                                    \
    }

/* The addresses and interrupt numbers are those of the QEMU `virt` board, which firmware is built for. */
extern const struct part_kind rom_kind, finisher_kind, rtc_kind, clint_kind, plic_kind, uart_kind;

#endif
