/* The memories of standards/jedec against the data sheets: commands of a memory under several patterns of requests, checked rule by
 * rule over the trace. The numbers are those of the sheets, in ns or clocks, rounded here; nothing comes from the tables or the
 * checker. A distance that is too short breaks a rule; one that never becomes as short as the rule allows is a value that is too
 * large, so every change of a value fails, in one direction or the other. */
#include "tests/dram/rig.h"

enum { CLIENTS = 96, COMMANDS = 1 << 18, FAR = 1000000 };

/* A data sheet. Times in ps; those of `ck` in clocks. wide and column: clocks of an activate and of a column command, from the last of
 * which times count if `late` is set. */
struct sheet {
    enum dram_standard standard;
    uint32_t tCK, wide, column, late;
    uint32_t RL, WL, BL, turn; /* clocks; turn: between the data of a read and of a write */
    uint32_t tRCDRD, tRCDWR, tRP, tRPab, tRAS, tRC, tWR, tRTP, tRRDS, tRRDL, tFAW, tWTRS, tWTRL;
    uint32_t CCDS, CCDL, CCDLWR; /* clocks */
    uint32_t tRFC, tREFI, PPD;   /* PPD: clocks */
    uint32_t tRFCpb, tREFpbACT,
        tREFpb; /* a refresh of one bank: to its own activate, to another's, to the next refresh */
};

/* Sources: DDR4: JESD79-4 of DDR4-3200AA and 8 Gb x8. DDR5: the SPD bytes of a 16 Gb x8 module (tRFC1, tRFCsb, tRRD_L, tCCD_L,
 * tCCD_L_WR2, tFAW, tWTR_L, tWTR_S, tRTP, tWR, tRAS), CL 34 of the bin AN; times count from a command's second clock. LPDDR5: JESD209-5,
 * 16 banks in groups, CKR 4:1, BL/n_min 2, BL/n_max 4 (4 clocks from a write's first data to tWTR_L); tRC is
 * tRAS and tRP, each rounded up. GDDR6, HBM2, HBM3: no sheet is public;
 * Ramulator 2's tables of 14 Gb/s, 2 Gb/s and 6.4 Gb/s in clocks, a precharge of HBM3 half a clock later than its tables say. */
static const struct sheet sheets[] = {
    {DRAM_STANDARD_ddr4_3200,
     625,
     1,
     1,
     0,
     22,
     16,
     4,
     2,
     13750,
     13750,
     13750,
     13750,
     32000,
     45750,
     15000,
     7500,
     2500,
     4900,
     21000,
     2500,
     7500,
     4,
     8,
     8,
     350000,
     7800000,
     1,
     0,
     0,
     0},
    {DRAM_STANDARD_ddr5_4800,
     416,
     2,
     2,
     1,
     34,
     32,
     8,
     4,
     14144,
     14144,
     14144,
     14144,
     32000,
     46144,
     29952,
     7488,
     3328,
     4992,
     13312,
     2496,
     9984,
     8,
     12,
     24,
     295000,
     3900000,
     2,
     0,
     0,
     0},
    {DRAM_STANDARD_lpddr5_6400,
     1250,
     2,
     1,
     0,
     17,
     9,
     2,
     2,
     18000,
     18000,
     18000,
     21000,
     42000,
     61250,
     34000,
     10000,
     5000,
     5000,
     20000,
     6250,
     14500,
     2,
     4,
     4,
     210000,
     3906000,
     2,
     120000,
     7500,
     90000},
    {DRAM_STANDARD_gddr6_14,
     570,
     1,
     1,
     0,
     24,
     6,
     2,
     5,
     15000,
     9120,
     15000,
     15000,
     30000,
     45000,
     15000,
     2280,
     4000,
     4000,
     16000,
     5130,
     6270,
     2,
     4,
     4,
     120000,
     1900000,
     1,
     60000,
     8550,
     8550},
    {DRAM_STANDARD_hbm2,
     1000,
     2,
     1,
     1,
     14,
     5,
     2,
     2,
     14000,
     12000,
     14000,
     14000,
     34000,
     48000,
     16000,
     5000,
     4000,
     4000,
     15000,
     6000,
     8000,
     2,
     4,
     4,
     260000,
     3900000,
     1,
     160000,
     8000,
     8000},
    {DRAM_STANDARD_hbm3,
     625,
     2,
     1,
     1,
     20,
     10,
     2,
     8,
     19375,
     9375,
     16250,
     16250,
     28125,
     45000,
     21250,
     6250,
     2500,
     3125,
     15000,
     4375,
     6250,
     2,
     4,
     4,
     350000,
     3900000,
     2,
     200000,
     8000,
     8000},
};

