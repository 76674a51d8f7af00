/* Issue, scoreboard, units, barriers and the memory pipeline of a multiprocessor with scripted warps. */
#include "tests/sim/track_text.h"
#include "tests/simt/simt_rig.h"

enum { N = STREAM_NONE, ALU = 22 };

#define COUNT(array) (unsigned)(sizeof(array) / sizeof *(array))

static struct simt_config config_of(enum simt_policy policy)
{
    struct simt_config config;
    part_defaults(&simt_kind, 0, &config);
    config.policy = policy;
    return config;
}

/* Independent additions: 48 warps keep both schedulers busy in each clock. 48 * 1000 instructions on 2
 * schedulers take 24000 clocks; the ends of threads take no issue slot. */
static void enough_warps_fill_the_schedulers(void **state)
{
    (void)state;
    static const struct rig_step script[] = {{.id = INSN_add, .rd = N, .rs1 = 6, .rs2 = 7}};
    for (enum simt_policy policy = SIMT_GTO; policy <= SIMT_ROUND_ROBIN; policy++) {
        struct simt_config config = config_of(policy);
        struct rig *rig = rig_new(&config, script, COUNT(script), 1000);
        const struct simt_counters *c = rig_run(rig, 48);
        assert_int_equal(c->instructions, 48000);
        assert_int_equal(c->thread_instructions, 48000 * 32);
        assert_in_range(c->cycles, 24000, 24000 + ALU);
        rig_free(rig);
    }
}

/* A chain of 500 dependent additions in each of n warps; the busier scheduler has ceil(n / 2) warps. With up
 * to 22 there, no warp waits for another: the last one issues first in clock ceil(n / 2) - 1 and then 499
 * times, every 22 clocks. With more, round-robin issues in every clock. Greedy-then-oldest issues only from
 * the 22 oldest for 22 * 500 clocks (the others starve for less than SIMT_PATIENCE), and then executes the
 * remaining few. */
static uint64_t chain_clocks(enum simt_policy policy, unsigned warps)
{
    unsigned mine = (warps + 1) / 2;
    if (mine <= ALU)
        return 499 * ALU + mine;
    return policy == SIMT_ROUND_ROBIN ? mine * 500 : ALU * 500 + 499 * ALU + (mine - ALU);
}

static void few_warps_are_bound_by_latency(void **state)
{
    (void)state;
    static const struct rig_step script[] = {{.id = INSN_add, .rd = 5, .rs1 = 5, .rs2 = N}};
    for (enum simt_policy policy = SIMT_GTO; policy <= SIMT_ROUND_ROBIN; policy++)
        for (unsigned warps = 1; warps <= 48; warps += warps < 40 ? 5 : 1) {
            struct simt_config config = config_of(policy);
            struct rig *rig = rig_new(&config, script, COUNT(script), 500);
            const struct simt_counters *c = rig_run(rig, warps);
            assert_int_equal(c->instructions, 500 * warps);
            assert_int_equal(c->cycles, chain_clocks(policy, warps));
            if (warps == 1) {
                assert_int_equal(c->stalls[0][SIMT_STALL_scoreboard], 499 * (ALU - 1));
                assert_int_equal(c->stalls[1][SIMT_STALL_empty], c->cycles);
            }
            rig_free(rig);
        }
}

/* Double-precision additions of both schedulers occupy the shared special unit for 8 clocks each. */
static void units_bound_issue(void **state)
{
    (void)state;
    static const struct rig_step script[] = {{.id = INSN_fadd_d, .rd = 37, .rs1 = 38, .rs2 = 39}};
    struct simt_config config = config_of(SIMT_GTO);
    struct rig *rig = rig_new(&config, script, COUNT(script), 50);
    const struct simt_counters *c = rig_run(rig, 16);
    assert_int_equal(c->cycles, (16 * 50 - 1) * 8 + 1);
    rig_free(rig);
}

/* A branch stops its warp for 22 clocks, independent of registers. */
static void branches_stop_their_warp(void **state)
{
    (void)state;
    static const struct rig_step script[] = {{.id = INSN_beq, .rd = N, .rs1 = 6, .rs2 = 7}};
    struct simt_config config = config_of(SIMT_GTO);
    struct rig *rig = rig_new(&config, script, COUNT(script), 100);
    const struct simt_counters *c = rig_run(rig, 2);
    assert_int_equal(c->cycles, 99 * ALU + 1);
    assert_int_equal(c->stalls[0][SIMT_STALL_control], 99 * (ALU - 1));
    rig_free(rig);
}

