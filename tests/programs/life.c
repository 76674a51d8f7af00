/* Conway's Game of Life on a torus: a glider gun, an acorn and random soup, with population and hash. */
#include <stdint.h>
#include <stdio.h>
#include <string.h>

enum { WIDTH = 64, HEIGHT = 40 };

struct board {
    uint8_t cell[HEIGHT][WIDTH];
};

static void board_step(struct board *next, const struct board *now)
{
    for (int y = 0; y < HEIGHT; y++)
        for (int x = 0; x < WIDTH; x++) {
            int neighbours = -now->cell[y][x];
            for (int dy = HEIGHT - 1; dy <= HEIGHT + 1; dy++)
                for (int dx = WIDTH - 1; dx <= WIDTH + 1; dx++)
                    neighbours += now->cell[(y + dy) % HEIGHT][(x + dx) % WIDTH];
            next->cell[y][x] = neighbours == 3 || (neighbours == 2 && now->cell[y][x]);
        }
}

/* The same step on rows of 64 bits: adds the eight neighbours bit by bit. */
static void bits_step(uint64_t *next, const uint64_t *now)
{
    for (int y = 0; y < HEIGHT; y++) {
        uint64_t ones = 0, twos = 0, fours = 0;
        for (int dy = HEIGHT - 1; dy <= HEIGHT + 1; dy++) {
            uint64_t row = now[(y + dy) % HEIGHT];
            uint64_t parts[3] = {row << 1 | row >> 63, row >> 1 | row << 63, dy == HEIGHT ? 0 : row};
            for (int i = 0; i < 3; i++) {
                uint64_t carry = ones & parts[i];
                ones ^= parts[i];
                fours |= twos & carry;
                twos ^= carry;
            }
        }
        next[y] = ~fours & twos & (ones | now[y]);
    }
}

static uint64_t board_row(const struct board *board, int y)
{
    uint64_t row = 0;
    for (int x = 0; x < WIDTH; x++)
        row |= (uint64_t)board->cell[y][x] << x;
    return row;
}

static void board_print(const struct board *board, int from, int to)
{
    for (int y = from; y < to; y++) {
        for (int x = 0; x < WIDTH; x++)
            putchar(board->cell[y][x] ? '#' : '.');
        putchar('\n');
    }
}

static void board_place(struct board *board, const char *const *rows, int y)
{
    memset(board, 0, sizeof *board);
    for (; *rows; rows++, y++)
        for (int x = 0; (*rows)[x]; x++)
            board->cell[y][x + 10] = (*rows)[x] == 'O';
}

static void run(const char *name, struct board board, int generations)
{
    uint64_t rows[HEIGHT], next_rows[HEIGHT];
    for (int y = 0; y < HEIGHT; y++)
        rows[y] = board_row(&board, y);
    printf("%s\n", name);
    for (int generation = 0; generation <= generations; generation++) {
        int population = 0, differing = 0;
        uint64_t hash = 0;
        for (int y = 0; y < HEIGHT; y++) {
            uint64_t row = board_row(&board, y);
            population += __builtin_popcountll(row);
            differing += row != rows[y];
            hash = hash * 0x100000001b3 ^ row;
        }
        if (generation % 20 == 0 || differing)
            printf("%d: %d alive, hash %016llx, differing rows %d\n", generation, population,
                   (unsigned long long)hash, differing);
        struct board next;
        board_step(&next, &board);
        board = next;
        bits_step(next_rows, rows);
        memcpy(rows, next_rows, sizeof rows);
    }
    board_print(&board, 0, 12);
}

int main(void)
{
    static const char *const gun[] = {"........................O",
                                      "......................O.O",
                                      "............OO......OO............OO",
                                      "...........O...O....OO............OO",
                                      "OO........O.....O...OO",
                                      "OO........O...O.OO....O.O",
                                      "..........O.....O.......O",
                                      "...........O...O",
                                      "............OO",
                                      NULL};
    static const char *const acorn[] = {".O", "...O", "OO..OOO", NULL};
    struct board board;
    board_place(&board, gun, 1);
    run("gun", board, 120);
    board_place(&board, acorn, 18);
    run("acorn", board, 200);
    uint32_t seed = 12345;
    for (int y = 0; y < HEIGHT; y++)
        for (int x = 0; x < WIDTH; x++) {
            seed = seed * 1103515245u + 12345u;
            board.cell[y][x] = seed >> 30 == 0;
        }
    run("soup", board, 200);
    return 0;
}