struct trace {
    struct dram_observer observer;
    const struct sheet *sheet;
    struct dram_record *records;
    unsigned count;
    uint64_t least[64]; /* by rule: shortest distance seen, over all patterns */
    const char *names[64];
    uint64_t wanted[64];
    unsigned rules;
};

static void take(void *context, const struct dram_record *record)
{
    struct trace *trace = context;
    if (trace->count < COMMANDS)
        trace->records[trace->count++] = *record;
}

static uint64_t clocks(const struct sheet *sheet, uint32_t time)
{
    return (time + sheet->tCK - 1) / sheet->tCK;
}

/* The clock of a command that times count from. */
static uint64_t clock_of(const struct sheet *sheet, const struct dram_record *record)
{
    const bool moves = record->command == DRAM_RD || record->command == DRAM_WR ||
                       record->command == DRAM_RDA || record->command == DRAM_WRA;
    const uint32_t last = record->command == DRAM_ACT ? sheet->wide - 1 : moves ? sheet->column - 1 : 0;
    return record->cycle + (sheet->late ? last : 0);
}

enum place { BANK, GROUP, OTHER_GROUP, OTHER_BANK, RANK };

static bool related(const struct dram_record *a, const struct dram_record *b, enum place place)
{
    const bool group = a->group == b->group, bank = group && a->bank == b->bank;
    switch (place) {
    case BANK: return bank;
    case GROUP: return group;
    case OTHER_GROUP: return !group;
    case OTHER_BANK: return !bank;
    default: return true;
    }
}

/* Between each command of `later` and the last one of `earlier` before it at the place: at least so many clocks. */
static void gap(struct trace *trace, const char *name, unsigned earlier, unsigned later, enum place place,
                uint64_t least)
{
    const unsigned rule = trace->rules++;
    trace->names[rule] = name;
    trace->wanted[rule] = least;
    for (unsigned i = 0; i < trace->count; i++) {
        const struct dram_record *record = &trace->records[i];
        for (unsigned j = i; later >> record->command & 1 && j-- > 0;) {
            const struct dram_record *past = &trace->records[j];
            if (record->cycle - past->cycle > least + 8)
                break;
            if (!(earlier >> past->command & 1) || !related(past, record, place))
                continue;
            const uint64_t distance = clock_of(trace->sheet, record) - clock_of(trace->sheet, past);
            if (distance < least)
                fail_msg("%s, %s: cycle %llu comes %llu clocks after its like, not %llu",
                         dram_standard_name(trace->sheet->standard), name, (unsigned long long)record->cycle,
                         (unsigned long long)distance, (unsigned long long)least);
            if (distance < trace->least[rule])
                trace->least[rule] = distance;
            break;
        }
    }
}

