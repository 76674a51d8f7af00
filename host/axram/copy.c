/* Regions for threads, copies that shuffle, and networks. */
#include <croft/axram_memory.h>
#include <errno.h>
#include <stddef.h>

#include "host/axram/memory.h"

void *axram_malloc(unsigned values, uint64_t threads)
{
    const uint64_t records = threads / CROFT_AXRAM_WORDS + (threads % CROFT_AXRAM_WORDS > 0);
    struct axram_allocation *a;
    if (!axram_begin())
        return NULL;
    if (values < 1 || values > AXRAM_MOST_VALUES || threads < 1) {
        (void)axram_fail(
            EINVAL,
            "axram_malloc: %u values of %llu threads; 1 to %d values of 1 or more threads are allowed",
            values, (unsigned long long)threads, AXRAM_MOST_VALUES);
        return NULL;
    }
    a = axram_take(values, (records + croft_axram_geometry.chips - 1) / croft_axram_geometry.chips, 0);
    if (!a)
        return NULL;
    a->values = values;
    a->threads = threads;
    return a->address;
}

void *axram_network(const uint32_t *image, unsigned chips)
{
    return axram_begin() ? axram_network_at(image, 0, chips ? chips : croft_axram_geometry.chips) : NULL;
}

void *axram_network_at(const uint32_t *image, unsigned first, unsigned chips)
{
    const uint32_t one = (image[1] & 255) == 2 ? 0x3f800000 : UINT32_C(1) << 24;
    struct axram_allocation *a;
    if (!axram_begin())
        return NULL;
    if (image[0] != 0x4e4e5841 || chips < 1 || first >= croft_axram_geometry.chips ||
        chips > croft_axram_geometry.chips - first) {
        (void)axram_fail(EINVAL,
                         image[0] == 0x4e4e5841
                             ? "axram_network: chips %u to %u, but the machine has %u"
                             : "axram_network: the image for chips %u to %u of %u is not a network's",
                         first, first + chips - 1, (unsigned)croft_axram_geometry.chips);
        return NULL;
    }
    const uint32_t blocks = croft_axram_query(CROFT_AXRAM_TOGETHER) > 1 ? croft_axram_shared_blocks(image)
                                                                        : croft_axram_blocks(image);
    a = axram_take_network(blocks);
    if (!a)
        return NULL;
    a->duplicated = (uint64_t)chips * ((image[3] + 3) / 4) * CROFT_AXRAM_BLOCK - image[3] * sizeof *image;
    for (unsigned chip = first; chip < first + chips; chip++) {
        char *region = (char *)a->address + chip * axram_piece();
        (void)croft_axram_lay_out(image, one, region);
        croft_axram_config(region, region + (uint64_t)blocks * CROFT_AXRAM_BLOCK);
    }
    return a->address;
}

/* Checks a copy's region, and returns the values of its threads, or 0. */
static unsigned values_of(const void *region, uint64_t threads, const char *who)
{
    const struct axram_allocation *a = axram_find(region, who);
    if (!a)
        return 0;
    if (a->values == 0 || threads > a->threads) {
        (void)axram_fail(EINVAL,
                         a->values ? "%s: %llu threads, but the region has %llu"
                                   : "%s of %llu threads: the address is that of a network (%llu threads)",
                         who, (unsigned long long)threads, (unsigned long long)a->threads);
        return 0;
    }
    return a->values;
}

int axram_copy_in(void *region, const uint32_t *plain, uint64_t of_thread, uint64_t of_value,
                  uint64_t threads)
{
    const unsigned values = values_of(region, threads, "axram_copy_in");
    for (uint64_t first = 0; values && first < threads; first += CROFT_AXRAM_WORDS) {
        uint32_t *record = axram_record(region, values, first / CROFT_AXRAM_WORDS);
        const uint64_t units = threads - first < CROFT_AXRAM_WORDS ? threads - first : CROFT_AXRAM_WORDS;
        for (unsigned i = 0; i < values; i++, record += CROFT_AXRAM_WORDS)
            for (uint64_t unit = 0; unit < units; unit++)
                record[unit] = plain[(first + unit) * of_thread + i * of_value];
    }
    return values ? 0 : -1;
}

int axram_copy_out(uint32_t *plain, uint64_t of_thread, uint64_t of_value, const void *region,
                   uint64_t threads)
{
    const unsigned values = values_of(region, threads, "axram_copy_out");
    for (uint64_t first = 0; values && first < threads; first += CROFT_AXRAM_WORDS) {
        const uint32_t *record = axram_record(region, values, first / CROFT_AXRAM_WORDS);
        const uint64_t units = threads - first < CROFT_AXRAM_WORDS ? threads - first : CROFT_AXRAM_WORDS;
        for (unsigned i = 0; i < values; i++, record += CROFT_AXRAM_WORDS)
            for (uint64_t unit = 0; unit < units; unit++)
                plain[(first + unit) * of_thread + i * of_value] = record[unit];
    }
    return values ? 0 : -1;
}
