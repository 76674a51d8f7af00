/* A backtracking matcher for regular expressions: literals, . [] ^ $ * + ? and groups with |. */
#include <stdbool.h>
#include <stdio.h>
#include <string.h>

/* What is left to match: a pattern's end, then the next one outside it. */
struct rest {
    const char *at, *end;
    const struct rest *next;
};

static const char *text_start;
static unsigned long steps;

static const char *match(const char *at, const char *end, const struct rest *rest, const char *text);

static const char *atom_end(const char *at)
{
    if (*at == '\\')
        return at + 2;
    if (*at == '[') {
        for (at += at[1] == '^' ? 3 : 2; *at != ']'; at++)
            continue;
        return at + 1;
    }
    if (*at != '(')
        return at + 1;
    int depth = 0;
    do
        depth += *at == '(' ? 1 : *at == ')' ? -1 : 0;
    while (at++, depth > 0);
    return at;
}

static bool class_has(const char *at, char c)
{
    bool negated = at[1] == '^', found = false;
    for (at += negated ? 2 : 1; *at != ']'; at++) {
        if (at[1] == '-' && at[2] != ']') {
            found = found || (at[0] <= c && c <= at[2]);
            at += 2;
        } else {
            found = found || *at == c;
        }
    }
    return found != negated;
}

static bool atom_matches(const char *at, char c)
{
    if (c == 0)
        return false;
    switch (*at) {
    case '.': return true;
    case '[': return class_has(at, c);
    case '\\':
        if (at[1] == 'd')
            return '0' <= c && c <= '9';
        return at[1] == c;
    default: return *at == c;
    }
}

static const char *match_atom(const char *at, const char *end, const struct rest *rest, const char *text)
{
    if (*at == '(')
        return match(at + 1, end - 1, rest, text);
    return atom_matches(at, *text) ? match(rest->at, rest->end, rest->next, text + 1) : NULL;
}

/* The repeated atom must not match the empty text. */
static const char *match_repeated(const char *at, const char *atom, const char *end, const struct rest *rest,
                                  const char *text)
{
    struct rest after = {atom + 1, end, rest}, again = {at, end, rest};
    const char *found = match_atom(at, atom, *atom == '?' ? &after : &again, text);
    if (found)
        return found;
    if (*atom == '+')
        return match_atom(at, atom, &after, text);
    return match(after.at, after.end, after.next, text);
}

static const char *bar_find(const char *at, const char *end)
{
    for (; at < end; at = atom_end(at))
        if (*at == '|')
            return at;
    return NULL;
}

/* Matches the pattern [at, end) and then `rest` at text; returns where the match ends, or NULL. */
static const char *match(const char *at, const char *end, const struct rest *rest, const char *text)
{
    steps++;
    const char *bar = bar_find(at, end);
    if (bar) {
        const char *found = match(at, bar, rest, text);
        return found ? found : match(bar + 1, end, rest, text);
    }
    if (at == end)
        return rest ? match(rest->at, rest->end, rest->next, text) : text;
    if (*at == '^')
        return text == text_start ? match(at + 1, end, rest, text) : NULL;
    if (*at == '$')
        return *text == 0 ? match(at + 1, end, rest, text) : NULL;
    const char *atom = atom_end(at);
    if (atom < end && strchr("*+?", *atom))
        return match_repeated(at, atom, end, rest, text);
    struct rest after = {atom, end, rest};
    return match_atom(at, atom, &after, text);
}

static void search(const char *pattern, const char *text)
{
    text_start = text;
    steps = 0;
    for (const char *from = text;; from++) {
        const char *end = match(pattern, pattern + strlen(pattern), NULL, from);
        if (end) {
            printf("/%s/ in \"%s\": %td-%td [%.*s], %lu steps\n", pattern, text, from - text, end - text,
                   (int)(end - from), from, steps);
            return;
        }
        if (!*from)
            break;
    }
    printf("/%s/ in \"%s\": no match, %lu steps\n", pattern, text, steps);
}

int main(void)
{
    static const char *const patterns[] = {"croft",
                                           "c.*t",
                                           "^the",
                                           "e$",
                                           "[aeiou]+",
                                           "[^a-z ]+",
                                           "(ab|cd)+e?",
                                           "\\d+\\.\\d*",
                                           "x*",
                                           "(a|b)*c",
                                           "^(a+)+$",
                                           "colou?r",
                                           "(under|over)(croft|flow)",
                                           "a.c|b.d"};
    static const char *const texts[] = {"the undercroft",
                                        "overflow at 3.14159 volts",
                                        "ababcdcde",
                                        "aaaaaaaaaaaaab",
                                        "",
                                        "colour and color",
                                        "aaac bxd",
                                        "Vault-16 ROW 7"};
    for (size_t p = 0; p < sizeof patterns / sizeof *patterns; p++)
        for (size_t t = 0; t < sizeof texts / sizeof *texts; t++)
            search(patterns[p], texts[t]);
    return 0;
}