/* Of five activates, the last comes at least tFAW after the first. */
static void four_activates(struct trace *trace, uint64_t least)
{
    uint64_t past[4] = {0};
    const unsigned rule = trace->rules++;
    trace->names[rule] = "tFAW";
    trace->wanted[rule] = least;
    for (unsigned i = 0, n = 0; i < trace->count; i++) {
        if (trace->records[i].command != DRAM_ACT)
            continue;
        const uint64_t distance = trace->records[i].cycle - past[n % 4];
        if (n >= 4 && distance < least)
            fail_msg("%s: five activates in %llu clocks", dram_standard_name(trace->sheet->standard),
                     (unsigned long long)distance);
        if (n >= 4 && distance < trace->least[rule])
            trace->least[rule] = distance;
        past[n++ % 4] = trace->records[i].cycle;
    }
}

/* Refreshes come every tREFI on average, each bank's in its turn. */
static void refreshes(const struct trace *trace)
{
    unsigned count = 0;
    uint64_t last = 0, interval = trace->sheet->tREFI / trace->sheet->tCK;
    for (unsigned i = 0; i < trace->count; i++) {
        const enum dram_command command = trace->records[i].command;
        if (command == DRAM_REFB)
            interval = trace->sheet->tREFI / trace->sheet->tCK / 16;
        if (command == DRAM_REF || command == DRAM_REFB) {
            count++;
            last = trace->records[i].cycle;
        }
    }
    assert_true(count > 3);
    assert_in_range(last, count * interval, count * interval + clocks(trace->sheet, trace->sheet->tRC) + 100);
}

enum {
    ACT = 1 << DRAM_ACT,
    PRE = 1 << DRAM_PRE,
    PREA = 1 << DRAM_PREA,
    REF = 1 << DRAM_REF,
    REFB = 1 << DRAM_REFB,
    RD = 1 << DRAM_RD,
    RDA = 1 << DRAM_RDA,
    WR = 1 << DRAM_WR,
    WRA = 1 << DRAM_WRA,
};

/* The rules of JESD79-4, JESD79-5, JESD209-5, JESD250, JESD235 and JESD238 that one rank has. */
static void check_rules(struct trace *trace)
{
    const struct sheet *s = trace->sheet;
    const uint64_t RP = clocks(s, s->tRP), write_end = s->WL + s->BL;
    trace->rules = 0;
    gap(trace, "tRCDRD", ACT, RD | RDA, BANK, clocks(s, s->tRCDRD));
    gap(trace, "tRCDWR", ACT, WR | WRA, BANK, clocks(s, s->tRCDWR));
    gap(trace, "tRAS", ACT, PRE, BANK, clocks(s, s->tRAS));
    gap(trace, "tRC", ACT, ACT, BANK, clocks(s, s->tRC));
    gap(trace, "tRP", PRE, ACT, BANK, RP);
    gap(trace, "tRP before a refresh", PRE, REFB, BANK, RP);
    gap(trace, "tRPab", PREA, REF, RANK, clocks(s, s->tRPab));
    gap(trace, "tRTP", RD, PRE, BANK, clocks(s, s->tRTP));
    gap(trace, "tRTP + tRP", RDA, ACT, BANK, clocks(s, s->tRTP) + RP);
    gap(trace, "tWR", WR, PRE, BANK, write_end + clocks(s, s->tWR));
    gap(trace, "tWR + tRP", WRA, ACT, BANK, write_end + clocks(s, s->tWR) + RP);
    gap(trace, "tRRDS", ACT, ACT, OTHER_GROUP, clocks(s, s->tRRDS));
    gap(trace, "tRRDL", ACT, ACT, GROUP, clocks(s, s->tRRDL));
    gap(trace, "tCCDS", RD | RDA, RD | RDA, OTHER_GROUP, s->CCDS);
    gap(trace, "tCCDL", RD | RDA, RD | RDA, GROUP, s->CCDL);
    gap(trace, "tCCDS of writes", WR | WRA, WR | WRA, OTHER_GROUP, s->CCDS);
    gap(trace, "tCCDL of writes", WR | WRA, WR | WRA, GROUP, s->CCDLWR);
    gap(trace, "read to write", RD | RDA, WR | WRA, RANK, s->RL + s->BL + s->turn - s->WL);
    gap(trace, "tWTRS", WR | WRA, RD | RDA, OTHER_GROUP, write_end + clocks(s, s->tWTRS));
    gap(trace, "tWTRL", WR | WRA, RD | RDA, GROUP, write_end + clocks(s, s->tWTRL));
    gap(trace, "tRFC", REF, ACT | REF, RANK, clocks(s, s->tRFC));
    gap(trace, "tPPD", PRE | PREA, PRE | PREA, OTHER_BANK, s->PPD);
    if (s->tRFCpb) {
        gap(trace, "tRFCpb", REFB, ACT | REFB, BANK, clocks(s, s->tRFCpb));
        gap(trace, "refresh to activate", REFB, ACT, OTHER_BANK, clocks(s, s->tREFpbACT));
        gap(trace, "refresh to refresh", REFB, REFB, OTHER_BANK, clocks(s, s->tREFpb));
        gap(trace, "activate to refresh", ACT, REFB, OTHER_BANK, clocks(s, s->tRRDS));
    }
    four_activates(trace, clocks(s, s->tFAW));
}

