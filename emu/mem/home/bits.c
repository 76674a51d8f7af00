#include "emu/mem/home_bits.h"

#include <ctype.h>
#include <inttypes.h>
#include <limits.h>
#include <stdio.h>
#include <string.h>

static const char letters[] = "RKGBCHSMO";
enum { LETTER_OFFSET = 8, LETTERS, LETTER_DIVISION = LETTERS /* plus the field that is the remainder */ };

static uint32_t log2_of(uint64_t power)
{
    return (uint32_t)__builtin_ctzll(power);
}

static bool is_power(uint32_t number)
{
    return number && (number & (number - 1)) == 0;
}

/* The pieces of a bit string, the most significant first. */
struct reader {
    struct piece {
        unsigned letter, bits;
    } pieces[HOME_TEXT];
    unsigned count;
    unsigned bits[LETTERS + HOME_FIELDS]; /* sum by letter */
    bool stack_hash;
};

/* Returns the field after a %: S or M if that letter follows without a number of bits, else H. */
static unsigned divided_field(const char **at)
{
    unsigned field = **at == 'S' ? HOME_FIELD_S : **at == 'M' ? HOME_FIELD_M : HOME_FIELD_H;
    if (field == HOME_FIELD_H || isdigit((unsigned char)(*at)[1]))
        return HOME_FIELD_H;
    ++*at;
    return field;
}

static bool read_text(struct reader *reader, const char *text, struct error *err)
{
    for (const char *at = text; *at;) {
        if (isspace((unsigned char)*at) || *at == '.') {
            at++;
            continue;
        }
        const char *letter = *at == '%' ? letters : strchr(letters, *at);
        if (!letter)
            return error_set(err,
                             "map: '%c' in \"%s\" is not a field; allowed: R K G B C H S M O, each with a "
                             "number of bits, and %%",
                             isprint((unsigned char)*at) ? *at : '?', text);
        unsigned kind = (unsigned)(letter - letters), bits = 0, digits = 0;
        if (*at++ == '%')
            kind = LETTER_DIVISION + divided_field(&at);
        for (; isdigit((unsigned char)*at); at++, digits++)
            bits = bits < 100 ? 10 * bits + (unsigned)(*at - '0') : bits;
        if (!digits)
            bits = 1;
        if (bits > 32 || bits == 0)
            return error_set(err, "map: a field of %u bits in \"%s\"; allowed: 1 to 32", bits, text);
        reader->pieces[reader->count++] = (struct piece){kind, bits};
        reader->bits[kind] += bits;
    }
    return true;
}

/* Returns the bits of a field with `count` values; 0 if it is a remainder. */
static unsigned number_bits(const struct reader *reader, enum home_field field, uint32_t count)
{
    return reader->bits[LETTER_DIVISION + field] || !is_power(count) ? 0 : log2_of(count);
}

static bool check_division(const struct reader *reader, enum home_field field, uint32_t count,
                           const char *name, const char *text, struct error *err)
{
    unsigned divisions = reader->bits[LETTER_DIVISION + field];
    if (divisions <= 1 && (is_power(count) || divisions == 1))
        return true;
    const char suffix[2] = {field == HOME_FIELD_H ? '\0' : letters[field], '\0'};
    return error_set(err, "map: \"%s\" must contain one %%%s, because %u %s are not a power of two", text,
                     suffix, count, name);
}

