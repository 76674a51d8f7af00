/* A JSON parser and printer: nested values, numbers, escapes, and exact messages for malformed input. */
#include <ctype.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum kind { NONE, TRUE, FALSE, NUMBER, STRING, ARRAY, OBJECT };

struct value {
    enum kind kind;
    double number;
    char *text;          /* of a string */
    char *key;           /* within an object */
    struct value *first; /* of an array or object */
    struct value *next;
};

struct parser {
    const char *start, *at, *error;
};

static struct value *parse_value(struct parser *p, int depth);

static void skip_space(struct parser *p)
{
    while (*p->at && isspace((unsigned char)*p->at))
        p->at++;
}

static void *fail(struct parser *p, const char *message)
{
    if (!p->error)
        p->error = message;
    return NULL;
}

static char *encode_utf8(char *out, unsigned c)
{
    if (c < 0x80) {
        *out++ = (char)c;
    } else if (c < 0x800) {
        *out++ = (char)(0xc0 | c >> 6), *out++ = (char)(0x80 | (c & 63));
    } else {
        *out++ = (char)(0xe0 | c >> 12), *out++ = (char)(0x80 | (c >> 6 & 63)),
        *out++ = (char)(0x80 | (c & 63));
    }
    return out;
}

static char *parse_string(struct parser *p)
{
    static const char escapes[] = "\"\\/bfnrt", meanings[] = "\"\\/\b\f\n\r\t";
    char *text = malloc(strlen(p->at) + 1), *out = text;
    for (p->at++; *p->at != '"'; p->at++) {
        if ((unsigned char)*p->at < 0x20) {
            free(text);
            return fail(p, *p->at ? "control character in string" : "unterminated string");
        }
        if (*p->at != '\\') {
            *out++ = *p->at;
            continue;
        }
        const char *escape = *++p->at ? strchr(escapes, *p->at) : NULL;
        unsigned code;
        if (escape) {
            *out++ = meanings[escape - escapes];
        } else if (*p->at == 'u' && sscanf(p->at + 1, "%4x", &code) == 1) {
            out = encode_utf8(out, code), p->at += 4;
        } else {
            free(text);
            return fail(p, "bad escape");
        }
    }
    p->at++;
    *out = 0;
    return text;
}

static struct value *value_new(enum kind kind)
{
    struct value *value = calloc(1, sizeof *value);
    value->kind = kind;
    return value;
}

static struct value *parse_members(struct parser *p, struct value *whole, char close, int depth)
{
    struct value **tail = &whole->first;
    p->at++;
    for (skip_space(p); *p->at != close || whole->first; p->at++) {
        char *key = NULL;
        skip_space(p);
        if (whole->kind == OBJECT) {
            if (*p->at != '"' || !(key = parse_string(p)))
                return fail(p, "expected a key");
            skip_space(p);
            if (*p->at++ != ':')
                return fail(p, "expected ':'");
        }
        if (!(*tail = parse_value(p, depth + 1)))
            return NULL;
        (*tail)->key = key;
        tail = &(*tail)->next;
        skip_space(p);
        if (*p->at == close)
            break;
        if (*p->at != ',')
            return fail(p, "expected ',' or the end");
    }
    p->at++;
    return whole;
}

static struct value *parse_value(struct parser *p, int depth)
{
    static const struct {
        const char *word;
        enum kind kind;
    } words[] = {{"null", NONE}, {"true", TRUE}, {"false", FALSE}};
    skip_space(p);
    if (depth > 50)
        return fail(p, "nested too deeply");
    if (*p->at == '[')
        return parse_members(p, value_new(ARRAY), ']', depth);
    if (*p->at == '{')
        return parse_members(p, value_new(OBJECT), '}', depth);
    struct value *value = value_new(NONE);
    for (int i = 0; i < 3; i++)
        if (strncmp(p->at, words[i].word, strlen(words[i].word)) == 0) {
            p->at += strlen(words[i].word);
            value->kind = words[i].kind;
            return value;
        }
    char *end;
    if (*p->at == '"') {
        value->kind = STRING;
        return (value->text = parse_string(p)) ? value : NULL;
    }
    value->kind = NUMBER;
    value->number = strtod(p->at, &end);
    if (end == p->at)
        return fail(p, "expected a value");
    p->at = end;
    return value;
}

static void print_value(const struct value *v, int indent)
{
    printf("%*s", indent, "");
    if (v->key)
        printf("%s: ", v->key);
    switch (v->kind) {
    case NONE: printf("null\n"); break;
    case TRUE: printf("true\n"); break;
    case FALSE: printf("false\n"); break;
    case NUMBER: printf("%.17g\n", v->number); break;
    case STRING: printf("\"%s\" (%zu bytes)\n", v->text, strlen(v->text)); break;
    default:
        printf("%s\n", v->kind == ARRAY ? "array" : "object");
        for (const struct value *member = v->first; member; member = member->next)
            print_value(member, indent + 2);
    }
}

int main(void)
{
    static const char *const texts[] = {
        "{\"machine\": {\"vaults\": 16, \"links\": [0, 1, 2, 3], \"clock\": 1.25e9}, \"tags\": [\"dram\", "
        "\"stack\"]}",
        "[1, -2.5, 3e-7, 1E400, 0.1, 123456789012345678901234567890, true, false, null, [], {}, [[[]]]]",
        "{\"escapes\": \"tab\\tquote\\\"slash\\/ \\u00e9\\u20ac\", \"\": [{\"a\": {\"b\": {\"c\": "
        "[1,2,{\"d\": null}]}}}]}",
        "  \"only a string\"  ",
        "[1, 2",
        "{\"a\" 1}",
        "{\"a\": tru}",
        "[\"\\x\"]",
        "\"open",
        "{1: 2}",
        "[1 2]",
        "",
        "[1] x",
        "[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[",
    };
    for (size_t i = 0; i < sizeof texts / sizeof *texts; i++) {
        struct parser parser = {texts[i], texts[i], NULL};
        struct value *value = parse_value(&parser, 0);
        skip_space(&parser);
        if (value && *parser.at)
            parser.error = "text after the value";
        if (parser.error)
            printf("text %zu, column %td: %s\n", i, parser.at - parser.start, parser.error);
        else
            print_value(value, 0);
    }
    return 0;
}
