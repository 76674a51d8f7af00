/* Data accesses of a hart without translation: memory is one address range (hart_protect). For emu/hart/exec/handlers.h. */
#define PHYSICAL(address, bytes) (address)
#define WINDOW(kind, address, bits)                                                                          \
    __extension__({                                                                                          \
        uint64_t offset_ = (uint64_t)(address)-hart->kind##_base;                                            \
        if (UNLIKELY(offset_ > hart->kind##_last))                                                           \
            return false;                                                                                    \
        REACHED(address, hart->kind##_bytes + offset_);                                                      \
    })