static bool check_bits(const struct reader *reader, const struct home_layout *layout, struct error *err)
{
    const struct home_geometry *g = &layout->geometry;
    const char *text = layout->text;
    const unsigned wanted[LETTERS] = {log2_of(g->rows),
                                      log2_of(g->ranks),
                                      log2_of(g->groups),
                                      log2_of(g->banks),
                                      log2_of(g->columns),
                                      number_bits(reader, HOME_FIELD_H, g->controllers),
                                      number_bits(reader, HOME_FIELD_S, g->stacks),
                                      number_bits(reader, HOME_FIELD_M, g->modules),
                                      log2_of(g->burst)};
    for (unsigned i = 0; i < LETTERS; i++)
        if (reader->bits[i] != wanted[i])
            return error_set(err, "map: \"%s\" has %u bits of %c, but this memory needs %u", text,
                             reader->bits[i], letters[i], wanted[i]);
    if (!check_division(reader, HOME_FIELD_H, g->controllers, "channels", text, err) ||
        !check_division(reader, HOME_FIELD_S, g->stacks, "stacks", text, err) ||
        !check_division(reader, HOME_FIELD_M, g->modules, "modules", text, err))
        return false;
    if (reader->count == 0 || reader->pieces[reader->count - 1].letter != LETTER_OFFSET)
        return error_set(err, "map: \"%s\" must end in O%u, the offset in a burst", text,
                         wanted[LETTER_OFFSET]);
    for (unsigned i = 0; i + 1 < reader->count; i++)
        if (reader->pieces[i].letter == LETTER_OFFSET)
            return error_set(err, "map: \"%s\" contains O twice; it must be one field", text);
    if (reader->count > HOME_PIECES)
        return error_set(err, "map: \"%s\" has %u pieces; at most %d are allowed", text, reader->count,
                         HOME_PIECES);
    return true;
}

static bool check_hash(bool hash, const char *name, const char *what, uint32_t count, struct error *err)
{
    if (!hash || is_power(count))
        return true;
    return error_set(err, "%s: %u %s; hashing needs a power of two", name, count, what);
}

/* Checks the counts. Sets *bytes to the total size. */
static bool check_geometry(const struct home_layout *layout, uint64_t *bytes, struct error *err)
{
    const struct home_geometry *g = &layout->geometry;
    const uint32_t powers[] = {g->ranks, g->groups, g->banks, g->rows, g->columns, g->burst};
    const uint64_t ends[] = {(uint64_t)layout->module + g->modules, (uint64_t)layout->stack + g->stacks,
                             (uint64_t)layout->controller + g->controllers,
                             (uint64_t)g->ranks * g->groups * g->banks};
    for (unsigned i = 0; i < sizeof powers / sizeof *powers; i++)
        if (!is_power(powers[i]))
            return error_set(err,
                             "map: ranks, groups, banks, rows, columns and bursts must be powers of two");
    if (!g->modules || !g->stacks || !g->controllers)
        return error_set(err, "map: there must be a module, a stack and a controller");
    for (unsigned i = 0; i < sizeof ends / sizeof *ends; i++)
        if (ends[i] > UINT16_MAX + 1)
            return error_set(err, "map: modules, stacks, controllers and banks have numbers of 16 bits");
    *bytes = (uint64_t)g->modules * g->stacks;
    const uint32_t factors[] = {g->controllers, g->ranks, g->groups, g->banks, g->rows, g->columns, g->burst};
    for (unsigned i = 0; i < sizeof factors / sizeof *factors; i++)
        if (__builtin_mul_overflow(*bytes, factors[i], bytes))
            return error_set(err, "map: more than 2^64 bytes");
    return true;
}

static void remove_piece(struct reader *reader, unsigned at)
{
    reader->count--;
    memmove(&reader->pieces[at], &reader->pieces[at + 1], (reader->count - at) * sizeof reader->pieces[0]);
}

/* Returns whether the letter is the field's, or the one of its division. */
static bool is_field(unsigned letter, enum home_field field)
{
    return letter == (unsigned)field || letter == LETTER_DIVISION + (unsigned)field;
}

/* Returns the index at which to insert a missing field: ranks, groups and banks below the row, so that rows
 * stay contiguous; columns and controllers above the offset, stacks above these and modules above stacks, so
 * that neighbouring addresses are distributed. */
static unsigned missing_place(const struct reader *reader, unsigned letter)
{
    unsigned place = 0;
    switch (letter) {
    case HOME_FIELD_R: return 0;
    case HOME_FIELD_K:
    case HOME_FIELD_G:
    case HOME_FIELD_B:
        while (place < reader->count && reader->pieces[place].letter == HOME_FIELD_R)
            place++;
        return place;
    case LETTER_OFFSET: return reader->count;
    default:
        while (place < reader->count && reader->pieces[place].letter != LETTER_OFFSET &&
               !(letter >= HOME_FIELD_S && (is_field(reader->pieces[place].letter, HOME_FIELD_H) ||
                                            is_field(reader->pieces[place].letter, HOME_FIELD_S))))
            place++;
        return place;
    }
}

