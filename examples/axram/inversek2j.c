/* Inverse kinematics: the angles of an arm with three joints whose end is to reach a point in the plane, by cyclic coordinate
 * descent: each joint in turn points the arm's end at the target, at most a little at a time. */
#include "app.h"

enum { JOINTS = 3, ROUNDS = 12 };

/* Computes where joints begin; [JOINTS] is the arm's end. */
static inline void place(const float *angle, float x[JOINTS + 1], float y[JOINTS + 1])
{
    float sum = 0;
    x[0] = y[0] = 0;
    for (int i = 0; i < JOINTS; i++) {
        sum += angle[i];
        x[i + 1] = x[i] + 0.5F * cosf(sum);
        y[i + 1] = y[i] + 0.5F * sinf(sum);
    }
}

CROFT_APPROX(inversek2j, 2, 3)
{
    float x[JOINTS + 1], y[JOINTS + 1];
    for (int i = 0; i < JOINTS; i++)
        out[i] = 0.5F;
    for (int round = 0; round < ROUNDS; round++)
        for (int joint = JOINTS - 1; joint >= 0; joint--) {
            place(out, x, y);
            float ex = x[JOINTS] - x[joint], ey = y[JOINTS] - y[joint], tx = in[0] - x[joint],
                  ty = in[1] - y[joint];
            float turn = atan2f(ex * ty - ey * tx, ex * tx + ey * ty);
            out[joint] += turn < -0.2F ? -0.2F : turn > 0.2F ? 0.2F : turn;
        }
}

/* Targets for which all angles are positive: near 0, the relative error would be large. */
static void make(struct app_data *d, uint64_t *random)
{
    for (long i = 0; i < d->count; i++) {
        float radius = app_random(random, 0.6F, 1.3F), angle = app_random(random, 1.4F, 2.6F);
        d->in[i] = radius * cosf(angle);
        d->in[d->count + i] = radius * sinf(angle);
    }
}

APP_DEFINE(inversek2j, 2, 3, app_load)

int main(int argc, char **argv)
{
    const struct app app = {APP_FUNCTIONS(inversek2j, 2, 3), .metric = APP_RELATIVE, .make = make};
    return app_main(argc, argv, &app);
}
