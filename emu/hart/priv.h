/* The privileged state of a hart: modes, CSRs, traps and interrupts (privileged specification 1.12). */
#ifndef EMU_HART_PRIV_H
#define EMU_HART_PRIV_H

#include <stdbool.h>
#include <stdint.h>

struct hart;

enum privilege { PRIV_U = 0, PRIV_S = 1, PRIV_M = 3 };

/* mstatus fields (section 3.1.6). */
#define MSTATUS_SIE  (UINT64_C(1) << 1)
#define MSTATUS_MIE  (UINT64_C(1) << 3)
#define MSTATUS_SPIE (UINT64_C(1) << 5)
#define MSTATUS_MPIE (UINT64_C(1) << 7)
#define MSTATUS_SPP  (UINT64_C(1) << 8)
#define MSTATUS_MPP  (UINT64_C(3) << 11)
#define MSTATUS_FS   (UINT64_C(3) << 13)
#define MSTATUS_MPRV (UINT64_C(1) << 17)
#define MSTATUS_SUM  (UINT64_C(1) << 18)
#define MSTATUS_MXR  (UINT64_C(1) << 19)
#define MSTATUS_TVM  (UINT64_C(1) << 20)
#define MSTATUS_TW   (UINT64_C(1) << 21)
#define MSTATUS_TSR  (UINT64_C(1) << 22)
#define MSTATUS_UXL  (UINT64_C(2) << 32)
#define MSTATUS_SXL  (UINT64_C(2) << 34)
#define MSTATUS_SD   (UINT64_C(1) << 63)
enum { MSTATUS_MPP_SHIFT = 11 };

/* Interrupt numbers, the bits of mip and mie (section 3.1.9). */
enum { IRQ_SSI = 1, IRQ_MSI = 3, IRQ_STI = 5, IRQ_MTI = 7, IRQ_SEI = 9, IRQ_MEI = 11 };
#define IRQ_BIT(number) (UINT64_C(1) << (number))
#define IRQ_S           (IRQ_BIT(IRQ_SSI) | IRQ_BIT(IRQ_STI) | IRQ_BIT(IRQ_SEI))
#define IRQ_ALL         (IRQ_S | IRQ_BIT(IRQ_MSI) | IRQ_BIT(IRQ_MTI) | IRQ_BIT(IRQ_MEI))

/* menvcfg and senvcfg fields (section 3.1.18; CMO specification, chapter 4; Sstc). */
#define ENVCFG_FIOM  (UINT64_C(1) << 0)
#define ENVCFG_CBIE  (UINT64_C(3) << 4)
#define ENVCFG_CBCFE (UINT64_C(1) << 6)
#define ENVCFG_CBZE  (UINT64_C(1) << 7)
#define ENVCFG_STCE  (UINT64_C(1) << 63)

/* satp fields (section 4.1.11). */
#define SATP_PPN ((UINT64_C(1) << 44) - 1)
enum {
    SATP_MODE_SHIFT = 60,
    SATP_ASID_SHIFT = 44,
    SATP_ASID = 0xffff, /* after the shift */
    SATP_BARE = 0,
    SATP_SV39 = 8,
    SATP_SV48 = 9
};

/* pmpcfg bytes (section 3.7.1). */
enum {
    PMP_ENTRIES = 16,
    PMP_R = 1,
    PMP_W = 2,
    PMP_X = 4,
    PMP_A = 0x18,
    PMP_TOR = 0x08,
    PMP_NA4 = 0x10,
    PMP_NAPOT = 0x18,
    PMP_L = 0x80
};

/* The operands of SFENCE.VMA. */
struct mmu_fence {
    bool one_page, one_space; /* otherwise all addresses, all address spaces */
    uint64_t address, asid;
};

struct priv {
    uint64_t mstatus;  /* without SD, UXL and SXL, which are derived */
    uint64_t mie, mip; /* mip: the bits that software can write (SSIP, STIP, SEIP) */
    uint64_t wires;    /* the bits of mip driven from outside */
    uint64_t medeleg, mideleg;
    uint64_t mtvec, mscratch, mepc, mcause, mtval, menvcfg;
    uint64_t stvec, sscratch, sepc, scause, stval, senvcfg;
    uint64_t satp, stimecmp;
    uint64_t mrange, mlocal; /* only in accelerators (emu/hart/mmu/ranges.h); else 0 */
    uint32_t mcounteren, scounteren;
    uint64_t cycle_offset, instret_offset; /* mcycle minus the cycle count, minstret minus hart->instret */
    uint8_t pmpcfg[PMP_ENTRIES];
    uint64_t pmpaddr[PMP_ENTRIES];
};

/* Sets the reset state: machine mode, everything else as the specification demands, or 0. */
void priv_reset(struct hart *hart);

/* Returns mip as a read shows it, including wires and the Sstc comparison. */
uint64_t priv_pending(const struct hart *hart);

/* Returns the number of the interrupt that priv_take_interrupt() would take, or 0. */
unsigned priv_due_interrupt(const struct hart *hart);

/* Takes an enabled pending interrupt, if any: pc becomes the handler's. Returns its number, or 0. */
unsigned priv_take_interrupt(struct hart *hart);

/* Tells hart->taken of a trap or interrupt. */
void priv_tell_taken(const struct hart *hart, bool interrupt, uint64_t number, uint64_t value);

/* Enters the handler for hart->trap of the instruction at pc. */
void priv_take_trap(struct hart *hart);

/* MRET and SRET: set *next to the next pc. Return false if the mode does not allow them. */
bool priv_mret(struct hart *hart, uint64_t *next);
bool priv_sret(struct hart *hart, uint64_t *next);

/* Chooses the TLB tables for the hart's mode, and lets blocks follow it. Call it after the privilege, mstatus, satp or frm
 * has changed. */
void priv_changed(struct hart *hart);

/* Returns the value of `time`, in the hart's ticks. */
uint64_t priv_time(const struct hart *hart);

/* Returns whether PMP allows mode to access size bytes at a physical address. kind: PMP_R, PMP_W or PMP_X. */
bool pmp_allows(const struct priv *priv, uint64_t address, uint64_t size, unsigned kind, enum privilege mode);

#endif