/* Gives a letter `wanted` bits in total. */
static void fit_letter(struct reader *reader, unsigned letter, unsigned wanted)
{
    unsigned total = 0;
    for (unsigned i = reader->count; i-- > 0;) {
        struct piece *piece = &reader->pieces[i];
        if (piece->letter != letter)
            continue;
        piece->bits = piece->bits < wanted - total ? piece->bits : wanted - total;
        total += piece->bits;
        if (piece->bits == 0)
            remove_piece(reader, i);
    }
    if (total == wanted)
        return;
    unsigned top = 0;
    while (top < reader->count && reader->pieces[top].letter != letter)
        top++;
    if (top < reader->count) {
        reader->pieces[top].bits += wanted - total;
        return;
    }
    top = missing_place(reader, letter);
    memmove(&reader->pieces[top + 1], &reader->pieces[top], (reader->count - top) * sizeof reader->pieces[0]);
    reader->pieces[top] = (struct piece){letter, wanted};
    reader->count++;
}

/* Fits a field that may be a remainder. */
static void fit_divided(struct reader *reader, enum home_field field, uint32_t count)
{
    const unsigned division = LETTER_DIVISION + field;
    if (reader->bits[division] || is_power(count)) {
        fit_letter(reader, field, number_bits(reader, field, count));
        return;
    }
    fit_letter(reader, field, 1); /* leaves the least significant piece, which becomes the division */
    for (unsigned i = 0; i < reader->count; i++)
        if (reader->pieces[i].letter == (unsigned)field)
            reader->pieces[i].letter = division;
}

static bool write_text(const struct reader *reader, const char *from, char text[HOME_TEXT], struct error *err)
{
    char whole[HOME_TEXT] = "";
    size_t length = 0;
    for (unsigned i = 0; i < reader->count; i++) {
        const struct piece *piece = &reader->pieces[i];
        char word[16];
        if (piece->letter < LETTER_DIVISION)
            (void)snprintf(word, sizeof word, "%c%u", letters[piece->letter], piece->bits);
        else if (piece->letter == LETTER_DIVISION + HOME_FIELD_H)
            (void)snprintf(word, sizeof word, "%%");
        else
            (void)snprintf(word, sizeof word, "%%%c", letters[piece->letter - LETTER_DIVISION]);
        length += (size_t)snprintf(whole + length, HOME_TEXT - length, "%s%s", length ? " " : "", word);
        if (length >= HOME_TEXT)
            return error_set(err, "map: \"%s\" becomes too long", from);
    }
    memcpy(text, whole, sizeof whole);
    return true;
}

bool home_text_fit(const char *from, const struct home_geometry *geometry, char text[HOME_TEXT],
                   struct error *err)
{
    const struct home_geometry *g = geometry;
    struct reader reader = {.count = 0};
    struct home_bits bits;
    struct home_layout layout = {.geometry = *g};
    if (strlen(from) >= HOME_TEXT - LETTERS)
        return error_set(err, "map: \"%s\" is too long", from);
    if (g->columns == 0)
        return error_set(err, "map: a row is shorter than a burst");
    if (!read_text(&reader, from, err))
        return false;
    fit_letter(&reader, HOME_FIELD_R, log2_of(g->rows));
    fit_letter(&reader, HOME_FIELD_K, log2_of(g->ranks));
    fit_letter(&reader, HOME_FIELD_G, log2_of(g->groups));
    fit_letter(&reader, HOME_FIELD_B, log2_of(g->banks));
    fit_letter(&reader, HOME_FIELD_C, log2_of(g->columns));
    fit_letter(&reader, LETTER_OFFSET, log2_of(g->burst));
    fit_divided(&reader, HOME_FIELD_H, g->controllers);
    fit_divided(&reader, HOME_FIELD_S, g->stacks);
    fit_divided(&reader, HOME_FIELD_M, g->modules);
    if (!write_text(&reader, from, layout.text, err))
        return false;
    memcpy(text, layout.text, HOME_TEXT);
    return home_bits_init(&bits, &layout, err);
}

/* Returns whether the stack depends on the piece: S, M, a division, whose quotient includes all bits above, and with
 * stack_hash R. */
static bool is_outer(const struct reader *reader, const struct piece *piece)
{
    return (reader->stack_hash && piece->letter == HOME_FIELD_R) || piece->letter == HOME_FIELD_S ||
           piece->letter == HOME_FIELD_M || piece->letter >= LETTER_DIVISION;
}

