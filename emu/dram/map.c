#include "emu/dram/map.h"

#include <ctype.h>
#include <string.h>

static const char letters[] = "RKGBCHO%";
enum { LETTER_OFFSET = 6, LETTER_REMAINDER = 7 };

static uint32_t log2_of(uint64_t power)
{
    return (uint32_t)__builtin_ctzll(power);
}

/* The pieces as written: the most significant first. */
struct reader {
    struct piece {
        unsigned letter, bits;
    } pieces[DRAM_MAP_TEXT];
    unsigned count;
    unsigned bits[8]; /* in all, by letter */
};

static bool read_text(struct reader *reader, const char *text, struct error *err)
{
    for (const char *at = text; *at;) {
        if (isspace((unsigned char)*at) || *at == '.') {
            at++;
            continue;
        }
        const char *letter = strchr(letters, *at);
        if (!letter)
            return error_set(
                err, "map: '%c' in \"%s\" is no field; allowed are R K G B C H O %% with numbers of bits",
                isprint((unsigned char)*at) ? *at : '?', text);
        unsigned bits = 0, digits = 0;
        for (at++; isdigit((unsigned char)*at); at++, digits++)
            bits = bits < 100 ? 10 * bits + (unsigned)(*at - '0') : bits;
        if (!digits)
            bits = 1;
        if (bits > 32 || bits == 0)
            return error_set(err, "map: a field of %u bits in \"%s\"; 1 to 32 are allowed", bits, text);
        unsigned kind = (unsigned)(letter - letters);
        reader->pieces[reader->count++] = (struct piece){kind, bits};
        reader->bits[kind] += bits;
    }
    return true;
}

static bool check_bits(const struct reader *reader, const struct dram_config *config, struct error *err)
{
    bool power = (config->channels & (config->channels - 1)) == 0;
    bool remainder = reader->bits[LETTER_REMAINDER] > 0;
    const unsigned wanted[7] = {log2_of(config->rows),
                                log2_of(config->ranks),
                                log2_of(config->groups),
                                log2_of(config->banks),
                                log2_of(config->row_bytes / config->burst_bytes),
                                remainder || !power ? 0 : log2_of(config->channels),
                                log2_of(config->burst_bytes)};
    for (unsigned i = 0; i < 7; i++)
        if (reader->bits[i] != wanted[i])
            return error_set(err, "map: \"%s\" has %u bits of %c, but this memory needs %u", config->map,
                             reader->bits[i], letters[i], wanted[i]);
    if (reader->bits[LETTER_REMAINDER] > 1 || (!power && !remainder))
        return error_set(err, "map: \"%s\" must hold one %%, because %u channels are no power of two",
                         config->map, config->channels);
    if (reader->count == 0 || reader->pieces[reader->count - 1].letter != LETTER_OFFSET)
        return error_set(err, "map: \"%s\" must end in O%u, the offset in a burst", config->map, wanted[6]);
    for (unsigned i = 0; i + 1 < reader->count; i++)
        if (reader->pieces[i].letter == LETTER_OFFSET)
            return error_set(err, "map: \"%s\" has O twice; it must be one field", config->map);
    if (reader->count > DRAM_PIECES)
        return error_set(err, "map: \"%s\" has %u pieces; %d are allowed", config->map, reader->count,
                         DRAM_PIECES);
    return true;
}

bool dram_map_init(struct dram_map *map, const struct dram_config *config, struct error *err)
{
    struct reader reader = {.count = 0};
    if (!read_text(&reader, config->map, err) || !check_bits(&reader, config, err))
        return false;
    bool power = (config->channels & (config->channels - 1)) == 0;
    if (config->channel_hash && !power)
        return error_set(err, "channel_hash: %u channels are no power of two, which hashing needs",
                         config->channels);
    *map = (struct dram_map){.remainder_before = DRAM_PIECES,
                             .offset_bits = log2_of(config->burst_bytes),
                             .channels = config->channels,
                             .group_bits = log2_of(config->groups),
                             .bank_bits = log2_of(config->banks),
                             .channel_bits = power ? log2_of(config->channels) : 0,
                             .channel_hash = config->channel_hash,
                             .bank_hash = config->bank_hash};
    unsigned used[DRAM_FIELDS] = {0}, from = map->offset_bits;
    for (unsigned i = reader.count - 1; i-- > 0;) {
        struct piece piece = reader.pieces[i];
        if (piece.letter == LETTER_REMAINDER) {
            map->remainder_before = map->piece_count;
            map->remainder_bits = from;
            from = 0;
            continue;
        }
        map->pieces[map->piece_count++] =
            (struct dram_piece){.mask = (uint32_t)((UINT64_C(1) << piece.bits) - 1),
                                .field = (uint8_t)piece.letter,
                                .from = (uint8_t)from,
                                .to = (uint8_t)used[piece.letter]};
        used[piece.letter] += piece.bits;
        from += piece.bits;
    }
    return true;
}

