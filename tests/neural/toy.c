/* Two functions for croft neural: a smooth one, and one whose second output never changes. */
#include <croft/approx.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>

CROFT_APPROX(wave, 1, 1)
{
    out[0] = sinf(3 * in[0]) + 2;
}

CROFT_APPROX(mean, 3, 2)
{
    out[0] = (in[0] + in[1] + in[2]) / 3;
    out[1] = 7;
}

/* Returns the largest error of 0.01 that a network makes, in 100 calls. */
int main(int argc, char **argv)
{
    int calls = argc > 1 ? atoi(argv[1]) : 100;
    float worst = 0;
    for (int i = 0; i < calls; i++) {
        float x = (float)(i * 37 % calls) / (float)calls, in[3] = {x, 1 - x * x, 0.5F}, out[2], right[2];
        wave(in, out);
        wave_original(in, right);
        worst = fmaxf(worst, fabsf(out[0] - right[0]));
        mean(in, out);
        mean_original(in, right);
        worst = fmaxf(worst, fabsf(out[0] - right[0]));
        worst = fmaxf(worst, fabsf(out[1] - right[1]));
    }
    printf("worst %.4f\n", (double)worst);
    return 0;
}
