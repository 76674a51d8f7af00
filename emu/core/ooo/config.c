#include "emu/core/ooo/ooo.h"

/* Cortex-A57. "Guide": Cortex-A57 Software Optimization Guide (Arm UAN0015), as recalled; "LLVM":
 * AArch64SchedA57.td. "ex5_big": gem5's O3_ARM_v7a_3 model of the Cortex-A15, its predecessor. */
void ooo_config_default(struct ooo_config *config)
{
    *config = (struct ooo_config){
        .fetch_bytes = 16,     /* guide: 128 bits of instructions a cycle */
        .fetch_queue = 48,     /* assumed: 12 stages at 3, and a buffer of 12 */
        .frontend_clocks = 12, /* LLVM: MispredictPenalty 16 = redirect 1, these, dispatch, issue, execute */
        .taken_clocks = 1,     /* assumed */
        .late_clocks = 4,      /* assumed: found when decoded, in the fifth stage */
        .redirect_clocks = 1,  /* assumed */
        .decode_width = 3,     /* guide: three instructions decoded a cycle */
        .retire_width = 8,     /* ex5_big: commitWidth 8 */
        .rob = 128,            /* LLVM: MicroOpBufferSize 128 */
        .iq = 64,              /* recalled: 8 queues of about 8 */
        .load_queue = 32,      /* assumed: twice ex5_big's 16 */
        .store_queue = 24,     /* assumed: 1.5 times ex5_big's 16 */
        .int_renames =
            128, /* assumed: as ex5_big (90 registers, less 32, for a ROB of 60), enough for nearly all */
        .fp_renames = 128, /* likewise */
        .speculate = true,
    };
    predict_config_ooo(&config->predict);
    core_latencies_ooo(&config->latency);
}

static bool range(const char *name, uint32_t value, uint32_t least, uint32_t most, struct error *err)
{
    if (value >= least && value <= most)
        return true;
    return error_set(err, "%s: %u is not allowed: a number from %u to %u", name, value, least, most);
}

bool ooo_config_check(const struct ooo_config *config, struct error *err)
{
    const struct {
        const char *name;
        uint32_t value, least, most;
    } fields[] = {
        {"rob", config->rob, 16, OOO_ROB_MOST},
        {"fetch_bytes", config->fetch_bytes, 4, 64},
        {"fetch_queue", config->fetch_queue, 8, OOO_ROB_MOST},
        {"frontend_clocks", config->frontend_clocks, 1, 64},
        {"taken_clocks", config->taken_clocks, 0, 16},
        {"late_clocks", config->late_clocks, 0, 64},
        {"redirect_clocks", config->redirect_clocks, 0, 64},
        {"decode_width", config->decode_width, 1, 16},
        {"retire_width", config->retire_width, 1, 16},
        {"iq", config->iq, 1, OOO_ROB_MOST},
        {"load_queue", config->load_queue, 1, OOO_QUEUE_MOST},
        {"store_queue", config->store_queue, 1, OOO_QUEUE_MOST},
        {"int_renames", config->int_renames, 1, OOO_ROB_MOST},
        {"fp_renames", config->fp_renames, 1, OOO_ROB_MOST},
    };
    for (size_t i = 0; i < sizeof fields / sizeof *fields; i++)
        if (!range(fields[i].name, fields[i].value, fields[i].least, fields[i].most, err))
            return false;
    if (config->fetch_queue > config->rob || config->iq > config->rob)
        return error_set(err, "%s: %u is not allowed: at most rob, %u",
                         config->iq > config->rob ? "iq" : "fetch_queue",
                         config->iq > config->rob ? config->iq : config->fetch_queue, config->rob);
    if (config->fetch_bytes & (config->fetch_bytes - 1))
        return error_set(err, "fetch_bytes: %u is not allowed: a power of two from 4 to 64",
                         config->fetch_bytes);
    return predict_config_check(&config->predict, err) && core_latencies_check(&config->latency, err);
}
