/* Tracking of a heart's walls, after Rodinia's heartwall: in each frame of a film, a block of threads searches the place of each
 * of the points of the inner and outer wall, on a coarse grid, by normalised cross-correlation of a template from the first frame with the
 * neighbourhood of the last place. Copies, sums and scores are in memory, as there. The film is a speckled picture that
 * shrinks and grows like a beating heart. */
#include "../simt/kernel.h"

enum {
    BLOCK = 256,
    TEMPLATE = 51,                 /* pixels in each direction */
    REACH = 15,                    /* pixels that a point may move between frames */
    WINDOW = TEMPLATE + 2 * REACH, /* pixels searched */
    STRIDE = 3,                    /* pixels between places that are compared */
    PLACES = 2 * REACH / STRIDE + 1,
    GRAIN = 8, /* pixels of a speckle */
    AREA = TEMPLATE * TEMPLATE,
};

struct walls {
    long size; /* of frames, in pixels */
    const float *frame;
    const float *templates; /* [point][AREA], with mean 0 and sum of squares 1 */
    float *windows;         /* [point][WINDOW][WINDOW] */
    float *sums, *squares;  /* of the window's rectangles from its corner */
    float *scores;          /* [point][PLACES][PLACES] */
    int *row, *column;      /* of the points' pixels */
};

struct best {
    float score;
    int place;
};

/* Returns a rectangle of the template's size, from the sums of rectangles from the corner. */
static inline float rectangle(const float *sums, long y, long x)
{
    const float *last = sums + (y + TEMPLATE - 1) * WINDOW + x + TEMPLATE - 1;
    float sum = last[0];
    if (y > 0)
        sum -= last[-TEMPLATE * WINDOW];
    if (x > 0)
        sum -= last[-TEMPLATE];
    if (y > 0 && x > 0)
        sum += last[-TEMPLATE * WINDOW - TEMPLATE];
    return sum;
}

static inline void copy_window(const struct walls *w, long point, float *window, uint32_t t)
{
    const float *corner = w->frame + (w->row[point] - WINDOW / 2) * w->size + w->column[point] - WINDOW / 2;
    for (long i = t; i < WINDOW * WINDOW; i += BLOCK)
        window[i] = corner[i / WINDOW * w->size + i % WINDOW];
}

static inline void sum_columns(const float *window, float *sums, float *squares, uint32_t column)
{
    float sum = 0, square = 0;
    for (long i = column; i < WINDOW * WINDOW; i += WINDOW) {
        sum += window[i];
        square += window[i] * window[i];
        sums[i] = sum;
        squares[i] = square;
    }
}

static inline void sum_rows(float *sums, float *squares, uint32_t row)
{
    float sum = 0, square = 0;
    for (long i = row * WINDOW; i < (row + 1) * WINDOW; i++) {
        sum += sums[i];
        square += squares[i];
        sums[i] = sum;
        squares[i] = square;
    }
}

static inline float score(const float *window, const float *pattern, const float *sums, const float *squares,
                          long place)
{
    long y = place / PLACES * STRIDE, x = place % PLACES * STRIDE;
    float product = 0, sum = rectangle(sums, y, x), square = rectangle(squares, y, x);
    for (long i = 0; i < TEMPLATE; i++)
        for (long k = 0; k < TEMPLATE; k++)
            product += pattern[i * TEMPLATE + k] * window[(y + i) * WINDOW + x + k];
    return product / __builtin_sqrtf(fabsf(square - sum * sum / AREA) + 1e-6F);
}

/* Moves the point to the place of the highest score, of equal ones the first. */
static inline void move_point(const struct walls *w, long point, struct best *tree, uint32_t t)
{
    const float *scores = w->scores + point * PLACES * PLACES;
    tree[t] = (struct best){t < PLACES * PLACES ? scores[t] : -2, (int)t};
    for (uint32_t half = BLOCK / 2; half > 0; half /= 2) {
        simt_barrier();
        if (t < half && tree[t + half].score > tree[t].score)
            tree[t] = tree[t + half];
        else if (t < half && tree[t + half].score == tree[t].score && tree[t + half].place < tree[t].place)
            tree[t] = tree[t + half];
    }
    if (t == 0) {
        w->row[point] += tree[0].place / PLACES * STRIDE - REACH;
        w->column[point] += tree[0].place % PLACES * STRIDE - REACH;
    }
}

static void track(const struct walls *argument)
{
    const struct walls w = *argument;
    uint32_t t = thread_x();
    long point = block_x();
    float *window = w.windows + point * WINDOW * WINDOW, *sums = w.sums + point * WINDOW * WINDOW,
          *squares = w.squares + point * WINDOW * WINDOW;
    copy_window(&w, point, window, t);
    simt_barrier();
    if (t < WINDOW)
        sum_columns(window, sums, squares, t);
    simt_barrier();
    if (t < WINDOW)
        sum_rows(sums, squares, t);
    simt_barrier();
    if (t < PLACES * PLACES)
        w.scores[point * PLACES * PLACES + t] = score(window, w.templates + point * AREA, sums, squares, t);
    simt_barrier();
    move_point(&w, point, simt_shared(), t);
}

