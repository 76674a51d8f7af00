/* Wide characters and multibyte conversion, in the "C" locale and, where newlib offers it, in UTF-8. */
#include <limits.h>
#include <locale.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <wchar.h>
#include <wctype.h>

static const char sample[] = "A\xc3\xa9\xe2\x82\xac\xf0\x9d\x84\x9e z\xff";

static void print_conversion(void)
{
    mbstate_t state;
    memset(&state, 0, sizeof state);
    const char *cursor = sample;
    size_t left = sizeof sample - 1;
    while (left > 0) {
        wchar_t wide = 0;
        size_t used = mbrtowc(&wide, cursor, left, &state);
        if (used == (size_t)-1 || used == (size_t)-2) {
            printf("byte %02x: not convertible (%zd)\n", (unsigned char)*cursor, (ssize_t)used);
            memset(&state, 0, sizeof state);
            used = 1;
        } else {
            char back[MB_LEN_MAX + 1] = "";
            int length = wctomb(back, wide);
            printf("U+%04x from %zu bytes, back to %d, same %d\n", (unsigned)wide, used, length,
                   length == (int)used && memcmp(back, cursor, used) == 0);
        }
        cursor += used, left -= used;
    }
}

static void print_wide_strings(void)
{
    wchar_t text[64], copy[64];
    int length =
        swprintf(text, 64, L"%ls %d %.3f %lc|%-8ls|%08x", L"vault", -42, 2.71828, L'x', L"ab", 0xbeef);
    printf("%d %d: ", length, (int)wcslen(text));
    for (size_t i = 0; i < wcslen(text); i++)
        printf("%lx ", (unsigned long)text[i]);
    printf("\n%ls\n", text);
    wcscpy(copy, text);
    wcscat(copy, L" more");
    printf("%d %d %d\n", wcscmp(text, copy) < 0, wcsncmp(text, copy, 8), (int)wcscspn(copy, L"|"));
    printf("%td %td %td\n", wcschr(copy, L'|') - copy, wcsrchr(copy, L'|') - copy,
           wcsstr(copy, L"more") - copy);
    wchar_t *end, *rest;
    printf("%ld %a\n", wcstol(L" -123abc", &end, 10), wcstod(L"6.02e23 mol", &rest));
    printf("[%ls] [%ls]\n", end, rest);
    int a = 0;
    float b = 0;
    wchar_t word[16] = L"";
    a = swscanf(L"17 2.5 word", L"%*d %f %15ls", &b, word);
    printf("%d %g %ls\n", a, (double)b, word);
    wmemset(copy, L'=', 10);
    wmemmove(copy + 3, copy + 5, 20);
    printf("%d %ls\n", wmemcmp(copy, text, 5) < 0, copy);
    wchar_t tokens[] = L"a b,c", *save;
    for (wchar_t *t = wcstok(tokens, L" ,", &save); t; t = wcstok(NULL, L" ,", &save))
        printf("<%ls>", t);
    printf("\n");
}

static void print_classes(void)
{
    static const wint_t characters[] = {L'a', L'Z', L'5',  L' ',   L'\n', L'_',
                                        0xe9, 0xc9, 0x3b1, 0x4e2d, 0x20ac};
    for (size_t i = 0; i < sizeof characters / sizeof *characters; i++) {
        wint_t c = characters[i];
        printf("%04x alpha %d upper %d digit %d space %d punct %d print %d lower %04x upper %04x\n",
               (unsigned)c, !!iswalpha(c), !!iswupper(c), !!iswdigit(c), !!iswspace(c), !!iswpunct(c),
               !!iswprint(c), (unsigned)towlower(c), (unsigned)towupper(c));
    }
}

int main(void)
{
    static const char *const locales[] = {"C", "C.UTF-8", "en_US.UTF-8"};
    for (size_t i = 0; i < sizeof locales / sizeof *locales; i++) {
        const char *name = setlocale(LC_ALL, locales[i]);
        printf("locale %s: %s, MB_CUR_MAX %d\n", locales[i], name ? name : "refused", (int)MB_CUR_MAX);
        if (!name)
            continue;
        print_conversion();
        wchar_t wide[32];
        size_t count = mbstowcs(wide, "plain text", 32);
        char narrow[32];
        printf("%zu %zu %s\n", count, wcstombs(narrow, wide, sizeof narrow), narrow);
        print_wide_strings();
        print_classes();
    }
    return 0;
}
