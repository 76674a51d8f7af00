/* Devices on the bus: their configuration, and how a board makes, resets and describes them. Each device has
 * one file with its registers, its interrupt, its device-tree node and, at the end, its kind. */
#ifndef EMU_DEV_DEVICE_H
#define EMU_DEV_DEVICE_H

#include "emu/dev/node.h"
#include "emu/dev/timebase.h"
#include "emu/mem/phys/bus.h"
#include "emu/sim/part.h"
#include "emu/sim/snapshot/snapshot.h"
#include "emu/sim/text/text.h"

/* First member of every device's configuration. */
struct device_config {
    uint64_t base; /* address of its registers */
    uint32_t irq;  /* interrupt number at the PLIC; 0: none */
};

/* Arguments for making a device. The functions belong to the board, which is `context`. */
struct device_site {
    unsigned harts;
    struct timebase timebase;
    struct bytes bytes;  /* memory, for devices that access it themselves */
    struct irq_line irq; /* interrupt line to the PLIC; without a PLIC it is not connected */
    /* Returns an interrupt line to a hart; number: NODE_MSI, NODE_MTI, NODE_SEI or NODE_MEI. */
    struct irq_line (*hart_line)(void *context, unsigned hart, unsigned number);
    void (*transmit)(void *context, uint8_t byte); /* sends a byte to the console */
    void (*exit)(void *context, int status);       /* ends the run with status 0 to 255 */
    void (*restart)(void *context);                /* restarts the machine */
    void *context;
};

/* The extension of a device's kind (struct part_kind). */
struct device_kind {
    uint64_t size;   /* bytes of its registers */
    unsigned sizes;  /* access sizes that it accepts, a set of BUS_1, BUS_2, BUS_4, BUS_8 */
    bool executable; /* it holds code */
    bool storage;    /* its bytes are plain memory (emu/mem/phys/bytes.h) */
    bool controller; /* takes other devices' interrupts: is made before them */
    const struct device_ops *ops;
    /* Returns the device, or NULL when out of host memory. */
    void *(*make)(const void *config, const struct device_site *site);
    /* Opens what the device needs on the host. Returns false with err set on failure. NULL: nothing to do. */
    bool (*open)(void *device, const void *config, struct error *err);
    void (*free)(void *device);
    void (*reset)(void *device);                /* restores the state after make(); NULL: nothing to do */
    uint64_t (*next_event)(const void *device); /* timebase.h; NULL: never */
    void (*update)(void *device);               /* timebase.h; NULL: nothing to do */
    /* Saves or restores the device's state, with times relative to now (emu/sim/snapshot/snapshot.h). NULL: it has none. */
    void (*snapshot)(void *device, struct snapshot *snapshot);
    /* Writes the device's node, within the bus's node of the device tree. NULL: it has none. */
    void (*describe)(struct node_writer *writer, const void *config);
    /* Writes the device's nodes that follow the bus's node, such as syscon-poweroff. NULL: it has none. */
    void (*describe_use)(struct node_writer *writer);
};

/* Rows of fields that most devices share, with their defaults; `more` is text after the explanation. The
 * device's configuration must begin with struct device_config. */
#define DEVICE_BASE(at)    DEVICE_BASE_AND(at, "")
#define DEVICE_IRQ(number) DEVICE_IRQ_AND(number, "")
#define DEVICE_BASE_AND(at, more)                                                                            \
    {                                                                                                        \
        "base", FIELD_ADDRESS, offsetof(struct device_config, base), sizeof(uint64_t), "0x0",                \
            "0xfffffffffff000", "0x1000", NULL, {at, at}, 0, "Address of its registers." more,               \
        {                                                                                                    \
            "", ""                                                                                           \
        }                                                                                                    \
    }
#define DEVICE_IRQ_AND(number, more)                                                                         \
    {                                                                                                        \
        "irq", FIELD_COUNT, offsetof(struct device_config, irq), sizeof(uint32_t), "1", "96", "1", NULL,     \
            {number, number}, 0, "Interrupt number at the PLIC, unique among the devices." more,             \
        {                                                                                                    \
            "", ""                                                                                           \
        }                                                                                                    \
    }

/* Defines free_device(), reset(), next_event(), update() and snapshot() of a device with a clock by its functions, such as rtc_free(); the rows
 * name them in its struct device_kind. */
#define DEVICE_CLOCKED(name)                                                                                 \
    static void free_device(void *device)                                                                    \
    {                                                                                                        \
        name##_free(device);                                                                                 \
    }                                                                                                        \
    static void reset(void *device)                                                                          \
    {                                                                                                        \
        name##_reset(device);                                                                                \
    }                                                                                                        \
    static uint64_t next_event(const void *device)                                                           \
    {                                                                                                        \
        return name##_next_event(device);                                                                    \
    }                                                                                                        \
    static void update(void *device)                                                                         \
    {                                                                                                        \
        name##_update(device);                                                                               \
    }                                                                                                        \
    static void snapshot(void *device, struct snapshot *s)                                                   \
    {                                                                                                        \
        name##_snapshot(device, s);                                                                          \
    }
#define DEVICE_CLOCKED_ROWS                                                                                  \
    .free = free_device, .reset = reset, .next_event = next_event, .update = update, .snapshot = snapshot

/* Most disks of a machine; Linux names them vda to vdp. */
#define DISK_MOST 16

/* The kinds of devices. Their default addresses and interrupt numbers are those of the QEMU `virt` board, for
 * which firmware is built. */
extern const struct part_kind rom_kind, finisher_kind, rtc_kind, clint_kind, plic_kind, uart_kind;
extern const struct part_kind disk_kind, entropy_kind, virtio_console_kind, net_kind;

#endif
