#include <math.h>

#include "emu/cmd/net/write.h"

void net_write_csv(const struct net_curve *curve, FILE *out)
{
    (void)fprintf(
        out,
        "offered,accepted,least_accepted,stable,latency,network_latency,median,percentile_99,longest,hops,"
        "packets,flit_hops,clocks\n");
    for (size_t i = 0; i < curve->count; i++) {
        const struct traffic_result *result = &curve->results[i];
        (void)fprintf(out, result->offered < 1e-5 ? "%.6g" : "%.6f", result->offered);
        (void)fprintf(out, ",%.6f,%.6f,%d,", result->accepted, result->least_accepted, result->stable);
        if (result->packets)
            (void)fprintf(out, "%.4f,%.4f,%" PRIu64 ",%" PRIu64 ",%" PRIu64, result->latency,
                          result->network_latency, result->median, result->most_of_100, result->longest);
        else
            (void)fprintf(out, ",,,,"); /* no packets: unknown latencies */
        (void)fprintf(out, ",%.4f,%" PRIu64 ",%" PRIu64 ",%" PRIu64 "\n", result->hops, result->packets,
                      result->flit_hops, result->clocks);
    }
}

/* The picture, in pixels. */
enum { WIDTH = 640, HEIGHT = 400, LEFT = 64, RIGHT = 20, TOP = 20, BOTTOM = 52 };

struct axes {
    double x_most, y_most;
};

static double x_of(const struct axes *axes, double rate)
{
    return LEFT + rate / axes->x_most * (WIDTH - LEFT - RIGHT);
}

static double y_of(const struct axes *axes, double latency)
{
    double share = latency / axes->y_most;
    return HEIGHT - BOTTOM - (share < 1 ? share : 1) * (HEIGHT - TOP - BOTTOM);
}

/* Returns a round step between ticks that divides 0 to `most` into 4 to 10 parts. */
static double step_of(double most)
{
    double step = pow(10, floor(log10(most)));
    return most / step >= 4 ? step : most / step >= 2 ? step / 2 : step / 5;
}

/* Returns whether the rate has a point in the picture: not if it is unstable, or if no packet was measured. */
static bool has_point(const struct traffic_result *result)
{
    return result->stable && result->packets > 0;
}

static void draw_axes(const struct axes *axes, FILE *out)
{
    double x_step = step_of(axes->x_most), y_step = step_of(axes->y_most);
    for (int i = 0; i * x_step <= axes->x_most * 1.001; i++) {
        double x = x_of(axes, i * x_step);
        (void)fprintf(out,
                      "<line x1='%.1f' y1='%d' x2='%.1f' y2='%d' stroke='#ddd'/><text x='%.1f' y='%d' "
                      "text-anchor='middle'>%.3g</text>\n",
                      x, TOP, x, HEIGHT - BOTTOM, x, HEIGHT - BOTTOM + 18, i * x_step);
    }
    for (int i = 0; i * y_step <= axes->y_most * 1.001; i++) {
        double y = y_of(axes, i * y_step);
        (void)fprintf(out,
                      "<line x1='%d' y1='%.1f' x2='%d' y2='%.1f' stroke='#ddd'/><text x='%d' y='%.1f' "
                      "text-anchor='end'>%.3g</text>\n",
                      LEFT, y, WIDTH - RIGHT, y, LEFT - 6, y + 4, i * y_step);
    }
    (void)fprintf(out,
                  "<text x='%d' y='%d' text-anchor='middle'>offered rate, flits per clock and node</text>\n"
                  "<text x='16' y='%d' text-anchor='middle' transform='rotate(-90 16 %d)'>mean latency, "
                  "clocks</text>\n",
                  (LEFT + WIDTH - RIGHT) / 2, HEIGHT - 12, (TOP + HEIGHT - BOTTOM) / 2,
                  (TOP + HEIGHT - BOTTOM) / 2);
}

void net_write_svg(const struct net_curve *curve, FILE *out)
{
    struct axes axes = {curve->saturation * 1.1, 0};
    double least = 0;
    for (size_t i = 0; i < curve->count; i++) {
        const struct traffic_result *result = &curve->results[i];
        axes.x_most = fmax(axes.x_most, result->offered * 1.05);
        if (!has_point(result))
            continue;
        least = least == 0 ? result->latency : fmin(least, result->latency);
        axes.y_most = fmax(axes.y_most, result->latency);
    }
    axes.x_most = axes.x_most > 0 ? axes.x_most : 1;
    axes.y_most = fmax(fmin(axes.y_most * 1.1, least * 6), 1);
    (void)fprintf(out,
                  "<svg xmlns='http://www.w3.org/2000/svg' width='%d' height='%d' font-family='sans-serif' "
                  "font-size='12'>\n<rect width='100%%' height='100%%' fill='white'/>\n",
                  WIDTH, HEIGHT);
    draw_axes(&axes, out);
    if (curve->saturation > 0)
        (void)fprintf(out,
                      "<line x1='%.1f' y1='%d' x2='%.1f' y2='%d' stroke='#c33' stroke-dasharray='4'/>"
                      "<text x='%.1f' y='%d' text-anchor='end' fill='#c33'>saturation %.3f</text>\n",
                      x_of(&axes, curve->saturation), TOP, x_of(&axes, curve->saturation), HEIGHT - BOTTOM,
                      x_of(&axes, curve->saturation) - 4, TOP + 12, curve->saturation);
    (void)fprintf(out, "<polyline fill='none' stroke='#236' stroke-width='2' points='");
    for (size_t i = 0; i < curve->count; i++)
        if (has_point(&curve->results[i]))
            (void)fprintf(out, "%.1f,%.1f ", x_of(&axes, curve->results[i].offered),
                          y_of(&axes, curve->results[i].latency));
    (void)fprintf(out, "'/>\n");
    for (size_t i = 0; i < curve->count; i++)
        if (has_point(&curve->results[i]))
            (void)fprintf(out, "<circle cx='%.1f' cy='%.1f' r='3' fill='#236'/>\n",
                          x_of(&axes, curve->results[i].offered), y_of(&axes, curve->results[i].latency));
    (void)fprintf(out, "</svg>\n");
}
