#include "emu/env/loader/stack.h"

#include <elf.h>
#include <inttypes.h>
#include <string.h>

enum { RANDOM_BYTES = 16, AUXILIARY_ENTRIES = 18 };

/* AT_HWCAP: bit n stands for the single-letter extension 'A' + n. */
#define HWCAP_LETTER(letter) (UINT64_C(1) << ((letter) - 'A'))

/* The positions of the next word and the next string. */
struct writer {
    const struct phys *memory;
    uint64_t word, string; /* guest addresses */
};

static void put_word(struct writer *w, uint64_t value)
{
    memcpy(phys_at(w->memory, w->word, 8), &value, 8);
    w->word += 8;
}

/* Stores length bytes in the strings' area and returns their guest address. */
static uint64_t put_bytes(struct writer *w, const void *bytes, size_t length)
{
    uint64_t address = w->string;
    memcpy(phys_at(w->memory, address, length), bytes, length);
    w->string += length;
    return address;
}

static void put_strings(struct writer *w, const char *const *strings, size_t count)
{
    for (size_t i = 0; i < count; i++)
        put_word(w, put_bytes(w, strings[i], strlen(strings[i]) + 1));
    put_word(w, 0);
}

static void put_pair(struct writer *w, uint64_t type, uint64_t value)
{
    put_word(w, type);
    put_word(w, value);
}

static void put_auxiliary(struct writer *w, const struct elf_program *program, uint64_t name)
{
    /* Fixed, so that everything that a program derives from these bytes is the same in every run. */
    static const uint8_t random[RANDOM_BYTES] = {0x5d, 0x1b, 0xe6, 0x3a, 0x94, 0x07, 0xc8, 0x72,
                                                 0x2f, 0xa9, 0x40, 0xdb, 0x86, 0x13, 0xf5, 0x6e};
    if (program->headers) {
        put_pair(w, AT_PHDR, program->headers);
        put_pair(w, AT_PHENT, sizeof(Elf64_Phdr));
        put_pair(w, AT_PHNUM, program->headers_count);
    }
    put_pair(w, AT_PAGESZ, 4096);
    put_pair(w, AT_BASE, 0);
    put_pair(w, AT_FLAGS, 0);
    put_pair(w, AT_ENTRY, program->entry);
    put_pair(w, AT_UID, GUEST_USER_ID);
    put_pair(w, AT_EUID, GUEST_USER_ID);
    put_pair(w, AT_GID, GUEST_USER_ID);
    put_pair(w, AT_EGID, GUEST_USER_ID);
    put_pair(w, AT_HWCAP,
             HWCAP_LETTER('I') | HWCAP_LETTER('M') | HWCAP_LETTER('A') | HWCAP_LETTER('F') |
                 HWCAP_LETTER('D') | HWCAP_LETTER('C'));
    put_pair(w, AT_CLKTCK, 100);
    put_pair(w, AT_SECURE, 0);
    put_pair(w, AT_RANDOM, put_bytes(w, random, sizeof random));
    put_pair(w, AT_EXECFN, name);
    put_pair(w, AT_NULL, 0);
}

uint64_t stack_strings_size(const char *const *strings, size_t count)
{
    uint64_t size = 0;
    for (size_t i = 0; i < count; i++)
        size += strlen(strings[i]) + 1;
    return size;
}

bool stack_build(const struct phys *memory, uint64_t size, const struct stack_contents *contents,
                 uint64_t *sp, struct error *err)
{
    const char *path = contents->argument_count ? contents->arguments[0] : "";
    uint64_t strings = RANDOM_BYTES + stack_strings_size(contents->arguments, contents->argument_count) +
                       stack_strings_size(contents->environment, contents->environment_count);
    uint64_t words =
        1 + contents->argument_count + 1 + contents->environment_count + 1 + 2 * AUXILIARY_ENTRIES;
    uint64_t others = strings - (contents->argument_count ? strlen(path) + 1 : 0);
    strings = (strings + STACK_STRINGS - 1) / STACK_STRINGS * STACK_STRINGS;
    uint64_t needed = strings + (words * 8 + 15) / 16 * 16;
    if (needed > size / 4 || size > memory->size)
        return error_set(err,
                         "arguments and environment take %" PRIu64 " bytes; a quarter of the stack (%" PRIu64
                         " bytes) is allowed: shorten them or enlarge user_stack.size",
                         needed, size / 4);
    uint64_t end = memory->base + memory->size;
    struct writer w = {.memory = memory, .word = end - needed, .string = end - strings};
    *sp = w.word;
    put_word(&w, contents->argument_count);
    uint64_t name = 0;
    if (contents->argument_count) {
        name = w.string + others;
        memcpy(phys_at(memory, name, strlen(path) + 1), path, strlen(path) + 1);
        put_word(&w, name);
    }
    put_strings(&w, contents->arguments + 1, contents->argument_count ? contents->argument_count - 1 : 0);
    put_strings(&w, contents->environment, contents->environment_count);
    put_auxiliary(&w, contents->program, name);
    phys_note_store(memory, *sp, end - *sp);
    return true;
}
