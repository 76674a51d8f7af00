/* What the devices of the board are described by. */
#include "emu/dev/device.h"

#define BASE(tag, at)                                                                                        \
    {                                                                                                        \
        "base", FIELD_ADDRESS, offsetof(struct tag, base), sizeof(uint64_t), "0x0", "0xfffffffffff000",      \
            "0x1000", NULL, {at, at}, 0, "Address of its registers.",                                        \
        {                                                                                                    \
            "", ""                                                                                           \
        }                                                                                                    \
    }
#define IRQ(tag, number)                                                                                     \
    {                                                                                                        \
        "irq", FIELD_COUNT, offsetof(struct tag, irq), sizeof(uint32_t), "1", "96", "1", NULL,               \
            {number, number}, 0, "Its interrupt's number at the PLIC; each number belongs to one device.",   \
        {                                                                                                    \
            "", ""                                                                                           \
        }                                                                                                    \
    }
#define KIND(tag, text, config, rows)                                                                        \
    const struct part_kind tag##_kind = {.name = #tag,                                                       \
                                         .explanation = text,                                                \
                                         .config_size = sizeof(struct config),                               \
                                         .fields = rows,                                                     \
                                         .field_count = sizeof rows / sizeof *(rows)};

static const struct part_field rom_fields[] = {BASE(device_config, "0x1000")};
KIND(rom, "Boot ROM, 60 KiB: where the harts start; it jumps to the firmware.", device_config, rom_fields)

static const struct part_field finisher_fields[] = {BASE(device_config, "0x100000")};
KIND(finisher, "Test finisher (SiFive): a store to it ends or restarts the run.", device_config,
     finisher_fields)

static const struct part_field rtc_fields[] = {
    BASE(rtc_config, "0x101000"),
    IRQ(rtc_config, "11"),
    {"epoch",
     FIELD_COUNT,
     offsetof(struct rtc_config, epoch),
     sizeof(uint64_t),
     "0",
     "9000000000",
     "1",
     NULL,
     {"1704067200", "1704067200"},
     0,
     "Calendar time at the start, in seconds after 1970-01-01; by default 2024-01-01 00:00 UTC.",
     {"", ""}},
};
KIND(rtc, "Real-time clock (goldfish), which follows simulated time.", rtc_config, rtc_fields)

static const struct part_field clint_fields[] = {BASE(device_config, "0x2000000")};
KIND(clint, "Core-local interruptor (CLINT): software interrupts and the timer, 10 MHz.", device_config,
     clint_fields)

static const struct part_field plic_fields[] = {BASE(device_config, "0xc000000")};
KIND(plic, "Platform-level interrupt controller (PLIC): 96 sources, M and S of each hart.", device_config,
     plic_fields)

static const struct part_field uart_fields[] = {BASE(device_config, "0x10000000"), IRQ(device_config, "10")};
KIND(uart, "Serial port (NS16550A): the console.", device_config, uart_fields)
