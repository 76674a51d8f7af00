/* SHA-256, CRC-32 and Adler-32 with their published answers, then over longer generated messages. */
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

struct sha256 {
    uint32_t state[8];
    uint64_t length;
    uint8_t block[64];
};

static uint32_t rotate(uint32_t x, int by)
{
    return x >> by | x << (32 - by);
}

/* The constants are the fractional bits of cube roots of primes (FIPS 180-4, section 4.2.2), found by
 * bisection in integers. */
static uint32_t root_bits(uint64_t prime, int power)
{
    unsigned __int128 low = 0, high = (unsigned __int128)1 << 40;
    while (high - low > 1) {
        unsigned __int128 middle = (low + high) / 2;
        unsigned __int128 value = power == 3 ? middle * middle * middle : middle * middle;
        if (value <= (unsigned __int128)prime << (power * 32))
            low = middle;
        else
            high = middle;
    }
    return (uint32_t)low;
}

static uint32_t constants[64], start[8];

static void find_constants(void)
{
    int found = 0;
    for (uint64_t n = 2; found < 64; n++) {
        int prime = 1;
        for (uint64_t d = 2; d * d <= n; d++)
            prime = prime && n % d != 0;
        if (!prime)
            continue;
        if (found < 8)
            start[found] = root_bits(n, 2);
        constants[found++] = root_bits(n, 3);
    }
}

static void sha256_block(struct sha256 *sha)
{
    uint32_t w[64], s[8];
    for (int i = 0; i < 16; i++)
        w[i] = (uint32_t)sha->block[4 * i] << 24 | (uint32_t)sha->block[4 * i + 1] << 16 |
               (uint32_t)sha->block[4 * i + 2] << 8 | sha->block[4 * i + 3];
    for (int i = 16; i < 64; i++)
        w[i] = w[i - 16] + w[i - 7] + (rotate(w[i - 15], 7) ^ rotate(w[i - 15], 18) ^ w[i - 15] >> 3) +
               (rotate(w[i - 2], 17) ^ rotate(w[i - 2], 19) ^ w[i - 2] >> 10);
    memcpy(s, sha->state, sizeof s);
    for (int i = 0; i < 64; i++) {
        uint32_t t1 = s[7] + (rotate(s[4], 6) ^ rotate(s[4], 11) ^ rotate(s[4], 25)) +
                      ((s[4] & s[5]) ^ (~s[4] & s[6])) + constants[i] + w[i];
        uint32_t t2 = (rotate(s[0], 2) ^ rotate(s[0], 13) ^ rotate(s[0], 22)) +
                      ((s[0] & s[1]) ^ (s[0] & s[2]) ^ (s[1] & s[2]));
        memmove(s + 1, s, 7 * sizeof *s);
        s[4] += t1, s[0] = t1 + t2;
    }
    for (int i = 0; i < 8; i++)
        sha->state[i] += s[i];
}

static void sha256_add(struct sha256 *sha, const void *data, size_t size)
{
    for (const uint8_t *byte = data; size > 0; size--) {
        sha->block[sha->length++ % 64] = *byte++;
        if (sha->length % 64 == 0)
            sha256_block(sha);
    }
}

static void print_sha256(const char *name, const void *data, size_t size)
{
    struct sha256 sha = {.length = 0};
    memcpy(sha.state, start, sizeof start);
    sha256_add(&sha, data, size);
    uint64_t bits = sha.length * 8;
    sha256_add(&sha, "\x80", 1);
    while (sha.length % 64 != 56)
        sha256_add(&sha, "", 1);
    for (int i = 56; i >= 0; i -= 8)
        sha256_add(&sha, &(uint8_t){(uint8_t)(bits >> i)}, 1);
    printf("sha256 %s ", name);
    for (int i = 0; i < 8; i++)
        printf("%08x", (unsigned)sha.state[i]);
    printf("\n");
}

static uint32_t crc32(const uint8_t *bytes, size_t size)
{
    uint32_t crc = 0xffffffffu;
    for (size_t i = 0; i < size; i++) {
        crc ^= bytes[i];
        for (int bit = 0; bit < 8; bit++)
            crc = crc >> 1 ^ (0xedb88320u & -(crc & 1));
    }
    return ~crc;
}

static uint32_t adler32(const uint8_t *bytes, size_t size)
{
    uint32_t a = 1, b = 0;
    for (size_t i = 0; i < size; i++)
        a = (a + bytes[i]) % 65521, b = (b + a) % 65521;
    return b << 16 | a;
}

int main(void)
{
    static const char *const messages[] = {"", "abc", "123456789",
                                           "abcdbcdecdefdefgefghfghighijhijkijkljklmklmnlmnomnopnopq",
                                           "The quick brown fox jumps over the lazy dog"};
    find_constants();
    printf("first constant %08x, last %08x, start %08x\n", (unsigned)constants[0], (unsigned)constants[63],
           (unsigned)start[0]);
    for (size_t i = 0; i < sizeof messages / sizeof *messages; i++) {
        const uint8_t *bytes = (const uint8_t *)messages[i];
        size_t size = strlen(messages[i]);
        print_sha256(messages[i], bytes, size);
        printf("crc32 %08x adler32 %08x\n", (unsigned)crc32(bytes, size), (unsigned)adler32(bytes, size));
    }
    uint8_t *million = malloc(1000000);
    memset(million, 'a', 1000000);
    print_sha256("a million times a", million, 1000000);
    for (size_t size = 1; size < 3000; size = size * 2 + 1) {
        for (size_t i = 0; i < size; i++)
            million[i] = (uint8_t)(i * i + size);
        print_sha256("generated", million, size);
        printf("crc32 %08x adler32 %08x\n", (unsigned)crc32(million, size), (unsigned)adler32(million, size));
    }
    free(million);
    return 0;
}
