/* Access to control and status registers from C, and the bits that machine-mode programs use most. */
#ifndef CROFT_FIRMWARE_CSR_H
#define CROFT_FIRMWARE_CSR_H

/* `csr` is the register's assembler name or number, without quotes: csr_read(mstatus). */
#define csr_read(csr)                                                                                        \
    ({                                                                                                       \
        unsigned long csr_value_;                                                                            \
        __asm__ volatile("csrr %0, " #csr : "=r"(csr_value_) : : "memory");                                  \
        csr_value_;                                                                                          \
    })
#define csr_write(csr, value)                                                                                \
    __asm__ volatile("csrw " #csr ", %0" : : "rK"((unsigned long)(value)) : "memory")
#define csr_set(csr, bits)   __asm__ volatile("csrs " #csr ", %0" : : "rK"((unsigned long)(bits)) : "memory")
#define csr_clear(csr, bits) __asm__ volatile("csrc " #csr ", %0" : : "rK"((unsigned long)(bits)) : "memory")

/* Atomically clears bits and returns the previous value. */
#define csr_read_clear(csr, bits)                                                                            \
    ({                                                                                                       \
        unsigned long csr_value_;                                                                            \
        __asm__ volatile("csrrc %0, " #csr ", %1"                                                            \
                         : "=r"(csr_value_)                                                                  \
                         : "rK"((unsigned long)(bits))                                                       \
                         : "memory");                                                                        \
        csr_value_;                                                                                          \
    })

/* mstatus (privileged specification, machine status registers). */
#define MSTATUS_SIE       (1ul << 1)
#define MSTATUS_MIE       (1ul << 3)
#define MSTATUS_SPIE      (1ul << 5)
#define MSTATUS_MPIE      (1ul << 7)
#define MSTATUS_SPP       (1ul << 8)
#define MSTATUS_MPP_SHIFT 11
#define MSTATUS_MPP       (3ul << 11)
#define MSTATUS_FS_SHIFT  13
#define MSTATUS_FS        (3ul << 13)
#define MSTATUS_MPRV      (1ul << 17)
#define MSTATUS_SUM       (1ul << 18)
#define MSTATUS_MXR       (1ul << 19)
#define MSTATUS_TVM       (1ul << 20)
#define MSTATUS_TW        (1ul << 21)
#define MSTATUS_TSR       (1ul << 22)

/* Interrupt numbers: causes, and bits of mip and mie. */
enum interrupt {
    INTERRUPT_SUPERVISOR_SOFTWARE = 1,
    INTERRUPT_MACHINE_SOFTWARE = 3,
    INTERRUPT_SUPERVISOR_TIMER = 5,
    INTERRUPT_MACHINE_TIMER = 7,
    INTERRUPT_SUPERVISOR_EXTERNAL = 9,
    INTERRUPT_MACHINE_EXTERNAL = 11,
};

/* Privilege modes, as encoded in mstatus.MPP. */
enum privilege { PRIVILEGE_USER = 0, PRIVILEGE_SUPERVISOR = 1, PRIVILEGE_MACHINE = 3 };

#endif
