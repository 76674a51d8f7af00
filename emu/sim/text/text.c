#include "emu/sim/text/text.h"

#include <stddef.h>
#include <stdint.h>
#include <string.h>

enum { QUOTED_CHARACTERS = TEXT_QUOTED - 8 }; /* leaves room for quotes, "..." and the terminating zero */

struct quoted text_quote(const char *text)
{
    struct quoted quoted = {.text = ""};
    char *to = quoted.text;
    size_t length = strnlen(text, QUOTED_CHARACTERS + 1);
    bool cut = length > QUOTED_CHARACTERS;

    *to++ = '\'';
    for (size_t i = 0; i < (cut ? QUOTED_CHARACTERS : length); i++)
        *to++ = text[i] >= ' ' && text[i] <= '~' ? text[i] : '?';
    strcpy(to, cut ? "...'" : "'");
    return quoted;
}

/* Decodes one UTF-8 character. Returns its length, or 0 if the bytes are not UTF-8. */
static size_t utf8_decode(const unsigned char *bytes, uint32_t *character)
{
    static const uint32_t smallest[] = {0, 0, 0x80, 0x800, 0x10000};
    size_t length = bytes[0] < 0x80   ? 1
                    : bytes[0] < 0xc0 ? 0
                    : bytes[0] < 0xe0 ? 2
                    : bytes[0] < 0xf0 ? 3
                    : bytes[0] < 0xf8 ? 4
                                      : 0;
    if (length < 2) {
        *character = bytes[0];
        return length;
    }
    *character = bytes[0] & (0x7fu >> length);
    for (size_t i = 1; i < length; i++) {
        if ((bytes[i] & 0xc0) != 0x80)
            return 0;
        *character = *character << 6 | (bytes[i] & 0x3fu);
    }
    return *character < smallest[length] || *character > 0x10ffff ? 0 : length;
}

static bool character_printable(uint32_t c)
{
    bool control = c < 0x20 || (c >= 0x7f && c < 0xa0);
    bool separator = c == 0x2028 || c == 0x2029;
    bool surrogate = c >= 0xd800 && c < 0xe000;
    bool no_character = c == 0xfeff || (c & 0xfffe) == 0xfffe; /* byte-order mark; reserved code points */
    return !control && !separator && !surrogate && !no_character;
}

bool text_printable(const char *text)
{
    const unsigned char *bytes = (const unsigned char *)text;
    while (*bytes) {
        uint32_t character;
        size_t length = utf8_decode(bytes, &character);
        if (!length || !character_printable(character))
            return false;
        bytes += length;
    }
    return true;
}