/* The unit of a custom instruction that issues at 0 is done at 100, when an instruction that uses the result
 * issues. Instructions between them that need neither result nor unit issue before. */
static void users_wait_for_units(void **state)
{
    (void)state;
    static const struct rig_step script[] = {
        {.id = INSN_stash_chgmap, .rd = 5, .rs1 = 6, .rs2 = N, .clocks = 100},
        {.id = INSN_add, .rd = 8, .rs1 = 6, .rs2 = N},
        {.id = INSN_add, .rd = 7, .rs1 = 5, .rs2 = N},
    };
    struct simt_config config = config_of(SIMT_GTO);
    struct rig *rig = rig_new(&config, script, COUNT(script), 1);
    const struct simt_counters *c = rig_run(rig, 1);
    assert_int_equal(c->cycles, 101);
    assert_int_equal(c->stalls[0][SIMT_STALL_control], 21); /* SIMT_WORK_control: it stops the warp */
    assert_int_equal(c->stalls[0][SIMT_STALL_memory], 77);
    rig_free(rig);
}

/* The second instruction waits for the first, which is done at 100. The end waits for the second, up to one
 * clock later. Other warps do not wait. */
static void units_take_one_of_a_warp(void **state)
{
    (void)state;
    static const struct rig_step script[] = {
        {.id = INSN_stash_chgmap, .rd = N, .rs1 = 6, .rs2 = N, .clocks = 100}};
    struct simt_config config = config_of(SIMT_GTO);
    for (unsigned warps = 1; warps <= 2; warps++) {
        struct rig *rig = rig_new(&config, script, COUNT(script), 2);
        (void)rig_run(rig, warps);
        assert_in_range(rig->done, 200 * CLOCK, 201 * CLOCK);
        rig_free(rig);
    }
}

/* A load that misses issues at 0, is sent to the cache at 1 and to memory at 1 + 4, and is answered 100
 * clocks later, at 105; an instruction that uses it issues 18 clocks later, at 123. The second round hits:
 * issue at 124, lookup at 125, use 4 + 18 clocks later, at 147. */
static void loads_take_their_way(void **state)
{
    (void)state;
    static const struct rig_step script[] = {
        {.id = INSN_lw, .rd = 5, .rs1 = 6, .rs2 = N, .size = 4, .stride = 4, .base = 0x80000000},
        {.id = INSN_add, .rd = 7, .rs1 = 5, .rs2 = N},
    };
    struct simt_config config = config_of(SIMT_GTO);
    struct rig *rig = rig_new(&config, script, COUNT(script), 2);
    const struct simt_counters *c = rig_run(rig, 1);
    assert_int_equal(c->cycles, 148);
    assert_int_equal(c->stalls[0][SIMT_STALL_base], 4);
    assert_int_equal(c->stalls[0][SIMT_STALL_memory], 144);
    assert_int_equal(rig->memory.seen[MEM_READ], 1);
    assert_int_equal(c->requests, 2);
    assert_int_equal(c->divergent, 0);
    assert_int_equal(c->work[SIMT_WORK_load], 2 * 32);
    assert_int_equal(c->work[SIMT_WORK_alu], 2 * 32);
    struct energy_ledger ledger;
    energy_init(&ledger);
    simt_energy(rig->simt, &ledger, scope_root());
    /* Each of the four instructions of 32 threads reads one register and writes one. 1.59 W for 1 fs is 1.59 fJ. */
    uint64_t dynamic = 4 * 70000 + 4 * 32 * 100 + 4 * 32 * 2 * 2000;
    assert_int_equal(energy_total(&ledger), dynamic + rig->queue.now * 159 / 100);
    energy_free(&ledger);
    rig_free(rig);
}

/* Clocks of 1000 ps. An addition issues at 0, a load that uses it at 22. The line is looked up at 23, sent at
 * 27 and answered at 127; an instruction that uses it issues at 145. The other scheduler has no warp. */
