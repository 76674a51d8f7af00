#include "isa/decoder/set.h"

#include <ctype.h>
#include <stdarg.h>
#include <stdio.h>
#include <string.h>

#define BIT(extension) (UINT64_C(1) << EXTENSION_##extension)

/* Extensions and what they need. */
static const struct {
    uint8_t extension, needs; /* enum insn_extension */
} implied[] = {
    {EXTENSION_Zfh, EXTENSION_Zfhmin},  {EXTENSION_Zfhmin, EXTENSION_F},
    {EXTENSION_D, EXTENSION_F},         {EXTENSION_F, EXTENSION_Zicsr},
    {EXTENSION_Zcb, EXTENSION_C},       {EXTENSION_Zicntr, EXTENSION_Zicsr},
    {EXTENSION_Zihpm, EXTENSION_Zicsr}, {EXTENSION_Sstc, EXTENSION_Zicsr},
};

/* Parts of extensions, which harts have only as a whole. */
static const struct {
    const char *name;
    uint8_t whole; /* enum insn_extension */
} parts[] = {
    {"zca", EXTENSION_C},   {"zcd", EXTENSION_C},    {"zmmul", EXTENSION_M},
    {"zaamo", EXTENSION_A}, {"zalrsc", EXTENSION_A},
};

static const struct {
    const char *name, *extensions;
} profiles[] = {
#define PROFILE(name, extensions) {name, extensions},
#include "isa/decoder/profile.def"
};

static const char *const features[] = {
#define FEATURE(name, text) name,
#include "isa/decoder/feature.def"
};

/* Names that are refused for a reason worth telling; `all` names that begin so. */
static const struct {
    const char *name;
    bool all;
    const char *reason;
} refused[] = {
    {"v", false, "vectors are not modelled"},
    {"zve", true, "vectors are not modelled"},
    {"zvl", true, "vectors are not modelled"},
    {"h", false, "the hypervisor extension is not modelled"},
    {"q", false, "quadruple precision is not modelled"},
    {"zfinx", false, "it contradicts f, which keeps floats in registers of their own, and is not modelled"},
    {"zdinx", false, "it contradicts d, which keeps doubles in registers of their own, and is not modelled"},
    {"zhinx", true, "it contradicts zfh, which keeps halves in registers of their own, and is not modelled"},
    {"zcmp", false, "it contradicts c with d, whose encodings it reuses, and is not modelled"},
    {"zcmt", false, "it contradicts c with d, whose encodings it reuses, and is not modelled"},
};

#define COUNT_OF(array) (sizeof(array) / sizeof *(array))

uint64_t isa_all(void)
{
    return (UINT64_C(1) << EXTENSION_COUNT) - 1;
}

_Static_assert(EXTENSION_COUNT < 64, "a set has 64 bits");

bool isa_extension_text(enum insn_extension extension, char text[INSN_NAME_SIZE])
{
    const char *name = insn_extension_name[extension];
    bool named = name[0] == 'Z' || name[0] == 'S' || name[1] == '\0';
    (void)snprintf(text, INSN_NAME_SIZE, "%s", named ? name : "");
    text[0] = (char)tolower((unsigned char)text[0]);
    return named;
}

/* The set that ISA strings do not choose. */
static uint64_t always(void)
{
    uint64_t set = 0;
    char text[INSN_NAME_SIZE];
    for (unsigned e = 0; e < EXTENSION_COUNT; e++)
        if (!isa_extension_text((enum insn_extension)e, text))
            set |= UINT64_C(1) << e;
    return set;
}

static void add(char *text, size_t size, const char *format, ...) __attribute__((format(printf, 3, 4)));

static void add(char *text, size_t size, const char *format, ...)
{
    size_t used = strlen(text);
    va_list args;
    va_start(args, format);
    (void)vsnprintf(text + used, size - used, format, args);
    va_end(args);
}