/* The same by the definition: each place's own sums. Returns the highest score. */
static double track_scalar(const struct walls *w, long point)
{
    const float *corner = w->frame + (w->row[point] - WINDOW / 2) * w->size + w->column[point] - WINDOW / 2;
    double most = -2;
    int best = 0;
    for (int place = 0; place < PLACES * PLACES; place++) {
        double product = 0, sum = 0, square = 0;
        for (int i = 0; i < AREA; i++) {
            long y = place / PLACES * STRIDE + i / TEMPLATE, x = place % PLACES * STRIDE + i % TEMPLATE;
            double pixel = (double)corner[y * w->size + x];
            product += pixel * (double)w->templates[point * AREA + i];
            sum += pixel;
            square += pixel * pixel;
        }
        double value = product / sqrt(fabs(square - sum * sum / AREA) + 1e-6);
        if (value > most) {
            most = value;
            best = place;
        }
    }
    w->row[point] += best / PLACES * STRIDE - REACH;
    w->column[point] += best % PLACES * STRIDE - REACH;
    return most;
}

/* Copies the pixels around a point of the first frame, less their mean, divided by the root of their squares. */
static void cut(const struct walls *w, float *pattern, long point)
{
    const float *corner =
        w->frame + (w->row[point] - TEMPLATE / 2) * w->size + w->column[point] - TEMPLATE / 2;
    double sum = 0, square = 0;
    for (int i = 0; i < AREA; i++) {
        pattern[i] = corner[i / TEMPLATE * w->size + i % TEMPLATE];
        sum += (double)pattern[i];
        square += (double)pattern[i] * (double)pattern[i];
    }
    double root = sqrt(square - sum * sum / AREA);
    for (int i = 0; i < AREA; i++)
        pattern[i] = (float)(((double)pattern[i] - sum / AREA) / root);
}

/* Makes a picture of speckles: random numbers every GRAIN pixels, and means between them. */
static float *speckle(long size)
{
    long grains = size / GRAIN + 2;
    float *noise = kernel_array(grains * grains, sizeof *noise),
          *picture = kernel_array(size * size, sizeof *picture);
    kernel_fill(noise, grains * grains, 17);
    for (long i = 0; i < size * size; i++) {
        const float *corner = noise + i / size / GRAIN * grains + i % size / GRAIN;
        float y = (float)(i / size % GRAIN) / GRAIN, x = (float)(i % size % GRAIN) / GRAIN;
        picture[i] = (1 - y) * ((1 - x) * corner[0] + x * corner[1]) +
                     y * ((1 - x) * corner[grains] + x * corner[grains + 1]);
    }
    return picture;
}

/* Copies the picture, larger by 3 % in every second frame: each pixel is the one at the same direction from the centre. */
static void show(float *frame, const float *picture, long size, long number)
{
    float scale = number % 2 ? 1 / 1.03F : 1;
    for (long y = 0; y < size; y++)
        for (long x = 0; x < size; x++) {
            long from_y = lroundf((float)(y - size / 2) * scale) + size / 2;
            long from_x = lroundf((float)(x - size / 2) * scale) + size / 2;
            frame[y * size + x] = picture[from_y * size + from_x];
        }
}

/* Points on two circles around the centre: two fifths on the inner, the others on the outer wall. */
static void setup(struct walls *w, long points, long size, const float *frame)
{
    *w = (struct walls){.size = size,
                        .frame = frame,
                        .windows = kernel_array(points * WINDOW * WINDOW, sizeof(float)),
                        .sums = kernel_array(points * WINDOW * WINDOW, sizeof(float)),
                        .squares = kernel_array(points * WINDOW * WINDOW, sizeof(float)),
                        .scores = kernel_array(points * PLACES * PLACES, sizeof(float)),
                        .row = kernel_array(points, sizeof(int)),
                        .column = kernel_array(points, sizeof(int))};
    float *templates = kernel_array(points * AREA, sizeof *templates);
    long inner = points * 2 / 5;
    for (long i = 0; i < points; i++) {
        double radius = (double)size / (i < inner ? 5 : 3.5);
        double angle =
            6.2831853 * (double)(i < inner ? i : i - inner) / (double)(i < inner ? inner : points - inner);
        w->row[i] = (int)((double)size / 2 + radius * sin(angle));
        w->column[i] = (int)((double)size / 2 + radius * cos(angle));
        cut(w, templates + i * AREA, i);
    }
    w->templates = templates;
}

int main(int argc, char **argv)
{
    static const struct kernel_argument arguments[] = {
        {"POINTS", 6, 1, 4096}, {"FRAMES", 2, 1, 1000}, {"SIZE", 288, 288, 2048}};
    long sizes[3];
    kernel_arguments(argc, argv, arguments, 3, sizes);
    long points = sizes[0], size = sizes[2];
    float *picture = speckle(size), *frame = kernel_array(size * size, sizeof *frame);
    show(frame, picture, size, 0);
    struct walls simt, scalar;
    setup(&simt, points, size, frame);
    setup(&scalar, points, size, frame);
    long moved = 0;
    int correct = 1;
    for (long number = 1; number <= sizes[1]; number++) {
        show(frame, picture, size, number);
        croft_roi_begin("heartwall");
        KERNEL_RUN(track, &simt, simt_dim((uint32_t)points), simt_dim(BLOCK),
                   .scratchpad = BLOCK * sizeof(struct best));
        croft_roi_end("heartwall");
        for (long i = 0; i < points; i++) {
            int row = scalar.row[i];
            const float *scores = simt.scores + i * PLACES * PLACES;
            float most = scores[0];
            for (int place = 1; place < PLACES * PLACES; place++)
                most = scores[place] > most ? scores[place] : most;
            correct = correct && fabs(track_scalar(&scalar, i) - (double)most) < 1e-3;
            moved += scalar.row[i] != row;
            correct = correct && simt.row[i] == scalar.row[i] && simt.column[i] == scalar.column[i];
        }
    }
    return kernel_report("heartwall", points, simt.column, (size_t)points * sizeof(int),
                         correct && moved > 0);
}