static void stalls_are_shown_by_cause(void **state)
{
    (void)state;
    static const struct rig_step script[] = {
        {.id = INSN_add, .rd = 5, .rs1 = N, .rs2 = N},
        {.id = INSN_lw, .rd = 6, .rs1 = 5, .rs2 = N, .size = 4, .stride = 4, .base = 0x80000000},
        {.id = INSN_add, .rd = 7, .rs1 = 6, .rs2 = N},
    };
    static struct track_text shown;
    struct simt_config config = config_of(SIMT_GTO);
    struct rig *rig = rig_new(&config, script, COUNT(script), 1);
    track_text_init(&shown);
    simt_track(rig->simt, &shown.sink);
    (void)rig_run(rig, 1);
    track_text_end(&shown, rig->queue.now);
    assert_string_equal(shown.text,
                        "simt.0/warps: counter warps 0 value=1\n"
                        "simt.0/scheduler 0: slice scoreboard 1000 22000\n"
                        "simt.0/warps: counter warps 145000 value=0\n"
                        "simt.0/scheduler 0: slice memory 23000 145000\n"
                        "simt.0/scheduler 1: slice empty 0 146000\n"
                        /* of 2 * 146 clocks: 21, 122 and 146 */
                        "simt.0/stalls: counter stalls in percent 0 unit=0 memory_full=0 scoreboard=7 "
                        "control=0 memory=42 barrier=0 empty=50\n");
    rig_free(rig);
}

/* Requests tell whether their instruction was divergent, as seen by the memory below. */
struct seen {
    unsigned requests, divergent, whole;
};

static void look(void *context, const struct mem_request *request)
{
    struct seen *seen = context;
    seen->requests++;
    seen->divergent += request->divergent;
    seen->whole += request->size == RIG_LINE && request->mask == UINT64_MAX;
}

static struct seen requests_of(struct rig_step step)
{
    struct simt_config config = config_of(SIMT_GTO);
    struct seen seen = {0};
    struct rig *rig = rig_new(&config, &step, 1, 1);
    rig->memory.accepted = look;
    rig->memory.context = &seen;
    (void)rig_run(rig, 1);
    event_queue_run(&rig->queue, CLOCK_NEVER);
    rig_free(rig);
    return seen;
}

static void requests_say_whether_they_diverge(void **state)
{
    (void)state;
    static const struct {
        uint64_t stride;
        unsigned requests;
        uint8_t size;
        bool divergent;
    } patterns[] = {
        {4, 1, 4, false},   {8, 2, 4, true},  {0, 1, 4, false},
        {128, 32, 4, true}, {12, 3, 4, true}, {8, 2, 8, false}, /* 256 adjacent bytes */
        {16, 4, 8, true},
    };
    for (size_t i = 0; i < COUNT(patterns); i++) {
        struct rig_step step = {.id = INSN_lw, .rd = 5, .rs1 = 6, .rs2 = N, .base = 0x80000000};
        step.stride = patterns[i].stride;
        step.size = patterns[i].size;
        struct seen loads = requests_of(step);
        step.id = INSN_sw;
        step.rd = N;
        struct seen stores = requests_of(step);
        unsigned divergent = patterns[i].divergent ? patterns[i].requests : 0;
        assert_int_equal(loads.requests, patterns[i].requests);
        assert_int_equal(loads.divergent, divergent);
        assert_int_equal(loads.whole, patterns[i].requests);
        assert_int_equal(stores.requests, patterns[i].requests);
        assert_int_equal(stores.divergent, divergent);
        assert_int_equal(stores.whole, patterns[i].stride == patterns[i].size ? patterns[i].requests : 0);
    }
}

/* Different lines, one per clock: the last of 32 is looked up at 32, sent at 36, answered at 136; an
 * instruction that uses it issues at 154. */
static void lines_go_one_a_clock(void **state)
{
    (void)state;
    static const struct rig_step script[] = {
        {.id = INSN_lw, .rd = 5, .rs1 = 6, .rs2 = N, .size = 4, .stride = 128, .base = 0x80000000},
        {.id = INSN_add, .rd = 7, .rs1 = 5, .rs2 = N},
    };
    struct simt_config config = config_of(SIMT_GTO);
    struct rig *rig = rig_new(&config, script, COUNT(script), 1);
    const struct simt_counters *c = rig_run(rig, 1);
    assert_int_equal(c->cycles, 155);
    assert_int_equal(c->requests_of.buckets[5], 1);
    rig_free(rig);
}

/* Shared memory without conflicts: the pass is at 1, the value is ready 26 clocks later. A stride of 2 words
 * takes one pass more. */
