/* The parts of SURF (Bay et al., 2006) that find points of interest: the integral image, by rows and then by columns, and the
 * determinants of Hessians, by box filters of 9 by 9 pixels. The image is generated; the arguments are its columns and rows. */
#include "config.h"

enum { STRIP = 32, CHUNK = 32, SIDE = 16, REACH = 5, HALO = SIDE + 2 * REACH - 1, MOST_COLUMNS = 1024 };
enum { HALO_ROOM = (HALO * HALO * 4 + 63) / 64 * 64 };

struct surf {
    uint8_t *image;      /* [rows][columns] */
    int32_t *integral;   /* [rows][stride]: sums of all pixels above and left, inclusive */
    float *determinants; /* [down * SIDE][across * SIDE], of the pixels from (REACH, REACH) on */
    uint32_t columns, rows, stride, across, down;
    int32_t *scans;                                       /* of each row, for configuration Cache */
    struct croft_stash_map *row_maps, *chunk_maps, *maps; /* of each block */
};

/* Row `row` of the image, four pixels an object, and of the integral image. */
CONFIG_INLINE struct tile pixels_tile(const struct surf *p, uint32_t row)
{
    return (struct tile){
        .global = p->image + row * p->columns, .objects = p->columns / 4, .object_size = 4, .rows = 1};
}

CONFIG_INLINE struct tile sums_tile(const struct surf *p, uint32_t row)
{
    return (struct tile){.global = p->integral + row * p->stride,
                         .local = 3 * MOST_COLUMNS,
                         .objects = p->columns,
                         .object_size = 4,
                         .rows = 1};
}

/* A thread has four pixels. The sums of the threads before are found by doubling the distance (Hillis and Steele). */
CONFIG_INLINE void surf_rows(const struct surf *p, enum config config)
{
    const uint32_t t = thread_x(), threads = p->columns / 4, row = block_x();
    const struct team team = team_of(t, threads);
    const struct croft_stash_map *maps = p->row_maps + 2 * row;
    const struct tile out = sums_tile(p, row);
    const struct view pixels = view_open(config, LOCAL, READ, pixels_tile(p, row), maps, team);
    const struct view sums = view_open(config, GLOBAL, WRITE, out, maps + 1, team);
    int32_t *now = config_temporary(config, MOST_COLUMNS, p->scans + row * p->columns);
    int32_t *next = now + threads, sum[4], before = 0;
    for (uint32_t i = 0; i < 4; i++)
        sum[i] = before += *((uint8_t *)&VIEW(view_word, pixels, 0, t) + i);
    now[t] = before;
    for (uint32_t distance = 1; distance < threads; distance *= 2) {
        simt_barrier();
        next[t] = now[t] + (t >= distance ? now[t - distance] : 0);
        int32_t *swap = now;
        now = next;
        next = swap;
    }
    before = now[t] - before;
    for (uint32_t i = 0; i < 4; i++)
        VIEW(int32_t, sums, 0, 4 * t + i) = sum[i] + before;
    view_barrier(config, GLOBAL);
    view_close(config, GLOBAL, out, maps + 1, team);
}
CONFIG_KERNELS(surf_rows, const struct surf, surf_rows)

/* Thread t sums column t of a strip, in chunks of rows. */
CONFIG_INLINE struct tile chunk_tile(const struct surf *p, uint32_t strip, uint32_t chunk)
{
    return (struct tile){.global = p->integral + chunk * CHUNK * p->stride + strip * STRIP,
                         .objects = STRIP,
                         .object_size = 4,
                         .rows = CHUNK,
                         .stride_size = p->stride * 4};
}

CONFIG_INLINE void surf_columns(const struct surf *p, enum config config)
{
    const uint32_t t = thread_x(), strip = block_x(), chunks = p->rows / CHUNK;
    const struct team team = team_of(t, STRIP);
    const struct croft_stash_map *maps = p->chunk_maps + strip * chunks;
    struct view chunk = view_open(config, GLOBAL, READ_WRITE, chunk_tile(p, strip, 0), maps, team);
    int32_t sum = 0;
    for (uint32_t i = 0;;) {
        struct view pixel = view_at(chunk, 0, t);
#pragma GCC unroll 8
        for (uint32_t row = 0; row < CHUNK; row++, pixel = view_below(pixel))
            VIEW(int32_t, pixel, 0, 0) = sum += VIEW(int32_t, pixel, 0, 0);
        view_close(config, GLOBAL, chunk_tile(p, strip, i), maps + i, team);
        if (++i == chunks)
            break;
        chunk = view_next(config, GLOBAL, READ_WRITE, chunk_tile(p, strip, i), maps + i, 0, team);
    }
}
CONFIG_KERNELS(surf_columns, const struct surf, surf_columns)

