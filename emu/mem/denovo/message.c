#include "emu/mem/denovo.h"

const char *const denovo_kind_names[DENOVO_KIND_COUNT] = {
#define X(name, text, class, purpose) [DENOVO_MSG_##name] = (text),
    DENOVO_KINDS(X)
#undef X
};

enum mail_class denovo_class(const struct denovo_message *message)
{
    static const uint8_t classes[DENOVO_KIND_COUNT] = {
#define X(name, text, class, purpose) [DENOVO_MSG_##name] = MAIL_##class,
        DENOVO_KINDS(X)
#undef X
    };
    return classes[message->kind];
}

enum mail_purpose denovo_purpose(const struct denovo_message *message)
{
    static const uint8_t purposes[DENOVO_KIND_COUNT] = {
#define X(name, text, class, purpose) [DENOVO_MSG_##name] = MAIL_##purpose,
        DENOVO_KINDS(X)
#undef X
    };
    return purposes[message->kind];
}

uint32_t denovo_bytes(const struct denovo_message *message)
{
    enum { OPERAND_BYTES = 8, WORD_BYTES = 4 };
    uint64_t words = 0;
    switch (message->kind) {
    case DENOVO_MSG_ATOMIC: return DENOVO_HEADER_BYTES + OPERAND_BYTES;
    case DENOVO_MSG_READ_ANSWER:
    case DENOVO_MSG_WRITE_BACK:
    case DENOVO_MSG_ATOMIC_DONE: words = message->mask | message->extra; break;
    case DENOVO_MSG_REGISTERED: words = message->with_data ? message->mask : 0; break;
    default: break;
    }
    return DENOVO_HEADER_BYTES + WORD_BYTES * (uint32_t)__builtin_popcountll(words);
}
