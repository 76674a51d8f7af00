/* What devices on the bus are described by. */
#ifndef EMU_DEV_DEVICE_H
#define EMU_DEV_DEVICE_H

#include "emu/sim/part.h"

struct device_config {
    uint64_t base; /* address of its registers */
    uint32_t irq;  /* number of its interrupt at the PLIC; 0: it has none */
};

struct rtc_config {
    uint64_t base;
    uint32_t irq;
    uint64_t epoch; /* s after 1970-01-01 at the start */
};

/* The addresses and interrupt numbers are those of the QEMU `virt` board, which firmware is built for. */
extern const struct part_kind rom_kind, finisher_kind, rtc_kind, clint_kind, plic_kind, uart_kind;

#endif
