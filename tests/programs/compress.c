/* An LZ77 compressor: round trips over texts, noise, runs, slow ramps and tiny inputs. */
#include <stdint.h>
#include <stdio.h>
#include <string.h>

enum { ROOM = 20000, MIN_MATCH = 4, MAX_MATCH = 255 + MIN_MATCH, HASH_SIZE = 4096 };

static uint8_t input[ROOM], packed[2 * ROOM], output[ROOM];

static unsigned hash4(const uint8_t *bytes)
{
    uint32_t word;
    memcpy(&word, bytes, sizeof word);
    return word * 2654435761u >> 20;
}

static int match_length(const uint8_t *a, const uint8_t *b, const uint8_t *end)
{
    int length = 0;
    while (length < MAX_MATCH && b + length < end && a[length] == b[length])
        length++;
    return length;
}

static size_t put_literals(uint8_t *out, const uint8_t *from, size_t count)
{
    size_t used = 0;
    while (count > 0) {
        size_t part = count < 128 ? count : 128;
        out[used++] = (uint8_t)(part - 1);
        memcpy(out + used, from, part);
        used += part, from += part, count -= part;
    }
    return used;
}

/* Tokens: 0..127 then n + 1 literals; 128 then a length byte and two distance bytes. */
static size_t pack(uint8_t *out, const uint8_t *in, size_t size)
{
    static int heads[HASH_SIZE];
    size_t used = 0, at = 0, literals = 0;
    for (int i = 0; i < HASH_SIZE; i++)
        heads[i] = -1;
    while (at < size) {
        int length = 0, candidate = -1;
        if (at + MIN_MATCH <= size) {
            unsigned slot = hash4(in + at);
            candidate = heads[slot];
            heads[slot] = (int)at;
            if (candidate >= 0 && at - (size_t)candidate < 65536)
                length = match_length(in + candidate, in + at, in + size);
        }
        if (length < MIN_MATCH) {
            at++, literals++;
            continue;
        }
        used += put_literals(out + used, in + at - literals, literals);
        size_t distance = at - (size_t)candidate;
        out[used++] = 128;
        out[used++] = (uint8_t)(length - MIN_MATCH);
        out[used++] = (uint8_t)distance;
        out[used++] = (uint8_t)(distance >> 8);
        at += (size_t)length, literals = 0;
    }
    return used + put_literals(out + used, in + at - literals, literals);
}

static size_t unpack(uint8_t *out, const uint8_t *in, size_t size)
{
    size_t made = 0;
    for (size_t at = 0; at < size;) {
        unsigned token = in[at++];
        if (token < 128) {
            memcpy(out + made, in + at, token + 1);
            made += token + 1, at += token + 1;
            continue;
        }
        size_t length = in[at] + (size_t)MIN_MATCH, distance = in[at + 1] + 256u * in[at + 2];
        for (at += 3; length > 0; length--, made++)
            out[made] = out[made - distance];
    }
    return made;
}

static void make_input(int kind, size_t size)
{
    static const char *const words[] = {"vault ", "bank ",   "row ",     "link ",
                                        "the ",   "packet ", "offload ", "core "};
    uint32_t seed = (uint32_t)kind + 17;
    for (size_t i = 0; i < size;) {
        seed = seed * 1664525u + 1013904223u;
        if (kind == 0) {
            const char *word = words[seed >> 29];
            for (const char *c = word; *c && i < size; c++)
                input[i++] = (uint8_t)*c;
        } else {
            input[i] = (uint8_t)(kind == 1 ? seed >> 24 : kind == 2 ? 0 : kind == 3 ? i * i >> 7 : i % 251);
            i++;
        }
    }
}

int main(void)
{
    static const size_t sizes[] = {0, 1, 3, 4, 5, 127, 128, 129, 1000, 4096, ROOM};
    int wrong = 0;
    for (int kind = 0; kind < 5; kind++)
        for (size_t i = 0; i < sizeof sizes / sizeof *sizes; i++) {
            make_input(kind, sizes[i]);
            size_t small = pack(packed, input, sizes[i]);
            memset(output, 0xee, sizeof output);
            size_t made = unpack(output, packed, small);
            int same = made == sizes[i] && memcmp(input, output, made) == 0;
            uint32_t digest = 2166136261u;
            for (size_t b = 0; b < small; b++)
                digest = (digest ^ packed[b]) * 16777619u;
            printf("kind %d size %zu -> %zu, digest %08x, %s\n", kind, sizes[i], small, (unsigned)digest,
                   same ? "restored" : "DAMAGED");
            wrong += !same;
        }
    return wrong;
}