static unsigned bits_of(const struct piece *piece)
{
    return piece->letter < LETTER_DIVISION ? piece->bits : 0;
}

/* Returns the number of bits below the lowest piece on which the stack depends. */
static unsigned bits_below(const struct reader *reader)
{
    unsigned below = 0;
    for (unsigned i = reader->count; i-- > 0; below += bits_of(&reader->pieces[i]))
        if (is_outer(reader, &reader->pieces[i]))
            return below;
    return UINT_MAX;
}

/* Moves bits of the nearest other piece above the lowest outer piece to below it, until there are `wanted`
 * bits. Returns false if only outer pieces are above. */
static bool raise_lowest(struct reader *reader, unsigned wanted)
{
    unsigned low = reader->count, missing = wanted - bits_below(reader);
    while (!is_outer(reader, &reader->pieces[--low])) {
    }
    unsigned other = low;
    while (other > 0 && is_outer(reader, &reader->pieces[other]))
        other--;
    if (is_outer(reader, &reader->pieces[other]))
        return false;
    struct piece taken = reader->pieces[other];
    taken.bits = taken.bits < missing ? taken.bits : missing;
    memmove(&reader->pieces[low + 2], &reader->pieces[low + 1],
            (reader->count - low - 1) * sizeof reader->pieces[0]);
    reader->pieces[low + 1] = taken;
    reader->count++;
    reader->pieces[other].bits -= taken.bits;
    if (reader->pieces[other].bits == 0)
        remove_piece(reader, other);
    return true;
}

bool home_text_raise(const char *from, uint32_t bytes, bool stack_hash, char text[HOME_TEXT],
                     struct error *err)
{
    struct reader reader = {.stack_hash = stack_hash};
    if (!read_text(&reader, from, err))
        return false;
    while (bits_below(&reader) < log2_of(bytes) && reader.count < HOME_TEXT - 1 &&
           raise_lowest(&reader, log2_of(bytes))) {
    }
    return write_text(&reader, from, text, err);
}

/* Takes all pieces of the stack out. Returns their bits. */
static unsigned take_stack(struct reader *reader)
{
    unsigned bits = 0;
    for (unsigned i = reader->count; i-- > 0;)
        if (reader->pieces[i].letter == HOME_FIELD_S) {
            bits += reader->pieces[i].bits;
            remove_piece(reader, i);
        }
    return bits;
}

/* Inserts a piece so that its lowest bit is `bit`, and divides the piece that is there. Returns false if that is O's, or if
 * there is no such bit. */
static bool insert_at(struct reader *reader, struct piece piece, unsigned bit)
{
    unsigned at = reader->count, below = 0;
    while (at > 0 && below < bit)
        below += reader->pieces[--at].bits;
    if (at == reader->count || below < bit || (below > bit && reader->pieces[at].letter == LETTER_OFFSET))
        return false;
    struct piece upper = reader->pieces[at];
    const unsigned insert = below > bit ? 2 : 1;
    memmove(&reader->pieces[at + insert], &reader->pieces[at],
            (reader->count - at) * sizeof reader->pieces[0]);
    reader->count += insert;
    if (insert == 2) {
        upper.bits = below - bit;
        reader->pieces[at] = upper;
        reader->pieces[at + 2].bits -= upper.bits;
    }
    reader->pieces[at + insert - 1] = piece;
    return true;
}

bool home_text_stack_at(const char *from, uint32_t bit, char text[HOME_TEXT], struct error *err)
{
    struct reader reader = {.count = 0};
    if (!read_text(&reader, from, err))
        return false;
    for (unsigned i = 0; i < reader.count; i++)
        if (reader.pieces[i].letter >= LETTER_DIVISION)
            return error_set(err, "map: \"%s\" has a division (%%), so the stack's bits cannot move", from);
    const struct piece stack = {HOME_FIELD_S, take_stack(&reader)};
    if (!stack.bits)
        return error_set(err, "map: \"%s\" has no bits of S", from);
    if (!insert_at(&reader, stack, bit))
        return error_set(err, "map: \"%s\": S cannot begin at bit %" PRIu32, from, bit);
    return write_text(&reader, from, text, err);
}

