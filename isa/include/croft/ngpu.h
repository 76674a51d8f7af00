/* Neural units in the lanes of multiprocessors (isa/MANUAL.md, chapter NGPU). Only machines with a part of kind ngpu have these
 * instructions; others trap. */
#ifndef CROFT_NGPU_H
#define CROFT_NGPU_H

#include <stdint.h>

/* By a host core: sends the next word of a network's image to all multiprocessors. */
static inline void croft_ngpu_send_cfg(uint32_t word)
{
    __asm__ volatile(".insn r 0x0b, 4, 0, x0, %0, x0" : : "r"((uint64_t)word));
}

/* By a host core: sends an image (`croft neural` writes such): 8 words of header, of which the fourth is the number of weights,
 * then these. */
static inline void croft_ngpu_configure(const uint32_t *image)
{
    for (uint32_t i = 0; i < 8 + image[3]; i++)
        croft_ngpu_send_cfg(image[i]);
}

/* By a thread of a multiprocessor: sends the next input. The last one begins the invocation. */
static inline void croft_ngpu_send(uint32_t input)
{
    __asm__ volatile(".insn r 0x0b, 5, 0, x0, %0, x0"
                     :
                     : "r"((int64_t)(int32_t)input)); /* as a load leaves it */
}

/* By a thread of a multiprocessor: returns the next result, and waits for it. */
static inline uint32_t croft_ngpu_recv(void)
{
    uint64_t result;
    __asm__ volatile(".insn r 0x0b, 6, 0, %0, x0, x0" : "=r"(result));
    return (uint32_t)result;
}

#endif