void isa_string(uint64_t set, char text[ISA_STRING])
{
    char name[INSN_NAME_SIZE];
    (void)snprintf(text, ISA_STRING, "rv64");
    for (unsigned e = 0; e < EXTENSION_COUNT; e++)
        if (isa_has(set, (enum insn_extension)e) && isa_extension_text((enum insn_extension)e, name))
            add(text, ISA_STRING, "%s%s", name[1] ? "_" : "", name);
}

uint64_t isa_misa(uint64_t set)
{
    uint64_t misa = UINT64_C(2) << 62 | 1 << ('s' - 'a') | 1 << ('u' - 'a');
    char name[INSN_NAME_SIZE];
    for (unsigned e = 0; e < EXTENSION_COUNT; e++)
        if (isa_has(set, (enum insn_extension)e) && isa_extension_text((enum insn_extension)e, name) &&
            name[1] == '\0')
            misa |= UINT64_C(1) << (name[0] - 'a');
    return misa;
}

/* A parse under way. */
struct parse {
    const char *whole; /* the text, for messages */
    char *message;
    uint64_t set;
    uint32_t parts; /* bit per element of `parts` that was named */
};

static bool refuse(struct parse *parse, const char *format, ...) __attribute__((format(printf, 2, 3)));

/* Writes "'TEXT': " and the given words to the message. Returns false. */
static bool refuse(struct parse *parse, const char *format, ...)
{
    va_list args;
    (void)snprintf(parse->message, ISA_MESSAGE, "'%.80s': ", parse->whole);
    size_t used = strlen(parse->message);
    va_start(args, format);
    (void)vsnprintf(parse->message + used, ISA_MESSAGE - used, format, args);
    va_end(args);
    return false;
}

/* Appends what is known to a refusal. Returns false. */
static bool tell_known(struct parse *parse)
{
    char known[ISA_STRING];
    isa_string(isa_all(), known);
    add(parse->message, ISA_MESSAGE, "; known: %s, g, b, ", known);
    for (size_t i = 0; i < COUNT_OF(features); i++)
        add(parse->message, ISA_MESSAGE, "%s, ", features[i]);
    for (size_t i = 0; i < COUNT_OF(profiles); i++)
        add(parse->message, ISA_MESSAGE, "%s%s", i ? ", " : "and the profiles ", profiles[i].name);
    return false;
}

static bool is_name(const char *name, size_t length, const char *known)
{
    return strlen(known) == length && strncmp(name, known, length) == 0;
}

/* Adds the extension with this name. Returns false if there is none. */
static bool add_named(struct parse *parse, const char *name, size_t length)
{
    char text[INSN_NAME_SIZE];
    for (unsigned e = 0; e < EXTENSION_COUNT; e++)
        if (isa_extension_text((enum insn_extension)e, text) && is_name(name, length, text)) {
            parse->set |= UINT64_C(1) << e;
            return true;
        }
    for (size_t i = 0; i < COUNT_OF(features); i++)
        if (is_name(name, length, features[i]))
            return true;
    for (size_t i = 0; i < COUNT_OF(parts); i++)
        if (is_name(name, length, parts[i].name)) {
            parse->parts |= UINT32_C(1) << i;
            return true;
        }
    if (is_name(name, length, "g"))
        parse->set |= BIT(I) | BIT(M) | BIT(A) | BIT(F) | BIT(D) | BIT(Zicsr) | BIT(Zifencei);
    else if (is_name(name, length, "b"))
        parse->set |= BIT(Zba) | BIT(Zbb) | BIT(Zbs);
    else
        return false;
    return true;
}

static bool refuse_name(struct parse *parse, const char *name, size_t length)
{
    for (size_t i = 0; i < COUNT_OF(refused); i++)
        if (refused[i].all ? strncmp(name, refused[i].name, strlen(refused[i].name)) == 0
                           : is_name(name, length, refused[i].name)) {
            (void)refuse(parse, "%.*s: %s", (int)length, name, refused[i].reason);
            return tell_known(parse);
        }
    (void)refuse(parse, "unknown extension '%.*s'", (int)length, name);
    return tell_known(parse);
}

