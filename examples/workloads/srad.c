/* SRAD, speckle reducing anisotropic diffusion (Yu and Acton 2002), with the structure of Rodinia's first version: threads in one
 * dimension over an image in columns; the indices of neighbouring rows and columns are in memory, and so are the differences
 * to neighbours between the two kernels of a round. The image's mean and variance come from sums in trees, one launch a level. */
#include "../simt/kernel.h"

enum { BLOCK = 256 };

static const float rate = 0.5F;

struct srad {
    long rows, columns;
    float *image;             /* [column][row] */
    float *difference[4];     /* to the pixels above, below, left and right */
    float *diffuse;           /* diffusion coefficient of each pixel, 0 to 1 */
    float *sums, *squares;    /* the image and its squares, to be added up */
    const int *above, *below; /* rows beside each row, the row itself at the edge */
    const int *left, *right;  /* columns beside each column */
    float speckle;            /* variance / mean^2; q0^2 in the paper */
};

struct sum {
    const float *in[2];
    float *out[2]; /* one for each block */
    long count;
};

/* The kernels copy their arguments first, as a GPU's kernels have them in constant memory. */
static void prepare(const struct srad *argument)
{
    const struct srad s = *argument;
    long i = (long)thread_id();
    if (i >= s.rows * s.columns)
        return;
    float value = s.image[i];
    s.sums[i] = value;
    s.squares[i] = value * value;
}

static void add_up(const struct sum *argument)
{
    const struct sum s = *argument;
    float(*tree)[2] = simt_shared();
    uint32_t t = thread_x();
    long i = (long)thread_id();
    for (int k = 0; k < 2; k++)
        tree[t][k] = i < s.count ? s.in[k][i] : 0;
    for (uint32_t half = BLOCK / 2; half > 0; half /= 2) {
        simt_barrier();
        for (int k = 0; t < half && k < 2; k++)
            tree[t][k] += tree[t + half][k];
    }
    for (int k = 0; t == 0 && k < 2; k++) /* thread 0 stores its own sums: no barrier is needed */
        s.out[k][block_x()] = tree[0][k];
}

static inline void find_pixel(const struct srad *s, long i)
{
    long row = i % s->rows, column = i / s->rows, first = column * s->rows;
    float here = s->image[i];
    float n = s->image[first + s->above[row]] - here, so = s->image[first + s->below[row]] - here;
    float w = s->image[s->left[column] * s->rows + row] - here,
          e = s->image[s->right[column] * s->rows + row] - here;
    float gradient = (n * n + so * so + w * w + e * e) / (here * here), laplacian = (n + so + w + e) / here;
    float below = 1 + 0.25F * laplacian;
    float q = (0.5F * gradient - laplacian * laplacian / 16) / (below * below);
    float c = 1 / (1 + (q - s->speckle) / (s->speckle * (1 + s->speckle)));
    s->difference[0][i] = n;
    s->difference[1][i] = so;
    s->difference[2][i] = w;
    s->difference[3][i] = e;
    s->diffuse[i] = c < 0 ? 0 : c > 1 ? 1 : c;
}

/* Each flow uses the coefficient of the southern or eastern pixel on both sides, so that flows balance. */
static inline void change_pixel(const struct srad *s, long i)
{
    long row = i % s->rows, column = i / s->rows;
    float here = s->diffuse[i], south = s->diffuse[column * s->rows + s->below[row]],
          east = s->diffuse[s->right[column] * s->rows + row];
    float flow = here * (s->difference[0][i] + s->difference[2][i]) + south * s->difference[1][i] +
                 east * s->difference[3][i];
    s->image[i] += 0.25F * rate * flow;
}

static void find(const struct srad *argument)
{
    const struct srad s = *argument;
    long i = (long)thread_id();
    if (i < s.rows * s.columns)
        find_pixel(&s, i);
}

static void change(const struct srad *argument)
{
    const struct srad s = *argument;
    long i = (long)thread_id();
    if (i < s.rows * s.columns)
        change_pixel(&s, i);
}

static void set_speckle(struct srad *s, double sum, double squares)
{
    double count = (double)(s->rows * s->columns), mean = sum / count;
    s->speckle = (float)((squares / count - mean * mean) / (mean * mean));
}

