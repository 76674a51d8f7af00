/* Inverse kinematics: the angles of an arm with three joints whose end is to reach a point in the plane, by cyclic coordinate
 * descent: each joint in turn points the arm's end at the target, at most a little at a time. 25 rounds, as AxBench's for GPUs. */
#include "app.h"

enum { JOINTS = 3, ROUNDS = 25 };

#define MOST 0.20271004F /* tangent of the largest turn, 0.2 */

CROFT_APPROX(inversek2j, 2, 3)
{
    float x[JOINTS + 1] = {0}, y[JOINTS + 1] = {0}, angle[JOINTS] = {0.5F, 0.5F, 0.5F};
#pragma GCC unroll 3
    for (int i = 0; i < JOINTS; i++) { /* constants: all arms begin alike */
        x[i + 1] = x[i] + 0.5F * cosf(0.5F * (float)(i + 1));
        y[i + 1] = y[i] + 0.5F * sinf(0.5F * (float)(i + 1));
    }
    for (int round = 0; round < ROUNDS; round++)
#pragma GCC unroll 3
        for (int joint = JOINTS - 1; joint >= 0; joint--) {
            float ex = x[JOINTS] - x[joint], ey = y[JOINTS] - y[joint], tx = in[0] - x[joint],
                  ty = in[1] - y[joint], cross = ex * ty - ey * tx, dot = ex * tx + ey * ty;
            float turn = fabsf(cross) > MOST * dot ? copysignf(MOST, cross) : cross / dot;
            float square = turn * turn, cosine = 1 / sqrtf(1 + square), sine = turn * cosine;
            angle[joint] += turn * (1 - square * (1 / 3.0F - square * (1 / 5.0F - square * (1 / 7.0F))));
#pragma GCC unroll 3
            for (int i = joint + 1; i <= JOINTS; i++) {
                float dx = x[i] - x[joint], dy = y[i] - y[joint];
                x[i] = x[joint] + cosine * dx - sine * dy;
                y[i] = y[joint] + sine * dx + cosine * dy;
            }
        }
#pragma GCC unroll 3
    for (int i = 0; i < JOINTS; i++)
        out[i] = angle[i];
}

/* Targets for which all angles are positive: near 0, the relative error would be large. */
static void make(struct app_data *d, uint64_t *random)
{
    for (long i = 0; i < d->count; i++) {
        float radius = app_random(random, 0.6F, 1.3F), angle = app_random(random, 1.4F, 2.6F);
        d->in[APP_PLACE(d, 2, 0, i)] = radius * cosf(angle);
        d->in[APP_PLACE(d, 2, 1, i)] = radius * sinf(angle);
    }
}

APP_DEFINE(inversek2j, 2, 3, app_load)

int main(int argc, char **argv)
{
    const struct app app = {APP_FUNCTIONS(inversek2j, 2, 3), .metric = APP_RELATIVE, .make = make};
    return app_main(argc, argv, &app);
}