/* Returns the length of a version number: digits, perhaps p and digits. */
static size_t version(const char *text)
{
    static const char digits[] = "0123456789";
    size_t major = strspn(text, digits);
    size_t minor = major && text[major] == 'p' ? strspn(text + major + 1, digits) : 0;
    return minor ? major + 1 + minor : major;
}

/* Returns the length of a name of several letters without the version number that ends it. */
static size_t without_version(const char *name, size_t length)
{
    for (size_t i = 1; i < length; i++)
        if (!isdigit((unsigned char)name[i - 1]) && version(name + i) == length - i)
            return i;
    return length;
}

static bool add_long(struct parse *parse, const char *name, size_t length)
{
    if (add_named(parse, name, length))
        return true;
    size_t bare = without_version(name, length);
    return add_named(parse, name, bare) || refuse_name(parse, name, bare);
}

/* Parses what follows rv64 or a profile's name. */
static bool add_extensions(struct parse *parse, const char *at)
{
    while (*at) {
        size_t length = 1;
        if (*at == '_') {
            at++;
            continue;
        }
        if (strchr("zsx", *at)) {
            length = strcspn(at, "_");
            if (!add_long(parse, at, length))
                return false;
        } else {
            if (!add_named(parse, at, 1))
                return refuse_name(parse, at, 1);
            length += version(at + 1);
        }
        at += length;
    }
    return true;
}

static bool parse_base(struct parse *parse, const char *text)
{
    for (size_t i = 0; i < COUNT_OF(profiles); i++) {
        size_t length = strlen(profiles[i].name);
        if (strncmp(text, profiles[i].name, length) == 0 && (text[length] == '_' || !text[length]))
            return parse_base(parse, profiles[i].extensions) && add_extensions(parse, text + length);
    }
    if (strncmp(text, "rv32", 4) == 0 || strncmp(text, "rv128", 5) == 0)
        return refuse(parse, "harts are RV64 only; write rv64%s", text + (text[2] == '3' ? 4 : 5));
    if (strncmp(text, "rv64e", 5) == 0)
        return refuse(parse, "e: the base with 16 registers is not modelled; write rv64i%s", text + 5);
    if (strncmp(text, "rv64i", 5) == 0 || strncmp(text, "rv64g", 5) == 0)
        return add_extensions(parse, text + 4);
    (void)refuse(parse, "an ISA string begins with rv64i, rv64g or a profile's name");
    return tell_known(parse);
}

/* Adds what the named extensions need. Returns false if a part was named without its whole. */
static bool complete(struct parse *parse)
{
    for (size_t i = 0; i < COUNT_OF(implied); i++)
        if (isa_has(parse->set, (enum insn_extension)implied[i].extension))
            parse->set |= UINT64_C(1) << implied[i].needs;
    for (size_t i = 0; i < COUNT_OF(parts); i++) {
        char whole[INSN_NAME_SIZE];
        if (!(parse->parts >> i & 1) || isa_has(parse->set, (enum insn_extension)parts[i].whole))
            continue;
        (void)isa_extension_text((enum insn_extension)parts[i].whole, whole);
        return refuse(parse, "%s: this part of %s is not modelled alone; write %s", parts[i].name, whole,
                      whole);
    }
    return true;
}

bool isa_parse(const char *text, uint64_t *set, char message[ISA_MESSAGE])
{
    char small[ISA_STRING] = "";
    struct parse parse = {.whole = text, .message = message, .set = always()};
    if (strlen(text) >= sizeof small)
        return refuse(&parse, "an ISA string has at most %d characters", ISA_STRING - 1);
    for (size_t i = 0; i <= strlen(text); i++)
        small[i] = (char)tolower((unsigned char)text[i]);
    if (strcmp(small, "all") == 0)
        parse.set = isa_all();
    else if (!parse_base(&parse, small) || !complete(&parse))
        return false;
    *set = parse.set;
    return true;
}
