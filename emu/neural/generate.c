#include "emu/neural/generate.h"

#include <inttypes.h>
#include <stdlib.h>

#include "emu/sim/alloc.h"

enum { WORDS_OF_LINE = 8 };

static void write_image(FILE *file, const char *name, const char *suffix, const struct network *n)
{
    size_t count = network_image_words(n);
    uint32_t *words = alloc(count, sizeof *words);
    network_write_image(n, words);
    fprintf(file, "\nstatic const uint32_t %s_%s[] __attribute__((unused, aligned(32))) = {", name, suffix);
    for (size_t i = 0; i < count; i++)
        fprintf(file, "%s0x%08" PRIx32 ",", i % WORDS_OF_LINE ? " " : "\n    ", words[i]);
    fprintf(file, "\n};\n");
    free(words);
}

void generate_network(FILE *file, const char *name, const struct samples *s,
                      const struct search_result *result)
{
    static const char *const suffixes[ARITH_KINDS] = {
        [ARITH_SHA] = "sha", [ARITH_FXP] = "fxp", [ARITH_FP] = "fp"};
    char text[NETWORK_TEXT];
    fprintf(file, "\n/* %s: %s%s, trained with %zu of %zu calls. Errors in the %zu calls left out:\n", name,
            network_text(&result->of[0].network, text), result->of[0].network.bias ? " with biases" : "",
            s->count - result->test.count, s->observed, result->test.count);
    for (int kind = 0; kind < ARITH_KINDS; kind++)
        fprintf(file, " * %-3s %.4f of the range (root mean square), %.2f %% relative (mean)%s\n",
                arith_name((enum arith_kind)kind), result->of[kind].error / SAMPLES_SPAN,
                100 * result->of[kind].relative_error, kind + 1 < ARITH_KINDS ? "" : " */");
    fprintf(file, "\nstatic const float %s_scale[] __attribute__((unused)) = {", name);
    for (unsigned i = 0; i < s->inputs + s->outputs; i++)
        fprintf(file, "\n    %aF, %aF, /* %s %u */", (double)s->scale[(size_t)2 * i],
                (double)s->scale[(size_t)2 * i + 1], i < s->inputs ? "in" : "out",
                i < s->inputs ? i : i - s->inputs);
    fprintf(file, "\n};\n");
    for (int kind = 0; kind < ARITH_KINDS; kind++)
        write_image(file, name, suffixes[kind], &result->of[kind].network);
}