uint64_t home_text_span(const char *text, bool stack_hash)
{
    struct reader reader = {.stack_hash = stack_hash};
    struct error ignored;
    if (!read_text(&reader, text, &ignored))
        return 0;
    unsigned below = bits_below(&reader);
    return below < 64 ? UINT64_C(1) << below : UINT64_MAX;
}

/* Returns the bit of its word at which a field begins. */
static unsigned place_of(enum home_field field, const struct home_geometry *g)
{
    switch (field) {
    case HOME_FIELD_R: return 0;
    case HOME_FIELD_C: return 32;
    case HOME_FIELD_M: return 0;
    case HOME_FIELD_S: return 16;
    case HOME_FIELD_H: return 32;
    case HOME_FIELD_B: return 48;
    case HOME_FIELD_G: return 48 + log2_of(g->banks);
    case HOME_FIELD_K: return 48 + log2_of(g->banks) + log2_of(g->groups);
    case HOME_FIELDS: break;
    }
    return 0;
}

static bool is_second(unsigned field)
{
    return field == HOME_FIELD_R || field == HOME_FIELD_C;
}

static uint32_t count_of(enum home_field field, const struct home_geometry *g)
{
    return field == HOME_FIELD_H ? g->controllers : field == HOME_FIELD_S ? g->stacks : g->modules;
}

/* Adds bits of a number, from bit `from` on, to a word, from bit `to` on. */
static void add_piece(struct home_word *word, unsigned number, unsigned from, unsigned to, unsigned bits)
{
    const struct home_piece piece = {.mask = ((UINT64_C(1) << bits) - 1) << to,
                                     .number = (uint8_t)number,
                                     .rotate = (uint8_t)((from - to) % 64)};
    for (uint32_t i = 0; i < word->count; i++) {
        struct home_piece *other = &word->pieces[i];
        if (other->number == piece.number && other->rotate == piece.rotate) {
            other->mask |= piece.mask;
            return;
        }
    }
    word->pieces[word->count++] = piece;
}

/* Cuts the pieces from the least significant one up, and notes the divisions. */
static void compile(struct home_bits *bits, const struct reader *reader, const struct home_geometry *g)
{
    unsigned used[HOME_FIELDS] = {0}, from = bits->offset_bits;
    for (unsigned i = reader->count - 1; i-- > 0;) {
        struct piece piece = reader->pieces[i];
        if (piece.letter >= LETTER_DIVISION) {
            enum home_field field = (enum home_field)(piece.letter - LETTER_DIVISION);
            bits->divisions[bits->division_count++] =
                (struct home_division){count_of(field, g), (uint8_t)from, (uint8_t)place_of(field, g)};
            from = 0;
            continue;
        }
        enum home_field field = (enum home_field)piece.letter;
        add_piece(is_second(field) ? &bits->second : &bits->first, bits->division_count, from,
                  place_of(field, g) + used[field], piece.bits);
        used[field] += piece.bits;
        from += piece.bits;
    }
}

bool home_bits_init(struct home_bits *bits, const struct home_layout *layout, struct error *err)
{
    const struct home_geometry *g = &layout->geometry;
    struct reader reader = {.count = 0};
    uint64_t bytes = 0;
    if (!check_geometry(layout, &bytes, err) || !read_text(&reader, layout->text, err) ||
        !check_bits(&reader, layout, err) ||
        !check_hash(layout->controller_hash, "channel_hash", "channels", g->controllers, err) ||
        !check_hash(layout->stack_hash, "stack_hash", "stacks", g->stacks, err))
        return false;
    *bits = (struct home_bits){.offset_bits = log2_of(g->burst),
                               .row_bits = log2_of(g->rows),
                               .bank_bits = log2_of(g->groups) + log2_of(g->banks),
                               .controller_bits = is_power(g->controllers) ? log2_of(g->controllers) : 0,
                               .stack_bits = is_power(g->stacks) ? log2_of(g->stacks) : 0,
                               .hashed = layout->stack_hash || layout->controller_hash || layout->bank_hash,
                               .stack_hash = layout->stack_hash,
                               .controller_hash = layout->controller_hash,
                               .bank_hash = layout->bank_hash,
                               .origin = layout->module | (uint64_t)layout->stack << 16 |
                                         (uint64_t)layout->controller << 32,
                               .bytes = bytes};
    compile(bits, &reader, g);
    return true;
}

