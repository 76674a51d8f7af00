/* Copies between global memory and the scratchpad, for candidates_stash.sh: those that a map replaces, and those that only look like
 * it. */
#include <croft/simt.h>
#include <stddef.h>

struct particle {
    float x, y, z, mass, charge, spin;
};

struct work {
    struct particle *particles;
    float *matrix;
    uint32_t stride;
    double *doubles;
    const uint32_t *order;
    uint8_t *bytes;
    uint32_t count;
};

static uint32_t table[64 * 32];

/* Copied in and out by a loop over a field. */
static void field(const struct work *w)
{
    float *s = simt_shared();
    struct particle *p = w->particles + block_x() * 500;
    for (uint32_t i = thread_x(); i < 500; i += 128)
        s[i] = p[i].charge;
    simt_barrier();
    s[thread_x()] += s[thread_x() + 1];
    simt_barrier();
    for (uint32_t i = thread_x(); i < 500; i += 128)
        p[i].charge = s[i];
}

/* 12 rows of 20, which the code divides; only copied in, and changed. */
static void divided(const struct work *w)
{
    float *s = (float *)simt_shared() + 16;
    const float *m = w->matrix + block_y() * 12 * w->stride + block_x() * 20;
    for (uint32_t i = thread_x(); i < 240; i += 64)
        s[i] = m[i / 20 * w->stride + i % 20];
    simt_barrier();
    for (uint32_t k = 0; k < 3; k++)
        s[thread_x()] *= s[thread_x() + 2];
}

/* 16 columns by threads in x, rows by threads in y. */
static void plane(const struct work *w)
{
    float *s = (float *)simt_shared() + 256;
    const uint32_t x = thread_x(), y = thread_y();
    const uint64_t row = block_y() * 16 + y;
    s[y * 16 + x] = w->matrix[row * w->stride + block_x() * 16 + x];
    simt_barrier();
    w->matrix[x] = s[x * 16 + y] * 2;
}

/* 8 rows at a time, of 32 objects of 24 bytes. */
static void rows(const struct work *w)
{
    float *s = simt_shared();
    const uint32_t x = thread_x();
    for (uint32_t y = thread_y(); y < 40; y += 8)
        s[y * 32 + x] = w->particles[y * 100 + x].y;
    simt_barrier();
    for (uint32_t y = thread_y(); y < 40; y += 8)
        w->particles[y * 100 + x].y = s[y * 32 + x];
}

static void doubles(const struct work *w)
{
    double *s = simt_shared();
    for (uint32_t i = thread_x(); i < 96; i += 32)
        s[i] = w->doubles[i * 5];
}

/* A field of three words. */
static void three(const struct work *w)
{
    float *s = simt_shared();
    for (uint32_t i = thread_x(); i < 64; i += 32) {
        s[3 * i] = w->particles[i].x;
        s[3 * i + 1] = w->particles[i].y;
        s[3 * i + 2] = w->particles[i].z;
    }
}

/* One for each thread below 100; each round has another place in global memory. */
static void guarded(const struct work *w)
{
    uint32_t *s = simt_shared();
    for (uint32_t round = 0; round < w->count; round++) {
        if (thread_x() < 100)
            s[thread_x()] = w->order[round * 100 + thread_x()];
        simt_barrier();
        table[thread_x()] += s[99 - thread_x()];
        simt_barrier();
    }
}

/* Copied out of local memory to a named array. */
static void named(const struct work *w)
{
    uint32_t *s = simt_shared();
    s[thread_x()] = thread_x() * w->count;
    simt_barrier();
    for (uint32_t i = thread_x(); i < 32; i += 16)
        table[64 + i] = s[i];
}

/* As many rows and columns as the arguments say. */
static void unknown(const struct work *w)
{
    float *s = simt_shared();
    for (uint32_t i = thread_x(); i < w->count * 8; i += block_dim_x())
        s[i] = w->matrix[i / w->count * w->stride + i % w->count];
}

/* Those that no map replaces. */

static void changed(const struct work *w)
{
    float *s = simt_shared();
    for (uint32_t i = thread_x(); i < 64; i += 32)
        s[i] = w->matrix[i] * 2;
}

static void gathered(const struct work *w)
{
    float *s = simt_shared();
    for (uint32_t i = thread_x(); i < 64; i += 32)
        s[i] = w->matrix[w->order[i]];
}

static void scattered(const struct work *w)
{
    float *s = simt_shared();
    for (uint32_t i = thread_x(); i < 64; i += 32)
        w->matrix[i] = s[w->order[i]];
}

static void bytes(const struct work *w)
{
    uint8_t *s = simt_shared();
    for (uint32_t i = thread_x(); i < 64; i += 32)
        s[i] = w->bytes[i];
}

static void shifted(const struct work *w)
{
    float *s = simt_shared();
    for (uint32_t i = thread_x(); i < 64; i += 32)
        s[i + 3] = w->matrix[i];
}

static void sparse(const struct work *w)
{
    float *s = simt_shared();
    for (uint32_t i = thread_x(); i < 64; i += 32)
        s[2 * i] = w->matrix[i];
}

static void reversed(const struct work *w)
{
    float *s = simt_shared();
    for (uint32_t i = thread_x(); i < 64; i += 32)
        s[i] = w->matrix[63 - i];
}

static void spread(const struct work *w)
{
    float *s = simt_shared();
    s[thread_x()] = w->matrix[block_x()];
}

static void squared(const struct work *w)
{
    float *s = simt_shared();
    for (uint32_t i = thread_x(); i < 64; i += 32)
        s[i] = w->matrix[i * i];
}

static void doubling(const struct work *w)
{
    float *s = simt_shared();
    for (uint32_t i = thread_x() + 1; i < 64; i *= 2)
        s[i] = w->matrix[i];
}

__attribute__((noinline)) static uint32_t hidden(uint32_t i)
{
    __asm__("");
    return i * 3;
}

static void called(const struct work *w)
{
    float *s = simt_shared();
    s[thread_x()] = w->matrix[hidden(thread_x())];
}

/* No copies at all. */
static void global(const struct work *w)
{
    const uint32_t i = thread_x() + block_x() * block_dim_x();
    w->matrix[i] = w->particles[i].x;
    w->doubles[i] += 1;
}

static void local(const struct work *w)
{
    float *s = simt_shared();
    (void)w;
    s[thread_x()] = s[thread_x() + 32];
}

#define EACH(X)                                                                                              \
    X(field)                                                                                                 \
    X(divided)                                                                                               \
    X(plane)                                                                                                 \
    X(rows)                                                                                                  \
    X(doubles)                                                                                               \
    X(three)                                                                                                 \
    X(guarded)                                                                                               \
    X(named)                                                                                                 \
    X(unknown)                                                                                               \
    X(changed)                                                                                               \
    X(gathered)                                                                                              \
    X(scattered)                                                                                             \
    X(bytes)                                                                                                 \
    X(shifted)                                                                                               \
    X(sparse)                                                                                                \
    X(reversed)                                                                                              \
    X(spread)                                                                                                \
    X(squared)                                                                                               \
    X(doubling)                                                                                              \
    X(called)                                                                                                \
    X(global)                                                                                                \
    X(local)

int main(void)
{
    static struct work work;
#define LAUNCH(name) simt_launch(name, &work, simt_dim(1), simt_dim(32), .scratchpad = 4096);
    EACH(LAUNCH)
    return 0;
}
