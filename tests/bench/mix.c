/* Integer mix in the manner of CoreMark, written afresh: linked list, matrix, state machine, CRC. */
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>

enum { NODES = 240, SIDE = 18, TEXT = 700 };

struct node {
    struct node *next;
    int16_t key, value;
};

static struct node nodes[NODES];
static int16_t a[SIDE][SIDE], b[SIDE][SIDE];
static int32_t c[SIDE][SIDE];
static char text[TEXT + 1];

static uint16_t crc16(uint32_t value, uint16_t crc)
{
    for (int i = 0; i < 32; i++) {
        uint32_t carry = (value ^ crc) & 1;
        crc = (uint16_t)(crc >> 1 ^ (carry ? 0xa001 : 0));
        value >>= 1;
    }
    return crc;
}

static struct node *list_reverse(struct node *list)
{
    struct node *reversed = NULL;
    while (list) {
        struct node *next = list->next;
        list->next = reversed;
        reversed = list;
        list = next;
    }
    return reversed;
}

/* Merge sort of a list, by key or by value. */
static struct node *list_merge(struct node *x, struct node *y, int by_key)
{
    struct node *merged = NULL, **tail = &merged;
    while (x && y) {
        int first = by_key ? x->key <= y->key : x->value <= y->value;
        struct node **from = first ? &x : &y;
        *tail = *from;
        tail = &(*tail)->next;
        *from = *tail;
    }
    *tail = x ? x : y;
    return merged;
}

static struct node *list_sort(struct node *list, int by_key)
{
    if (!list || !list->next)
        return list;
    struct node *slow = list, *fast = list->next;
    while (fast && fast->next) {
        slow = slow->next;
        fast = fast->next->next;
    }
    struct node *second = slow->next;
    slow->next = NULL;
    return list_merge(list_sort(list, by_key), list_sort(second, by_key), by_key);
}

static uint16_t list_round(uint16_t crc, int round)
{
    struct node *list = NULL;
    for (int i = 0; i < NODES; i++) {
        nodes[i] = (struct node){list, (int16_t)((i * 7919 + round) % 1009), (int16_t)(i ^ round)};
        list = &nodes[i];
    }
    list = list_reverse(list_sort(list, 1));
    int found = 0;
    for (int key = 0; key < 40; key++) {
        struct node *at = list;
        while (at && at->key != key * 25)
            at = at->next;
        found += at ? at->value : 1;
    }
    list = list_sort(list, 0);
    return crc16((uint32_t)found ^ (uint32_t)list->key, crc);
}

static uint16_t matrix_round(uint16_t crc, int round)
{
    int32_t sum = 0;
    for (int i = 0; i < SIDE; i++)
        for (int j = 0; j < SIDE; j++) {
            a[i][j] = (int16_t)(i * j + round);
            b[i][j] = (int16_t)(i - j * round);
        }
    for (int i = 0; i < SIDE; i++)
        for (int j = 0; j < SIDE; j++) {
            uint32_t total = 0;
            for (int k = 0; k < SIDE; k++)
                total += (uint32_t)(a[i][k] * b[k][j]);
            c[i][j] = (int32_t)total;
            sum += c[i][j] > 1000 ? 10 : (c[i][j] >> 2 & 15) * (c[i][j] >> 5 & 127);
        }
    return crc16((uint32_t)sum, crc);
}

enum state { START, INTEGER, FRACTION, EXPONENT, WORD, INVALID, STATES };

static enum state state_next(enum state state, char symbol)
{
    int digit = symbol >= '0' && symbol <= '9';
    switch (state) {
    case START:
        return digit || symbol == '-' ? INTEGER : symbol == '.' ? FRACTION : symbol >= 'a' ? WORD : INVALID;
    case INTEGER: return digit ? INTEGER : symbol == '.' ? FRACTION : symbol == 'e' ? EXPONENT : INVALID;
    case FRACTION: return digit ? FRACTION : symbol == 'e' ? EXPONENT : INVALID;
    case EXPONENT: return digit || symbol == '-' ? EXPONENT : INVALID;
    case WORD: return symbol >= 'a' ? WORD : INVALID;
    default: return INVALID;
    }
}

static uint16_t state_round(uint16_t crc, int round)
{
    static const char *const fields[] = {"5012", "1.23e4", "-87.1", "vault", "3e-7", "x9y", "0.5", "+13"};
    uint32_t counts[STATES] = {0}, seed = (uint32_t)round;
    int length = 0;
    while (length < TEXT - 8) {
        seed = seed * 1664525u + 1013904223u;
        for (const char *from = fields[seed >> 29]; *from; from++)
            text[length++] = *from;
        text[length++] = ',';
    }
    text[length] = 0;
    enum state state = START;
    for (const char *at = text; *at; at++) {
        if (*at == ',') {
            counts[state]++;
            state = START;
        } else {
            state = state_next(state, *at);
        }
    }
    for (int i = 0; i < STATES; i++)
        crc = crc16(counts[i], crc);
    return crc;
}

int main(int argc, char **argv)
{
    int rounds = argc > 1 ? atoi(argv[1]) : 10000;
    uint16_t crc = 0xffff;
    for (int round = 0; round < rounds; round++) {
        crc = list_round(crc, round);
        crc = matrix_round(crc, round & 255);
        crc = state_round(crc, round);
    }
    printf("mix %d rounds, crc %04x\n", rounds, (unsigned)crc);
    return 0;
}