static void banks_take_passes(void **state)
{
    (void)state;
    for (unsigned words = 1; words <= 32; words *= 2) {
        const struct rig_step script[] = {
            {.id = INSN_lw,
             .rd = 5,
             .rs1 = 6,
             .rs2 = N,
             .size = 4,
             .stride = 4 * words,
             .space = WARP_SHARED},
            {.id = INSN_add, .rd = 7, .rs1 = 5, .rs2 = N},
        };
        struct simt_config config = config_of(SIMT_GTO);
        struct rig *rig = rig_new(&config, script, COUNT(script), 1);
        const struct simt_counters *c = rig_run(rig, 1);
        assert_int_equal(c->cycles, 1 + (words - 1) + 26 + 1);
        assert_int_equal(c->shared_passes, words);
        assert_int_equal(c->work[SIMT_WORK_shared], 32);
        assert_int_equal(rig->memory.seen[MEM_READ], 0);
        rig_free(rig);
    }
}

/* Two rounds of a load of a line of 32 words, the second a hit, and an addition that uses it: 148 clocks. A hit in n banks takes a
 * clock for each word of a bank, so 32 / n - 1 more; a miss takes them before its answer comes. Each word is an access. */
static void banks_of_the_cache_take_passes(void **state)
{
    (void)state;
    static const struct rig_step script[] = {
        {.id = INSN_lw, .rd = 5, .rs1 = 6, .rs2 = N, .size = 4, .stride = 4, .base = 0x80000000},
        {.id = INSN_add, .rd = 7, .rs1 = 5, .rs2 = N},
    };
    for (unsigned banks = 1; banks <= 64; banks *= 2) {
        struct simt_config config = config_of(SIMT_GTO);
        config.l1_banks = banks;
        struct rig *rig = rig_new(&config, script, COUNT(script), 2);
        const struct simt_counters *c = rig_run(rig, 1);
        const unsigned passes = banks < 32 ? 32 / banks : 1;
        assert_int_equal(c->cycles, 148 + passes - 1);
        assert_int_equal(c->l1_passes, 2 * passes);
        assert_int_equal(c->l1_words[0], 2 * 31);
        assert_int_equal(c->l1_words[1], 0);
        rig_free(rig);
    }
    /* every fourth word of 16, as of objects of 16 bytes: two of 8 banks have two each */
    assert_int_equal(line_banks_passes(0x8888, 8), 2);
    assert_int_equal(line_banks_passes(0x8888, 16), 1);
    assert_int_equal(line_banks_passes(0x8888, 4), 4);
    assert_int_equal(line_banks_passes(UINT64_C(1) << 63, 64), 1);
}

/* Half of the lanes access one bank of shared memory: passes from 1 to 16. The others access one line each,
 * from 17 to 32. The last is answered 100 clocks later, passes the cache in 4, and its value is ready 18
 * clocks later: 154. */
static void both_parts_of_an_access_take_time(void **state)
{
    (void)state;
    static const struct rig_step script[] = {
        {.id = INSN_lw,
         .rd = 5,
         .rs1 = 6,
         .rs2 = N,
         .size = 4,
         .stride = 256,
         .base = 0x80000000,
         .shared = 0x00ff00ff},
        {.id = INSN_add, .rd = 7, .rs1 = 5, .rs2 = N},
    };
    struct simt_config config = config_of(SIMT_GTO);
    struct rig *rig = rig_new(&config, script, COUNT(script), 1);
    const struct simt_counters *c = rig_run(rig, 1);
    assert_int_equal(c->cycles, 155);
    assert_int_equal(c->shared_accesses, 1);
    assert_int_equal(c->shared_passes, 16);
    assert_int_equal(c->requests, 16);
    assert_int_equal(rig->memory.seen[MEM_READ], 16);
    rig_free(rig);
}

/* All lanes add to one word: 32 requests, one per clock from 1 to 32, the last answered at 132; an
 * instruction that uses it issues at 150. The line, which a load has brought in, is invalidated in the
 * cache. */