/* Returns the row folded by XOR to `width` bits. The number of iterations does not depend on the row, so that
 * the host predicts the last one. */
static inline uint64_t folded(const struct home_bits *bits, uint64_t row, uint32_t width)
{
    uint64_t fold = 0;
    for (uint32_t at = 0; width && at < bits->row_bits; at += width)
        fold ^= row >> at;
    return fold & ((UINT64_C(1) << width) - 1);
}

/* Returns the bits of the first word that hashing flips. Flipping them twice restores the word. */
static inline uint64_t hash(const struct home_bits *bits, uint32_t row)
{
    uint64_t flips = 0;
    if (bits->stack_hash)
        flips |= folded(bits, row, bits->stack_bits) << 16;
    if (bits->controller_hash)
        flips |= folded(bits, row, bits->controller_bits) << 32;
    if (bits->bank_hash)
        flips |= folded(bits, row, bits->bank_bits) << 48;
    return flips;
}

static inline uint64_t cut(const struct home_piece *piece, const uint64_t *numbers)
{
    const uint64_t number = numbers[piece->number];
    return (number >> piece->rotate | number << (-piece->rotate & 63)) & piece->mask;
}

/* Most words have at most two pieces, so these are cut without testing the number of pieces. */
static inline uint64_t cut_word(const struct home_word *word, const uint64_t *numbers)
{
    uint64_t bits = cut(&word->pieces[0], numbers) | cut(&word->pieces[1], numbers);
    for (uint32_t i = 2; i < word->count; i++)
        bits |= cut(&word->pieces[i], numbers);
    return bits;
}

/* Stores the quotients after numbers[0]. Returns the remainders, at their bits of the first word. */
static uint64_t divide(const struct home_bits *bits, uint64_t *numbers)
{
    uint64_t first = 0;
    for (uint32_t i = 0; i < bits->division_count; i++) {
        const struct home_division *division = &bits->divisions[i];
        const uint64_t number = numbers[i] >> division->shift;
        const uint64_t quotient =
            number <= UINT32_MAX ? (uint32_t)number / division->divisor : number / division->divisor;
        first |= (number - quotient * division->divisor) << division->to;
        numbers[i + 1] = quotient;
    }
    return first;
}

void home_bits_place(const struct home_bits *bits, uint64_t number, struct home *home)
{
    uint64_t numbers[HOME_DIVISIONS + 1], first = 0, second;
    numbers[0] = number;
    if (bits->division_count)
        first = divide(bits, numbers);
    first |= cut_word(&bits->first, numbers);
    second = cut_word(&bits->second, numbers);
    if (bits->hashed)
        first ^= hash(bits, (uint32_t)second);
    first += bits->origin;
    home->module = (uint16_t)first;
    home->stack = (uint16_t)(first >> 16);
    home->controller = (uint16_t)(first >> 32);
    home->bank = (uint16_t)(first >> 48);
    home->row = (uint32_t)second;
    home->column = (uint32_t)(second >> 32);
}

/* The inverse of cut(). */
static void uncut(const struct home_word *word, uint64_t bits, uint64_t *numbers)
{
    for (uint32_t i = 0; i < word->count; i++) {
        const struct home_piece *piece = &word->pieces[i];
        const uint64_t cut = bits & piece->mask;
        numbers[piece->number] |= cut << piece->rotate | cut >> (-piece->rotate & 63);
    }
}

uint64_t home_bits_number(const struct home_bits *bits, const struct home *home)
{
    uint64_t numbers[HOME_DIVISIONS + 1] = {0}, second = home->row | (uint64_t)home->column << 32;
    uint64_t first = home->module | (uint64_t)home->stack << 16 | (uint64_t)home->controller << 32 |
                     (uint64_t)home->bank << 48;
    first = (first - bits->origin) ^ hash(bits, home->row);
    uncut(&bits->first, first, numbers);
    uncut(&bits->second, second, numbers);
    for (uint32_t i = bits->division_count; i-- > 0;) {
        const struct home_division *division = &bits->divisions[i];
        numbers[i] |= (numbers[i + 1] * division->divisor + (first >> division->to & UINT16_MAX))
                      << division->shift;
    }
    return numbers[0];
}