CONFIG_INLINE struct tile halo_tile(const struct surf *p, uint32_t y, uint32_t x)
{
    return (struct tile){.global = p->integral + y * SIDE * p->stride + x * SIDE,
                         .objects = HALO,
                         .object_size = 4,
                         .rows = HALO,
                         .stride_size = p->stride * 4};
}

CONFIG_INLINE struct tile out_tile(const struct surf *p, uint32_t y, uint32_t x)
{
    return (struct tile){.global = p->determinants + (y * SIDE * p->across + x) * SIDE,
                         .local = HALO_ROOM,
                         .objects = SIDE,
                         .object_size = 4,
                         .rows = SIDE,
                         .stride_size = p->across * SIDE * 4};
}

/* Returns the sum of the pixels `up` rows above to `down` rows below, and `left` columns left to `right` columns right of the pixel
 * that the view begins with. */
CONFIG_INLINE int32_t box(struct view sums, int up, int down, int left, int right)
{
    const int top = -up - 1, first = -left - 1;
    return VIEW(int32_t, sums, down, right) - VIEW(int32_t, sums, top, right) -
           VIEW(int32_t, sums, down, first) + VIEW(int32_t, sums, top, first);
}

/* The filters' sums are below 2^24. */
static float determinant(int32_t xx, int32_t yy, int32_t xy)
{
    const float area = 1.0f / 81, weighted = 0.9f * ((float)xy * area);
    return (float)xx * area * ((float)yy * area) - weighted * weighted;
}

CONFIG_INLINE void surf_hessian(const struct surf *p, enum config config)
{
    const uint32_t x = thread_x(), y = thread_y();
    const struct team team = team_of(y * SIDE + x, SIDE * SIDE);
    const struct croft_stash_map *maps = p->maps + 2 * (block_y() * p->across + block_x());
    const struct tile place = out_tile(p, block_y(), block_x());
    const struct view halo = view_open(config, LOCAL, READ, halo_tile(p, block_y(), block_x()), maps, team);
    const struct view out = view_open(config, GLOBAL, WRITE, place, maps + 1, team);
    view_barrier(config, LOCAL);
    const struct view s = view_at(halo, y + REACH, x + REACH);
    const int32_t xx = box(s, 2, 2, 4, 4) - 3 * box(s, 2, 2, 1, 1);
    const int32_t yy = box(s, 4, 4, 2, 2) - 3 * box(s, 1, 1, 2, 2);
    const int32_t xy =
        box(s, 3, -1, -1, 3) + box(s, -1, 3, 3, -1) - box(s, 3, -1, 3, -1) - box(s, -1, 3, -1, 3);
    VIEW(float, out, y, x) = determinant(xx, yy, xy);
    view_close(config, GLOBAL, place, maps + 1, team);
}
CONFIG_KERNELS(surf_hessian, const struct surf, surf_hessian)

/* The same by the filters' weights, pixel by pixel. */
static float determinant_scalar(const struct surf *p, uint32_t y, uint32_t x)
{
    int32_t xx = 0, yy = 0, xy = 0;
    for (int dy = -4; dy <= 4; dy++)
        for (int dx = -4; dx <= 4; dx++) {
            const int32_t pixel = p->image[(y + (uint32_t)dy) * p->columns + x + (uint32_t)dx];
            if (abs(dy) <= 2)
                xx += pixel * (abs(dx) <= 1 ? -2 : 1);
            if (abs(dx) <= 2)
                yy += pixel * (abs(dy) <= 1 ? -2 : 1);
            if (dx != 0 && dy != 0 && abs(dx) <= 3 && abs(dy) <= 3)
                xy += pixel * ((dx > 0) == (dy < 0) ? 1 : -1);
        }
    return determinant(xx, yy, xy);
}