static void atomics_pass_the_cache(void **state)
{
    (void)state;
    static const struct rig_step script[] = {
        {.id = INSN_lw, .rd = 8, .rs1 = 6, .rs2 = N, .size = 4, .base = 0x80000000},
        {.id = INSN_add, .rd = 7, .rs1 = 8, .rs2 = N},                                     /* at 123 */
        {.id = INSN_amoadd_w, .rd = 5, .rs1 = 6, .rs2 = N, .size = 4, .base = 0x80000000}, /* at 124 */
        {.id = INSN_add, .rd = 7, .rs1 = 5, .rs2 = N},
    };
    struct simt_config config = config_of(SIMT_GTO);
    struct rig *rig = rig_new(&config, script, COUNT(script), 1);
    const struct simt_counters *c = rig_run(rig, 1);
    assert_int_equal(c->cycles, 124 + 150 + 1);
    assert_int_equal(c->atomic_requests, 32);
    assert_int_equal(rig->memory.seen[MEM_WRITE], 32);
    assert_int_equal(cache_line_state(rig->l1, 0x80000000), CACHE_INVALID);
    rig_free(rig);
}

/* A fence waits for the load before it, although its value is not used: sent at 5, answered at 105. */
static void fences_wait(void **state)
{
    (void)state;
    static const struct rig_step script[] = {
        {.id = INSN_lw, .rd = 5, .rs1 = 6, .rs2 = N, .size = 4, .base = 0x80000000},
        {.id = INSN_fence, .rd = N, .rs1 = N, .rs2 = N},
    };
    struct simt_config config = config_of(SIMT_GTO);
    struct rig *rig = rig_new(&config, script, COUNT(script), 1);
    const struct simt_counters *c = rig_run(rig, 1);
    assert_int_equal(c->cycles, 106);
    rig_free(rig);
}

/* Four warps, each with a chain of additions as long as its number, meet at a barrier: all continue 22 clocks
 * after the last arrival. */
static void barriers_hold_the_block(void **state)
{
    (void)state;
    static const struct rig_step script[] = {
        {.id = INSN_add, .rd = 5, .rs1 = 5, .rs2 = N},
        {.id = INSN_csrrw, .rd = N, .rs1 = N, .rs2 = N, .event = WARP_BARRIER},
        {.id = INSN_add, .rd = 6, .rs1 = 6, .rs2 = N},
    };
    struct simt_config config = config_of(SIMT_ROUND_ROBIN);
    struct rig *rig = rig_new(&config, script, COUNT(script), 10);
    const struct simt_counters *c = rig_run(rig, 4);
    /* Two warps per scheduler. The first additions issue in clocks 0 and 1, arrivals in clock 1 or 2 or
     * later. From the last arrival, at 3, each round takes 22 clocks, then additions (6, and 5 of the next
     * round) and arrivals of two warps, 6 issue slots. */
    assert_int_equal(c->barriers, 10);
    assert_int_equal(c->instructions, 4 * 3 * 10);
    assert_in_range(c->cycles, 10 * (22 + 4), 10 * (22 + 6) + 2);
    assert_true(c->stalls[0][SIMT_STALL_control] > 0);
    rig_free(rig);
}

/* Loads whose values are not used fill the pipeline: 64 MSHRs, then the cache, then the queue of 8. */
static void memory_fills_up(void **state)
{
    (void)state;
    static const struct rig_step script[] = {
        {.id = INSN_lw,
         .rd = N,
         .rs1 = 6,
         .rs2 = N,
         .size = 4,
         .stride = 4,
         .advance = 128,
         .base = 0x80000000},
    };
    struct simt_config config = config_of(SIMT_GTO);
    struct rig *rig = rig_new(&config, script, COUNT(script), 1000);
    const struct simt_counters *c = rig_run(rig, 1);
    /* 64 lines, looked up at 1 to 64, are answered at 105 to 168, when the next 64 are looked up. The last of
     * 1000 = 15 * 64 + 40 is looked up at 1 + 15 * 104 + 39 = 1600 and answered at 1704. It issued 8 clocks
     * before its lookup, at 1592: until then 1000 clocks issued, and the others found no room. */
    assert_int_equal(c->cycles, 1704);
    assert_int_equal(c->stalls[0][SIMT_STALL_memory_full], 1593 - 1000);
    rig_free(rig);
}