static void round_simt(struct srad *s, float *partial[2][2])
{
    long count = s->rows * s->columns;
    uint32_t blocks = kernel_blocks(count, BLOCK);
    KERNEL_RUN(prepare, s, simt_dim(blocks), simt_dim(BLOCK));
    struct sum sum = {.in = {s->sums, s->squares}, .count = count};
    for (int level = 0; sum.count > 1 || level == 0; level++) {
        uint32_t sums = kernel_blocks(sum.count, BLOCK);
        sum.out[0] = partial[level % 2][0];
        sum.out[1] = partial[level % 2][1];
        KERNEL_RUN(add_up, &sum, simt_dim(sums), simt_dim(BLOCK), .scratchpad = BLOCK * 2 * sizeof(float));
        sum = (struct sum){.in = {sum.out[0], sum.out[1]}, .count = sums};
    }
    set_speckle(s, (double)sum.in[0][0], (double)sum.in[1][0]);
    KERNEL_RUN(find, s, simt_dim(blocks), simt_dim(BLOCK));
    KERNEL_RUN(change, s, simt_dim(blocks), simt_dim(BLOCK));
}

static void round_scalar(struct srad *s)
{
    double sum = 0, squares = 0;
    long count = s->rows * s->columns;
    for (long i = 0; i < count; i++) {
        sum += (double)s->image[i];
        squares += (double)(s->image[i] * s->image[i]);
    }
    set_speckle(s, sum, squares);
    for (long i = 0; i < count; i++)
        find_pixel(s, i);
    for (long i = 0; i < count; i++)
        change_pixel(s, i);
}

/* Returns the neighbour of each of `count` rows or columns in a direction. */
static const int *beside(long count, int step)
{
    int *index = kernel_array(count, sizeof *index);
    for (long i = 0; i < count; i++)
        index[i] = (int)(i + step < 0 || i + step >= count ? i : i + step);
    return index;
}

/* A dark image with a bright square, and speckle, of values from 1 to e as the exponential of grey levels. */
static void setup(struct srad *s, long rows, long columns)
{
    long count = rows * columns;
    *s = (struct srad){.rows = rows,
                       .columns = columns,
                       .image = kernel_array(count, sizeof(float)),
                       .diffuse = kernel_array(count, sizeof(float)),
                       .sums = kernel_array(count, sizeof(float)),
                       .squares = kernel_array(count, sizeof(float)),
                       .above = beside(rows, -1),
                       .below = beside(rows, 1),
                       .left = beside(columns, -1),
                       .right = beside(columns, 1)};
    for (int i = 0; i < 4; i++)
        s->difference[i] = kernel_array(count, sizeof(float));
    kernel_fill(s->image, count, 21);
    for (long i = 0; i < count; i++) {
        long y = i % rows * 4 / rows, x = i / rows * 4 / columns;
        s->image[i] = 1 + s->image[i] * (y > 0 && y < 3 && x > 0 && x < 3 ? 1.7F : 0.6F);
    }
}

int main(int argc, char **argv)
{
    static const struct kernel_argument arguments[] = {
        {"ROWS", 50, 2, 4096}, {"COLUMNS", 46, 2, 4096}, {"ROUNDS", 2, 1, 1000}};
    long sizes[3];
    kernel_arguments(argc, argv, arguments, 3, sizes);
    long count = sizes[0] * sizes[1];
    struct srad simt, scalar;
    setup(&simt, sizes[0], sizes[1]);
    setup(&scalar, sizes[0], sizes[1]);
    float *partial[2][2];
    for (int i = 0; i < 4; i++)
        partial[i / 2][i % 2] = kernel_array(kernel_blocks(count, BLOCK), sizeof(float));

    croft_roi_begin("srad");
    for (long round = 0; round < sizes[2]; round++)
        round_simt(&simt, partial);
    croft_roi_end("srad");

    for (long round = 0; round < sizes[2]; round++)
        round_scalar(&scalar);
    return kernel_report("srad", count, simt.image, (size_t)count * sizeof(float),
                         kernel_close(simt.image, scalar.image, count, 1e-3));
}