static void make_maps(struct surf *p)
{
    const uint32_t strips = p->stride / STRIP, chunks = p->rows / CHUNK;
    p->row_maps = kernel_array(2 * p->rows, sizeof *p->row_maps);
    p->chunk_maps = kernel_array(strips * chunks, sizeof *p->chunk_maps);
    p->maps = kernel_array(2 * p->across * p->down, sizeof *p->maps);
    for (uint32_t row = 0; row < p->rows; row++) {
        p->row_maps[2 * row] = tile_map(pixels_tile(p, row));
        p->row_maps[2 * row + 1] = tile_map(sums_tile(p, row));
    }
    for (uint32_t i = 0; i < strips * chunks; i++)
        p->chunk_maps[i] = tile_map(chunk_tile(p, i / chunks, i % chunks));
    for (uint32_t i = 0; i < p->across * p->down; i++) {
        p->maps[2 * i] = tile_map(halo_tile(p, i / p->across, i % p->across));
        p->maps[2 * i + 1] = tile_map(out_tile(p, i / p->across, i % p->across));
    }
}

/* Discs of random brightness on a ramp, with noise. */
static void draw(const struct surf *p)
{
    uint64_t state = 66;
    for (uint32_t i = 0; i < p->rows * p->columns; i++)
        p->image[i] = (uint8_t)(i % p->columns / 4 + kernel_random(&state) % 16);
    for (int disc = 0; disc < 40; disc++) {
        const long cx = kernel_random(&state) % p->columns, cy = kernel_random(&state) % p->rows;
        const long radius = 2 + kernel_random(&state) % 12, light = kernel_random(&state) % 256;
        for (long y = cy - radius; y <= cy + radius; y++)
            for (long x = cx - radius; x <= cx + radius; x++)
                if (x >= 0 && y >= 0 && x < p->columns && y < p->rows &&
                    (x - cx) * (x - cx) + (y - cy) * (y - cy) <= radius * radius)
                    p->image[y * p->columns + x] = (uint8_t)light;
    }
}

static int is_correct(const struct surf *p)
{
    for (uint32_t y = 0; y < p->down * SIDE; y++)
        for (uint32_t x = 0; x < p->across * SIDE; x++)
            if (p->determinants[y * p->across * SIDE + x] != determinant_scalar(p, y + REACH, x + REACH))
                return 0;
    return 1;
}

int main(int argc, char **argv)
{
    static const struct kernel_argument arguments[] = {{"COLUMNS", 264, 32, MOST_COLUMNS},
                                                       {"ROWS", 256, 32, 1024}};
    const enum config config = config_argument(&argc, &argv);
    long sizes[2];
    kernel_arguments(argc, argv, arguments, 2, sizes);
    config_multiple(sizes[0], 4);
    config_multiple(sizes[1], CHUNK);
    struct surf p = {.columns = (uint32_t)sizes[0], .rows = (uint32_t)sizes[1]};
    p.stride = (p.columns + STRIP - 1) / STRIP * STRIP;
    p.across = (p.columns - 2 * REACH + 1) / SIDE;
    p.down = (p.rows - 2 * REACH + 1) / SIDE;
    p.image = kernel_array(p.columns, p.rows);
    p.integral = kernel_array((long)p.stride * p.rows, 4);
    p.determinants = kernel_array((long)p.across * p.down * SIDE * SIDE, 4);
    p.scans = kernel_array((long)p.columns * p.rows, 4);
    draw(&p);
    make_maps(&p);
    const int local = config == SCRATCH || config == STASH;
    croft_roi_begin("surf");
    surf_rows_run(config, &p, simt_dim(p.rows), simt_dim(p.columns / 4),
                  3 * MOST_COLUMNS + (local ? 0 : p.columns * 4));
    surf_columns_run(config, &p, simt_dim(p.stride / STRIP), simt_dim(STRIP), local ? 0 : STRIP * CHUNK * 4);
    surf_hessian_run(config, &p, simt_dim(p.across, p.down), simt_dim(SIDE, SIDE),
                     HALO_ROOM + (local ? 0 : SIDE * SIDE * 4));
    croft_roi_end("surf");
    return kernel_report("surf", (long)p.columns * p.rows, p.determinants,
                         (size_t)p.across * p.down * SIDE * SIDE * 4, is_correct(&p));
}