/* The policies differ: greedy stays with a warp while it can issue; round-robin does not. */
static void policies_choose(void **state)
{
    (void)state;
    static const struct rig_step script[] = {{.id = INSN_add, .rd = N, .rs1 = 6, .rs2 = 7}};
    struct simt_config config = config_of(SIMT_GTO);
    config.schedulers = 1;
    struct rig *rig = rig_new(&config, script, COUNT(script), 3);
    rig_place(rig, 0, 3, 0);
    event_queue_run(&rig->queue, CLOCK_NEVER);
    assert_string_equal(rig->order, "aaabbbccc");
    rig_free(rig);
    config.policy = SIMT_ROUND_ROBIN;
    rig = rig_new(&config, script, COUNT(script), 3);
    rig_place(rig, 0, 3, 0);
    event_queue_run(&rig->queue, CLOCK_NEVER);
    /* Round-robin begins after slot 0. */
    assert_string_equal(rig->order, "bcabcabca");
    rig_free(rig);
}

/* Each warp executes ten instructions and a branch. Warp a branches at clock 10, so it can continue at 32.
 * Warp c, which has issued from 22 on, then has only its branch left. Greedy issues c's branch first; then
 * the oldest, a, continues. */
static void greedy_comes_before_oldest(void **state)
{
    (void)state;
    struct rig_step script[20];
    for (unsigned i = 0; i < COUNT(script); i++)
        script[i] = (struct rig_step){.id = i == 10 ? INSN_beq : INSN_add, .rd = N, .rs1 = 6, .rs2 = 7};
    struct simt_config config = config_of(SIMT_GTO);
    config.schedulers = 1;
    struct rig *rig = rig_new(&config, script, COUNT(script), 1);
    rig_place(rig, 0, 3, 0);
    event_queue_run(&rig->queue, CLOCK_NEVER);
    assert_string_equal(rig->order, "aaaaaaaaaaabbbbbbbbbbbcccccccccccaaaaaaaaabbbbbbbbbccccccccc");
    rig_free(rig);
}

/* Warps, threads, blocks, registers and scratchpad limit the resident blocks. 32768 registers suffice for 32
 * warps of 32 threads with 32 registers each. */
static void blocks_fit_or_not(void **state)
{
    (void)state;
    struct simt_config config = config_of(SIMT_GTO);
    const struct simt_need whole = {.warps = 32, .threads = 1024, .registers = 32, .scratchpad = 48 << 10};
    struct simt_need need = whole;
    assert_true(simt_could(&config, &need));
    need.registers++;
    assert_false(simt_could(&config, &need));
    need = whole;
    need.scratchpad++;
    assert_false(simt_could(&config, &need));
    need = (struct simt_need){.warps = 49, .threads = 49};
    assert_false(simt_could(&config, &need));
    need = (struct simt_need){.warps = 1, .threads = 1537};
    assert_false(simt_could(&config, &need));
    static const struct rig_step script[] = {{.id = INSN_add, .rd = 5, .rs1 = 5, .rs2 = N}};
    struct rig *rig = rig_new(&config, script, 1, 1);
    need = (struct simt_need){.warps = 1, .threads = 32};
    for (unsigned i = 0; i < 8; i++) {
        assert_true(simt_fits(rig->simt, &need));
        rig_place(rig, i, 1, i);
    }
    assert_false(simt_fits(rig->simt, &need));
    event_queue_run(&rig->queue, CLOCK_NEVER);
    assert_int_equal(rig->ended, 8);
    assert_true(simt_fits(rig->simt, &whole));
    rig_free(rig);
}

/* 1000 warps need 16 words of a set. Independent additions, 1000 * 40 on 2 schedulers, take 20000 clocks. */
static void a_thousand_warps_issue(void **state)
{
    (void)state;
    static const struct rig_step script[] = {{.id = INSN_add, .rd = N, .rs1 = 6, .rs2 = 7}};
    for (enum simt_policy policy = SIMT_GTO; policy <= SIMT_ROUND_ROBIN; policy++) {
        struct simt_config config = config_of(policy);
        config.warps = SIMT_WARPS;
        config.threads = SIMT_WARPS * WARP_LANES;
        struct rig *rig = rig_new(&config, script, COUNT(script), 40);
        const struct simt_counters *c = rig_run(rig, 1000);
        assert_int_equal(c->instructions, 40000);
        assert_in_range(c->cycles, 20000, 20000 + ALU);
        rig_free(rig);
    }
}

/* Two rounds of 130 warps: round-robin begins after slot 0 and passes through all words of the set;
 * greedy-then-oldest finishes one warp after another. */
