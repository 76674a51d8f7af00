/* Whether two triangles in space intersect: an edge of one passes through the other. The first output is larger if they do. */
#include "app.h"

struct vector {
    float x, y, z;
};

static inline struct vector minus(struct vector a, struct vector b)
{
    return (struct vector){a.x - b.x, a.y - b.y, a.z - b.z};
}

static inline struct vector cross(struct vector a, struct vector b)
{
    return (struct vector){a.y * b.z - a.z * b.y, a.z * b.x - a.x * b.z, a.x * b.y - a.y * b.x};
}

static inline float dot(struct vector a, struct vector b)
{
    return a.x * b.x + a.y * b.y + a.z * b.z;
}

/* Returns whether the edge from p to q passes through triangle t (Moeller and Trumbore 1997). */
static inline int passes(struct vector p, struct vector q, const struct vector t[3])
{
    struct vector way = minus(q, p), u = minus(t[1], t[0]), v = minus(t[2], t[0]), from = minus(p, t[0]);
    struct vector h = cross(way, v), k = cross(from, u);
    float area = dot(u, h), sign = area < 0 ? -1 : 1;
    float a = sign * dot(from, h), b = sign * dot(way, k), far = sign * dot(v, k);
    area *= sign;
    return area > 1e-9F && a >= 0 && b >= 0 && a + b <= area && far >= 0 && far <= area;
}

CROFT_APPROX(jmeint, 18, 2)
{
    struct vector t[2][3];
    int meet = 0;
#pragma GCC unroll 6
    for (int i = 0; i < 6; i++)
        t[i / 3][i % 3] = (struct vector){in[3 * i], in[3 * i + 1], in[3 * i + 2]};
#pragma GCC unroll 3
    for (int i = 0; i < 3; i++)
        meet |= passes(t[0][i], t[0][(i + 1) % 3], t[1]) | passes(t[1][i], t[1][(i + 1) % 3], t[0]);
    out[0] = (float)meet;
    out[1] = (float)!meet;
}

/* Corners are anywhere in a cube. */
static void make(struct app_data *d, uint64_t *random)
{
    kernel_fill(d->in, 18 * d->count, *random);
}

APP_DEFINE(jmeint, 18, 2, app_load)

int main(int argc, char **argv)
{
    const struct app app = {APP_FUNCTIONS(jmeint, 18, 2), .metric = APP_MISSES, .make = make};
    return app_main(argc, argv, &app);
}