/* The row folded by XOR to a number of `bits`. */
static uint32_t folded(uint32_t row, uint32_t bits)
{
    uint32_t fold = 0;
    for (; bits && row; row >>= bits)
        fold ^= row;
    return fold & ((1U << bits) - 1);
}

/* Flips the hashed bits of the fields; doing it twice changes nothing. */
static void hash(const struct dram_map *map, uint32_t fields[DRAM_FIELDS])
{
    uint32_t row = fields[DRAM_FIELD_R];
    if (map->channel_hash)
        fields[DRAM_FIELD_H] ^= folded(row, map->channel_bits);
    if (map->bank_hash) {
        uint32_t fold = folded(row, map->group_bits + map->bank_bits);
        fields[DRAM_FIELD_B] ^= fold & ((1U << map->bank_bits) - 1);
        fields[DRAM_FIELD_G] ^= fold >> map->bank_bits;
    }
}

/* Adds the pieces [begin, end) of a number to the fields. */
static void cut(const struct dram_map *map, uint32_t begin, uint32_t end, uint64_t number,
                uint32_t fields[DRAM_FIELDS])
{
    for (uint32_t i = begin; i < end; i++) {
        const struct dram_piece *piece = &map->pieces[i];
        fields[piece->field] |= ((uint32_t)(number >> piece->from) & piece->mask) << piece->to;
    }
}

struct dram_place dram_map_place(const struct dram_map *map, uint64_t address)
{
    uint32_t fields[DRAM_FIELDS] = {0};
    if (map->remainder_before == DRAM_PIECES) {
        cut(map, 0, map->piece_count, address, fields);
    } else {
        uint64_t number = address >> map->remainder_bits;
        uint64_t quotient = number <= UINT32_MAX ? (uint32_t)number / map->channels : number / map->channels;
        cut(map, 0, map->remainder_before, address, fields);
        cut(map, map->remainder_before, map->piece_count, quotient, fields);
        fields[DRAM_FIELD_H] = (uint32_t)(number - quotient * map->channels);
    }
    hash(map, fields);
    uint32_t group = fields[DRAM_FIELD_K] << map->group_bits | fields[DRAM_FIELD_G];
    return (struct dram_place){.channel = fields[DRAM_FIELD_H],
                               .bank = group << map->bank_bits | fields[DRAM_FIELD_B],
                               .row = fields[DRAM_FIELD_R],
                               .column = fields[DRAM_FIELD_C]};
}

/* The number that has the pieces [begin, end) of the fields: the way back of cut(). */
static uint64_t join(const struct dram_map *map, uint32_t begin, uint32_t end,
                     const uint32_t fields[DRAM_FIELDS])
{
    uint64_t number = 0;
    for (uint32_t i = begin; i < end; i++) {
        const struct dram_piece *piece = &map->pieces[i];
        number |= (uint64_t)(fields[piece->field] >> piece->to & piece->mask) << piece->from;
    }
    return number;
}

uint64_t dram_map_address(const struct dram_map *map, const struct dram_place *place)
{
    uint32_t group = place->bank >> map->bank_bits;
    uint32_t fields[DRAM_FIELDS] = {
        [DRAM_FIELD_R] = place->row,
        [DRAM_FIELD_K] = group >> map->group_bits,
        [DRAM_FIELD_G] = group & ((1U << map->group_bits) - 1),
        [DRAM_FIELD_B] = place->bank & ((1U << map->bank_bits) - 1),
        [DRAM_FIELD_C] = place->column,
        [DRAM_FIELD_H] = place->channel,
    };
    hash(map, fields);
    if (map->remainder_before == DRAM_PIECES)
        return join(map, 0, map->piece_count, fields);
    uint64_t quotient = join(map, map->remainder_before, map->piece_count, fields);
    uint64_t number = quotient * map->channels + fields[DRAM_FIELD_H];
    return number << map->remainder_bits | join(map, 0, map->remainder_before, fields);
}