/* A pattern of requests: how many groups, banks, rows and columns they use, the share of writes in eighths, how long a client waits
 * between requests at most, and the memory's policies. */
struct pattern {
    unsigned groups, banks, rows, columns, writes, clients, pause;
    enum dram_page page;
    enum dram_refresh refresh;
};

static const struct pattern patterns[] = {
    {8, 4, 4096, 32, 0, 64, 1, DRAM_PAGE_OPEN, DRAM_REFRESH_ALL},   /* random reads */
    {8, 4, 4096, 32, 3, 64, 1, DRAM_PAGE_OPEN, DRAM_REFRESH_ALL},   /* random */
    {8, 4, 4096, 32, 8, 64, 1, DRAM_PAGE_OPEN, DRAM_REFRESH_ALL},   /* random writes */
    {8, 4, 4096, 32, 3, 64, 1, DRAM_PAGE_CLOSED, DRAM_REFRESH_ALL}, /* with auto-precharge */
    {8, 1, 1, 32, 4, 64, 1, DRAM_PAGE_OPEN, DRAM_REFRESH_ALL},      /* row hits in all groups */
    {1, 4, 1, 32, 4, 64, 1, DRAM_PAGE_OPEN, DRAM_REFRESH_ALL},      /* row hits in one group */
    {1, 4, 64, 32, 4, 64, 1, DRAM_PAGE_OPEN, DRAM_REFRESH_ALL},     /* rows of one group */
    {1, 1, 2, 32, 4, 2, 60, DRAM_PAGE_OPEN, DRAM_REFRESH_ALL},      /* two rows of a bank */
    {1, 1, 2, 32, 4, 2, 60, DRAM_PAGE_CLOSED, DRAM_REFRESH_ALL},
    {1, 1, 2, 32, 0, 24, 100, DRAM_PAGE_CLOSED, DRAM_REFRESH_ALL}, /* several reads of a row */
    {1, 1, 2, 32, 0, 24, 1, DRAM_PAGE_CLOSED, DRAM_REFRESH_ALL},
    {2, 1, 2, 8, 4, 4, 90, DRAM_PAGE_OPEN, DRAM_REFRESH_ALL}, /* few requests, now and then */
    {8, 4, 64, 8, 3, 8, 200, DRAM_PAGE_CLOSED, DRAM_REFRESH_ALL},
    {8, 4, 4096, 32, 3, 64, 1, DRAM_PAGE_OPEN, DRAM_REFRESH_BANK}, /* refreshes of one bank */
    {8, 4, 64, 32, 3, 8, 200, DRAM_PAGE_CLOSED, DRAM_REFRESH_BANK},
    {1, 1, 1, 32, 0, 1, 100, DRAM_PAGE_OPEN, DRAM_REFRESH_BANK},
};