static void order_crosses_words(void **state)
{
    (void)state;
    static const struct rig_step script[] = {{.id = INSN_add, .rd = N, .rs1 = 6, .rs2 = 7}};
    for (enum simt_policy policy = SIMT_GTO; policy <= SIMT_ROUND_ROBIN; policy++) {
        struct simt_config config = config_of(policy);
        config.schedulers = 1;
        config.warps = 130;
        config.threads = 130 * WARP_LANES;
        struct rig *rig = rig_new(&config, script, COUNT(script), 2);
        rig_place(rig, 0, 130, 0);
        event_queue_run(&rig->queue, CLOCK_NEVER);
        assert_int_equal(rig->order_count, 260);
        for (unsigned i = 0; i < 260; i++)
            assert_int_equal(rig->order[i], (char)('a' + (policy == SIMT_GTO ? i / 2 : (i + 1) % 130)));
        rig_free(rig);
    }
}

/* With branches of latency 1, greedy-then-oldest would stay with each warp to its end, but steps that spin
 * let other warps issue. */
static void spinning_warps_stand_back(void **state)
{
    (void)state;
    for (unsigned spins = 0; spins < 2; spins++) {
        const struct rig_step script[] = {{.id = INSN_beq, .rd = N, .rs1 = 6, .rs2 = 7, .spins = spins}};
        struct simt_config config = config_of(SIMT_GTO);
        config.schedulers = 1;
        config.work[SIMT_WORK_branch].latency = 1;
        struct rig *rig = rig_new(&config, script, COUNT(script), 3);
        rig_place(rig, 0, 3, 0);
        event_queue_run(&rig->queue, CLOCK_NEVER);
        assert_string_equal(rig->order, spins ? "abcabcabc" : "aaabbbccc");
        rig_free(rig);
    }
}

static void check_rounds(void *owner, uint64_t now)
{
    struct rig *rig = owner;
    (void)now;
    assert_in_range(rig->warps[1].round, 1, SIMT_PATIENCE + 10);
    assert_in_range(rig->warps[0].round, SIMT_PATIENCE, 2 * SIMT_PATIENCE);
}

/* One warp could issue in each clock, but the other must not starve: after 2 * SIMT_PATIENCE clocks at most
 * it becomes the oldest, until the first one starves. */
static void nobody_starves(void **state)
{
    (void)state;
    static const struct rig_step script[] = {{.id = INSN_add, .rd = N, .rs1 = 6, .rs2 = 7}};
    struct simt_config config = config_of(SIMT_GTO);
    config.schedulers = 1;
    struct rig *rig = rig_new(&config, script, COUNT(script), 4 * SIMT_PATIENCE);
    rig_place(rig, 0, 2, 0);
    struct event then;
    event_init(&then, 9, check_rounds, rig);
    event_schedule(&rig->queue, &then, (uint64_t)CLOCK * (2 * SIMT_PATIENCE + 10));
    event_queue_run(&rig->queue, CLOCK_NEVER);
    assert_int_equal(rig->ended, 1);
    rig_free(rig);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(enough_warps_fill_the_schedulers),
        cmocka_unit_test(few_warps_are_bound_by_latency),
        cmocka_unit_test(units_bound_issue),
        cmocka_unit_test(branches_stop_their_warp),
        cmocka_unit_test(loads_take_their_way),
        cmocka_unit_test(stalls_are_shown_by_cause),
        cmocka_unit_test(requests_say_whether_they_diverge),
        cmocka_unit_test(lines_go_one_a_clock),
        cmocka_unit_test(banks_take_passes),
        cmocka_unit_test(banks_of_the_cache_take_passes),
        cmocka_unit_test(both_parts_of_an_access_take_time),
        cmocka_unit_test(atomics_pass_the_cache),
        cmocka_unit_test(fences_wait),
        cmocka_unit_test(barriers_hold_the_block),
        cmocka_unit_test(memory_fills_up),
        cmocka_unit_test(policies_choose),
        cmocka_unit_test(greedy_comes_before_oldest),
        cmocka_unit_test(blocks_fit_or_not),
        cmocka_unit_test(a_thousand_warps_issue),
        cmocka_unit_test(order_crosses_words),
        cmocka_unit_test(spinning_warps_stand_back),
        cmocka_unit_test(nobody_starves),
        cmocka_unit_test(users_wait_for_units),
        cmocka_unit_test(units_take_one_of_a_warp),
    };
    return cmocka_run_group_tests_name("a multiprocessor under scripted warps", tests, NULL, NULL);
}
