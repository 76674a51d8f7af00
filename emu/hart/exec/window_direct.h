/* Data accesses of a hart whose pages are mirrored (emu/hart/mmu/mirror.h): the bytes of address a are at load_bytes + a on the
 * host. An access that the mirror refuses comes to `fault_`, by way of the host's SIGSEGV, with nothing changed; the row then
 * leaves. For emu/hart/exec/handlers.h. */
#include "emu/hart/mmu/mirror.h"

/* Tells mirror.c of an instruction at local label 1 that may fault. */
#define MAY_FAULT                                                                                            \
    "\n\t.pushsection " MIRROR_SECTION ", \"a\", @progbits\n\t.long 1b - ., %l[fault_] - .\n\t.popsection"

struct direct8 {
    uint8_t value;
} __attribute__((packed, may_alias));
struct direct16 {
    uint16_t value;
} __attribute__((packed, may_alias));
struct direct32 {
    uint32_t value;
} __attribute__((packed, may_alias));
struct direct64 {
    uint64_t value;
} __attribute__((packed, may_alias));

#define DIRECT_LOAD_8   "1: movzbl %[at], %k[value]"
#define DIRECT_LOAD_16  "1: movzwl %[at], %k[value]"
#define DIRECT_LOAD_32  "1: movl %[at], %k[value]"
#define DIRECT_LOAD_64  "1: movq %[at], %q[value]"
#define DIRECT_STORE_8  "1: movb %b[value], %[at]"
#define DIRECT_STORE_16 "1: movw %w[value], %[at]"
#define DIRECT_STORE_32 "1: movl %k[value], %[at]"
#define DIRECT_STORE_64 "1: movq %q[value], %[at]"

#define LOAD(bits, address)                                                                                  \
    __extension__({                                                                                          \
        __label__ fault_;                                                                                    \
        const uint64_t address_ = (address);                                                                 \
        uint64_t loaded_;                                                                                    \
        if (UNLIKELY(address_ > hart->load_last))                                                            \
            return false;                                                                                    \
        __asm__ goto(DIRECT_LOAD_##bits MAY_FAULT                                                            \
                     : [value] "=r"(loaded_)                                                                 \
                     : [at] "m"(*(const struct direct##bits *)(hart->load_bytes + address_))                 \
                     :                                                                                       \
                     : fault_);                                                                              \
        if (0) {                                                                                             \
        fault_:                                                                                              \
            return false;                                                                                    \
        }                                                                                                    \
        (uint##bits##_t) loaded_;                                                                            \
    })
#define STORE(bits, address, value_)                                                                         \
    do {                                                                                                     \
        __label__ fault_;                                                                                    \
        const uint64_t address_ = (address), stored_ = (uint##bits##_t)(value_);                             \
        if (UNLIKELY(address_ > hart->load_last))                                                            \
            return false;                                                                                    \
        __asm__ goto(DIRECT_STORE_##bits MAY_FAULT                                                           \
                     : [at] "=m"(*(struct direct##bits *)(hart->load_bytes + address_))                      \
                     : [value] "r"(stored_)                                                                  \
                     :                                                                                       \
                     : fault_);                                                                              \
        if (0) {                                                                                             \
        fault_:                                                                                              \
            return false;                                                                                    \
        }                                                                                                    \
    } while (0)
#define AMO(op, bits, address, value)                                                                        \
    __extension__({                                                                                          \
        uint64_t at_ = (address);                                                                            \
        ALIGNED(at_, bits / 8);                                                                              \
        uint##bits##_t old_ = LOAD(bits, at_);                                                               \
        STORE(bits, at_, atomic_##op##bits(old_, (uint##bits##_t)(value)));                                  \
        old_;                                                                                                \
    })
/* Without its reservation, `slow` checks whether the address can be stored to. */
#define STORE_CONDITIONAL(bits, address, value)                                                              \
    __extension__({                                                                                          \
        uint64_t at_ = (address);                                                                            \
        ALIGNED(at_, bits / 8);                                                                              \
        if (UNLIKELY(!hart->reserved || hart->reservation != at_))                                           \
            return false;                                                                                    \
        STORE(bits, at_, value);                                                                             \
        hart->reserved = false;                                                                              \
        UINT64_C(0);                                                                                         \
    })