static void send_one(struct probe *probe, const struct pattern *pattern)
{
    struct rig *rig = probe->rig;
    const struct dram_config *config = &rig->memory.common.config;
    const uint32_t groups = pattern->groups < config->groups ? pattern->groups : config->groups;
    const uint32_t group = (uint32_t)(rig_random(rig) % groups),
                   bank = (uint32_t)(rig_random(rig) % pattern->banks);
    const uint32_t row = (uint32_t)(rig_random(rig) % pattern->rows);
    const uint64_t address =
        address_of(rig, group, bank, row, (uint32_t)(rig_random(rig) % pattern->columns));
    (void)probe_send(probe, rig_random(rig) % 8 < pattern->writes ? MEM_WRITE : MEM_READ, address,
                     config->burst_bytes);
}

/* Records the commands of a memory under the pattern. */
static void record(struct trace *trace, const struct pattern *pattern)
{
    struct dram_config config = one_channel(trace->sheet->standard);
    config.page = pattern->page;
    config.refresh = pattern->refresh;
    trace->count = 0;
    trace->observer = (struct dram_observer){.command = take, .context = trace};
    struct rig *rig = rig_new(&config, CLIENTS, &trace->observer);
    const uint64_t five = 5 * trace->sheet->tREFI / trace->sheet->tCK;
    for (uint64_t cycle = 1; cycle < 30000 || cycle < five; cycle++) {
        for (unsigned i = 0; i < pattern->clients; i++)
            if (!rig->probes[i].away && rig_random(rig) % pattern->pause == 0)
                send_one(&rig->probes[i], pattern);
        rig_until(rig, cycle);
    }
    while (rig->finished && event_queue_step(&rig->queue))
        continue;
    rig_free(rig);
}

/* Rules whose distance is never seen: another one is longer, the memory has no such command, or the refreshes of a bank come one
 * at a time, tREFI / 16 apart. */
static bool is_hidden(const struct trace *trace, unsigned rule)
{
    const struct sheet *s = trace->sheet;
    const char *name = trace->names[rule];
    if (strcmp(name, "tFAW") == 0) /* by four times tRRDS */
        return clocks(s, s->tFAW) < 4 * clocks(s, s->tRRDS);
    if (strcmp(name, "tRP before a refresh") == 0)
        return !s->tRFCpb;
    return strcmp(name, "refresh to refresh") == 0;
}

static void commands_keep_the_sheets(void **state)
{
    (void)state;
    struct trace *trace = calloc(1, sizeof *trace);
    trace->records = calloc(COMMANDS, sizeof *trace->records);
    for (unsigned i = 0; i < sizeof sheets / sizeof *sheets; i++) {
        trace->sheet = &sheets[i];
        for (unsigned rule = 0; rule < 64; rule++)
            trace->least[rule] = FAR;
        unsigned total = 0;
        for (unsigned j = 0; j < sizeof patterns / sizeof *patterns; j++) {
            if (patterns[j].refresh == DRAM_REFRESH_BANK && !sheets[i].tRFCpb)
                continue;
            record(trace, &patterns[j]);
            check_rules(trace);
            refreshes(trace);
            total += trace->count;
        }
        print_message("%-12s %u commands, %u rules\n", dram_standard_name(sheets[i].standard), total,
                      trace->rules);
        for (unsigned rule = 0; rule < trace->rules; rule++)
            if (trace->least[rule] != trace->wanted[rule] && !is_hidden(trace, rule))
                fail_msg("%s, %s: %llu clocks are allowed, but the shortest distance is %llu\n",
                         dram_standard_name(sheets[i].standard), trace->names[rule],
                         (unsigned long long)trace->wanted[rule], (unsigned long long)trace->least[rule]);
    }
    free(trace->records);
    free(trace);
}

int main(void)
{
    const struct CMUnitTest tests[] = {cmocka_unit_test(commands_keep_the_sheets)};
    return cmocka_run_group_tests_name("DRAM data sheets", tests, NULL, NULL);
}
