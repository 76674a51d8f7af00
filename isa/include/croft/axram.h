/* AxRAM: neural networks inside GDDR5 chips. Only machines with a part of kind axram have these instructions; others trap.
 *
 * A region is [start, end). Accelerator memory is a range of memory with an order of its own (isa/MANUAL.md, chapter AxRAM): it
 * consists of blocks of 128 bytes, and word u of a block belongs to unit u, which computes for thread u. Block i of a region of
 * inputs or results holds value i of 32 threads. */
#ifndef CROFT_AXRAM_H
#define CROFT_AXRAM_H

#include <stdint.h>

enum {
    CROFT_AXRAM_UNITS = 32,
    CROFT_AXRAM_BLOCK = 128,         /* bytes */
    CROFT_AXRAM_WORDS = 32,          /* of a block */
    CROFT_AXRAM_HALF_PAGE = 1 << 14, /* bytes: neighbours use other banks */
};

/* What croft_axram_query() tells: the number of chips; address and bytes of accelerator memory; bytes that follow each other in a
 * chip; config.axram and wrt_res.axram that wait; chips that work together on an invocation; for an address in accelerator memory, 1 if one of these has the block there,
 * else 0. Piece n, from the start of accelerator memory, is in chip n modulo the number of chips. */
enum croft_axram_query {
    CROFT_AXRAM_CHIPS,
    CROFT_AXRAM_BASE,
    CROFT_AXRAM_SIZE,
    CROFT_AXRAM_PIECE,
    CROFT_AXRAM_REQUESTS,
    CROFT_AXRAM_TOGETHER,
};

static inline uint64_t croft_axram_query(uint64_t number)
{
    uint64_t value;
    __asm__ volatile(".insn r 0x0b, 3, 0, %0, %1, x0" : "=r"(value) : "r"(number));
    return value;
}

/* Gives the chip of a region the network that the region describes; waits until it has it. */
static inline void croft_axram_config(const void *start, const void *end)
{
    __asm__ volatile(".insn r 0x0b, 0, 0, x0, %0, %1" : : "r"(start), "r"(end) : "memory");
}

/* Names the inputs: of one thread its words, or of several. Does not wait. */
static inline void croft_axram_initiate(const void *start, const void *end)
{
    __asm__ volatile(".insn r 0x0b, 1, 0, x0, %0, %1" : : "r"(start), "r"(end) : "memory");
}

/* Evaluates the network for the inputs that this thread has named, and waits until the results are written. */
static inline void croft_axram_wrt_res(const void *start, const void *end)
{
    __asm__ volatile(".insn r 0x0b, 2, 0, x0, %0, %1" : : "r"(start), "r"(end) : "memory");
}

/* One thread's words of `count` blocks: inputs and results of unit `unit`. */
static inline void croft_axram_thread(const uint32_t *inputs, unsigned input_count, uint32_t *results,
                                      unsigned result_count, unsigned unit)
{
    croft_axram_initiate(inputs + unit, inputs + (input_count - 1) * CROFT_AXRAM_WORDS + unit + 1);
    croft_axram_wrt_res(results + unit, results + (result_count - 1) * CROFT_AXRAM_WORDS + unit + 1);
}

/* Returns the blocks of the region of configuration of a network's image: 8 words of header, then the weights (`croft neural`
 * writes such images). */
static inline uint32_t croft_axram_blocks(const uint32_t *image)
{
    const unsigned layers = image[1] >> 8 & 255, bias = image[1] >> 16 & 1;
    uint32_t blocks = 1 + bias + (image[3] + 3) / 4 + 2;
    for (unsigned layer = 1; layer < layers; layer++)
        blocks += image[2] >> (8 * layer) & 255;
    return blocks;
}

/* Returns the blocks of such a region where several chips work together: then copies of inputs and results follow. */
static inline uint32_t croft_axram_shared_blocks(const uint32_t *image)
{
    const unsigned layers = image[1] >> 8 & 255;
    return croft_axram_blocks(image) + (image[2] & 255) + (image[2] >> (8 * layers) & 255);
}

/* Writes the region of configuration of an image: the header, with a bias a block of ones, and each four weights eight times.
 * `one` is 1 as a data word. Returns the region's end; blocks of copies are not written. */
static inline void *croft_axram_lay_out(const uint32_t *image, uint32_t one, void *region)
{
    uint32_t *block = (uint32_t *)region;
    const uint32_t count = image[3], bias = image[1] >> 16 & 1;
    for (unsigned i = 0; i < CROFT_AXRAM_WORDS; i++)
        block[i] = i < 8 ? image[i] : 0;
    block += CROFT_AXRAM_WORDS;
    for (unsigned i = 0; bias && i < CROFT_AXRAM_WORDS; i++)
        block[i] = one;
    block += bias ? CROFT_AXRAM_WORDS : 0;
    for (uint32_t first = 0; first < count; first += 4, block += CROFT_AXRAM_WORDS)
        for (unsigned i = 0; i < CROFT_AXRAM_WORDS; i++)
            block[i] = first + i % 4 < count ? image[8 + first + i % 4] : 0;
    return (char *)region + (uint64_t)croft_axram_blocks(image) * CROFT_AXRAM_BLOCK;
}

#endif
