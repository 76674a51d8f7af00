/* A sudoku solver by constraint masks and backtracking, on puzzles of rising difficulty. */
#include <stdio.h>
#include <string.h>

struct grid {
    int cell[81];
    unsigned rows[9], columns[9], boxes[9]; /* digits already used, bit d for digit d + 1 */
    unsigned long guesses;
};

static int box_of(int at)
{
    return at / 27 * 3 + at % 9 / 3;
}

static unsigned grid_free(const struct grid *grid, int at)
{
    return 0x1ff & ~(grid->rows[at / 9] | grid->columns[at % 9] | grid->boxes[box_of(at)]);
}

static void grid_flip(struct grid *grid, int at, unsigned bit)
{
    grid->rows[at / 9] ^= bit, grid->columns[at % 9] ^= bit, grid->boxes[box_of(at)] ^= bit;
}

static int solve(struct grid *grid)
{
    int best = -1, fewest = 10;
    for (int at = 0; at < 81; at++) {
        int count = __builtin_popcount(grid_free(grid, at));
        if (grid->cell[at] == 0 && count < fewest)
            best = at, fewest = count;
    }
    if (best < 0)
        return 1;
    for (unsigned free = grid_free(grid, best); free; free &= free - 1) {
        unsigned bit = free & -free;
        grid->guesses++;
        grid->cell[best] = __builtin_ctz(bit) + 1;
        grid_flip(grid, best, bit);
        if (solve(grid))
            return 1;
        grid_flip(grid, best, bit);
    }
    grid->cell[best] = 0;
    return 0;
}

static void solve_text(const char *text)
{
    struct grid grid;
    memset(&grid, 0, sizeof grid);
    for (int at = 0; at < 81; at++)
        if (text[at] != '.') {
            grid.cell[at] = text[at] - '0';
            grid_flip(&grid, at, 1u << (grid.cell[at] - 1));
        }
    int solved = solve(&grid);
    printf("%s, %lu guesses\n", solved ? "solved" : "no solution", grid.guesses);
    for (int at = 0; at < 81; at++)
        printf("%d%s", grid.cell[at], at % 9 == 8 ? "\n" : at % 3 == 2 ? " " : "");
}

/* A full grid by shifting a row, with cells blanked by a generator: many puzzles with a known solution. */
static void solve_generated(unsigned seed, int blanks)
{
    char text[82];
    for (int at = 0; at < 81; at++)
        text[at] = (char)('1' + (at / 9 * 3 + at / 27 + at % 9 + (int)seed) % 9);
    text[81] = 0;
    unsigned state = seed;
    for (int i = 0; i < blanks; i++) {
        state = state * 1103515245u + 12345u;
        text[(state >> 16) % 81] = '.';
    }
    printf("puzzle %u: %s\n", seed, text);
    solve_text(text);
}

int main(void)
{
    solve_text(".................................................................................");
    solve_text("12345678.........9...............................................................");
    for (unsigned seed = 1; seed <= 12; seed++)
        solve_generated(seed, (int)seed * 15);
    return 0;
}
