/* The accessors to memory of instructions' rows. The including file chooses two:
 *    WINDOW(kind, address, bits)   host address of bits / 8 bytes for a `load` or a `store`
 *    ALIGNED(address, bytes)       leaves the row unless the address is a multiple of bytes
 * or, instead of WINDOW, the accessors LOAD, STORE, AMO and STORE_CONDITIONAL themselves.
 * `hart` has the reservation of LR and SC. */

#ifndef LOAD
#define LOAD(bits, address)                                                                                  \
    __extension__({                                                                                          \
        uint##bits##_t loaded_;                                                                              \
        memcpy(&loaded_, WINDOW(load, address, bits), sizeof loaded_);                                       \
        loaded_;                                                                                             \
    })
#define STORE(bits, address, value)                                                                          \
    do {                                                                                                     \
        uint##bits##_t stored_ = (uint##bits##_t)(value);                                                    \
        memcpy(WINDOW(store, address, bits), &stored_, sizeof stored_);                                      \
    } while (0)
#define AMO(op, bits, address, value)                                                                        \
    __extension__({                                                                                          \
        uint64_t at_ = (address);                                                                            \
        ALIGNED(at_, bits / 8);                                                                              \
        uint8_t *bytes_ = WINDOW(store, at_, bits);                                                          \
        uint##bits##_t old_, new_;                                                                           \
        memcpy(&old_, bytes_, sizeof old_);                                                                  \
        new_ = atomic_##op##bits(old_, (uint##bits##_t)(value));                                             \
        memcpy(bytes_, &new_, sizeof new_);                                                                  \
        old_;                                                                                                \
    })
#define STORE_CONDITIONAL(bits, address, value)                                                              \
    __extension__({                                                                                          \
        uint64_t at_ = (address);                                                                            \
        ALIGNED(at_, bits / 8);                                                                              \
        uint8_t *bytes_ = WINDOW(store, at_, bits);                                                          \
        bool held_ = hart->reserved && hart->reservation == at_;                                             \
        uint##bits##_t new_ = (uint##bits##_t)(value);                                                       \
        hart->reserved = false;                                                                              \
        if (held_)                                                                                           \
            memcpy(bytes_, &new_, sizeof new_);                                                              \
        !held_;                                                                                              \
    })
#endif
#define load8(address)            LOAD(8, address)
#define load16(address)           LOAD(16, address)
#define load32(address)           LOAD(32, address)
#define load64(address)           LOAD(64, address)
#define store8(address, value)    STORE(8, address, value)
#define store16(address, value)   STORE(16, address, value)
#define store32(address, value)   STORE(32, address, value)
#define store64(address, value)   STORE(64, address, value)
#define amo32(op, address, value) AMO(op, 32, address, value)
#define amo64(op, address, value) AMO(op, 64, address, value)
#define LOAD_RESERVED(bits, address)                                                                         \
    __extension__({                                                                                          \
        uint64_t at_ = (address);                                                                            \
        ALIGNED(at_, bits / 8);                                                                              \
        uint64_t value_ = LOAD(bits, at_);                                                                   \
        hart->reserved = true;                                                                               \
        hart->reservation = at_;                                                                             \
        value_;                                                                                              \
    })
#define lr32(address)        LOAD_RESERVED(32, address)
#define lr64(address)        LOAD_RESERVED(64, address)
#define sc32(address, value) STORE_CONDITIONAL(32, address, value)
#define sc64(address, value) STORE_CONDITIONAL(64, address, value)
