/* A standard with additional commands, and an agent that issues one of them in banks that it claims from time
 * to time. Timing and checker agree on the commands; requests and refresh continue beside the agent; none of
 * them starves. */
#include "tests/dram/rig.h"
#include "tests/dram/text_sink.h"

#include "emu/dram/standard.h"

#define DRAM_ROWS         "tests/dram/toy.def"
#define DRAM_NAME(prefix) prefix##toy
#include "emu/dram/standards/rows.h"
#include "tests/isa/random.h"

static const struct dram_rows toy_rows = {"toy", commands_toy, config_toy, table_toy, source_toy};

static const enum dram_command TOY_MAC = (enum dram_command)DRAM_MAC_toy;
enum { TOY_COMMANDS = after_own_toy };

static struct dram_config toy_config(void)
{
    struct dram_config config = one_channel(DRAM_STANDARD_ddr3_1600k);
    config_toy(&config);
    config.custom = &toy_rows;
    return config;
}

/* Random commands, each as early as the timing state allows: the checker, which compares them in pairs,
 * accepts them, and refuses them one clock earlier. */
struct walk {
    struct dram_config config;
    struct dram_rules rules;
    struct dram_timing timing;
    struct dram_checker checker;
    struct dram_checker_channel before;
    uint64_t open, random, last;
    unsigned early; /* commands tried a clock too early */
    unsigned count; /* commands of the standard */
};

static bool fits(const struct walk *walk, enum dram_command command, uint64_t banks)
{
    const struct dram_command_row *row = &dram_commands(&walk->config)[command];
    switch (row->needs) {
    case DRAM_NEEDS_OPEN: return (walk->open & banks) == banks;
    case DRAM_NEEDS_CLOSED: return (walk->open & banks) == 0;
    default: return true;
    }
}

static struct dram_record walk_record(const struct walk *walk, enum dram_command command, uint32_t bank,
                                      uint64_t cycle)
{
    const struct dram_config *c = &walk->config;
    const enum dram_extent extent = dram_commands(c)[command].extent;
    return (struct dram_record){
        .cycle = cycle,
        .command = command,
        .rank = extent == DRAM_EXTENT_CHANNEL ? 0 : bank / (c->groups * c->banks),
        .group = extent == DRAM_EXTENT_ALIKE || extent >= DRAM_EXTENT_RANK ? 0 : bank / c->banks % c->groups,
        .bank = extent >= DRAM_EXTENT_GROUP ? 0 : bank % c->banks};
}

static void step(struct walk *walk)
{
    struct dram_checker *checker = &walk->checker;
    random_step(&walk->random);
    enum dram_command command = (enum dram_command)((walk->random >> 33) % walk->count);
    uint32_t bank = (uint32_t)(walk->random >> 50) % dram_config_channel_banks(&walk->config);
    uint64_t banks = dram_timing_banks(&walk->rules, command, bank);
    const enum dram_change change = dram_commands(&walk->config)[command].change;
    if (command == DRAM_REFB || !fits(walk, command, banks))
        return;
    uint64_t cycle = dram_timing_ready(&walk->timing, command, bank);
    cycle = cycle > walk->last ? cycle : walk->last;
    struct dram_record record = walk_record(walk, command, bank, cycle - 1);
    if (cycle > walk->last) {
        walk->before = *checker->channels;
        assert_false(dram_checker_command(checker, &record));
        *checker->channels = walk->before;
        checker->violations = 0;
        checker->first.text[0] = '\0';
        walk->early++;
    }
    record.cycle = cycle;
    if (!dram_checker_command(checker, &record))
        fail_msg("%s", checker->first.text);
    dram_timing_issue(&walk->timing, command, bank, cycle);
    if (dram_commands(&walk->config)[command].extent == DRAM_EXTENT_ALIKE)
        dram_timing_spread(&walk->timing, command, bank, cycle);
    walk->open = change == DRAM_CHANGE_OPENS    ? walk->open | banks
                 : change == DRAM_CHANGE_CLOSES ? walk->open & ~banks
                                                : walk->open;
    walk->last = cycle;
}

static void walk_through(const struct dram_config *config, unsigned count)
{
    struct walk *walk = aligned_alloc(DRAM_LINE, (sizeof *walk + DRAM_LINE - 1) / DRAM_LINE * DRAM_LINE);
    memset(walk, 0, sizeof *walk);
    walk->config = *config;
    walk->config.refresh = DRAM_REFRESH_NONE;
    walk->count = count;
    dram_rules_init(&walk->rules, &walk->config);
    dram_timing_init(&walk->timing, &walk->rules);
    dram_checker_init(&walk->checker, &walk->config);
    for (unsigned i = 0; i < 20000; i++)
        step(walk);
    print_message("%u group(s): %llu commands, %u tried a clock early\n", config->groups,
                  (unsigned long long)walk->checker.commands, walk->early);
    assert_true(walk->early > 2000);
    dram_checker_free(&walk->checker);
    free(walk);
}

static void timing_and_checker_agree(void **state)
{
    (void)state;
    struct dram_config config = toy_config();
    for (unsigned groups = 1; groups <= 2; groups++) {
        config.groups = groups;
        /* few banks, so that whole groups and ranks are sometimes open or closed */
        config.banks = 4 / groups;
        config.bank_groups = groups > 1;
        walk_through(&config, TOY_COMMANDS);
    }
}

/* The same with the commands of AxRAM's accelerators, at once and staggered. */
static void accelerators_commands_agree(void **state)
{
    (void)state;
    struct dram_config config = one_channel(DRAM_STANDARD_gddr5_axram);
    config.banks = 2;
    for (unsigned stagger = 0; stagger <= 18; stagger += 9) {
        config.tACT4 = stagger * config.tCK;
        walk_through(&config, DRAM_COMMANDS);
    }
}

/* The agent: every PERIOD clocks it claims two banks, accumulates MACS columns of a row of each, in pieces of
 * PIECE commands that are not interrupted, and releases them. */
enum { PERIOD = 4000, MACS = 60, PIECE = 4, TOY_ROW = 77 };

struct toy {
    struct dram_agent agent;
    uint64_t mine;   /* banks of the current job */
    uint64_t todo;   /* banks in which the job is not finished */
    uint64_t wanted; /* banks to be yielded */
    unsigned macs;   /* in the current bank */
    unsigned jobs, yields, resumes;
    uint64_t started, longest; /* start cycle; clocks of the longest job */
    struct rig *rig;
    struct dram_observer watch;
};

static uint32_t present(const struct toy *toy)
{
    return (uint32_t)__builtin_ctzll(toy->todo);
}

static enum dram_command toy_next(const struct toy *toy)
{
    const struct dram_channel *channel = toy->agent.channel;
    uint32_t bank = present(toy);
    if (!(channel->open >> bank & 1))
        return DRAM_ACT;
    return channel->banks[bank].row == TOY_ROW ? TOY_MAC : DRAM_PRE;
}

static void toy_propose(void *owner, struct dram_choice *best)
{
    struct toy *toy = owner;
    const struct dram_channel *channel = toy->agent.channel;
    uint64_t usable = toy->agent.banks & ~dram_agent_barred(&toy->agent) & ~dram_agent_pending(&toy->agent);
    uint32_t bank = present(toy);
    if (!(usable >> bank & 1))
        return;
    enum dram_command command = toy_next(toy);
    uint64_t cycle = dram_timing_ready(&channel->timing, command, bank);
    dram_choice_offer(best, &toy->agent, cycle > channel->floor ? cycle : channel->floor,
                      dram_merit(DRAM_ORDER_ROW, toy->agent.age), command, bank);
}

static void toy_yield(struct toy *toy)
{
    uint64_t banks = toy->wanted;
    if (toy->macs % PIECE)
        banks &= ~(UINT64_C(1) << present(toy));
    toy->wanted &= ~banks;
    if (banks)
        dram_agent_yield(&toy->agent, banks);
}

static void toy_grant(void *owner, const struct dram_choice *choice)
{
    struct toy *toy = owner;
    struct dram_channel *channel = toy->agent.channel;
    bool mac = choice->command == TOY_MAC;
    dram_channel_issue(channel, (enum dram_command)choice->command, choice->bank, TOY_ROW,
                       mac ? toy->macs : 0);
    dram_agent_renew(&toy->agent);
    if (!mac)
        return;
    toy->macs++;
    toy_yield(toy);
    if (toy->macs < MACS)
        return;
    toy->macs = 0;
    toy->todo &= toy->todo - 1;
    if (toy->todo)
        return;
    toy->jobs++;
    toy->agent.wants = false;
    toy->agent.wake = (channel->floor / PERIOD + 1) * PERIOD;
    if (channel->floor - toy->started > toy->longest)
        toy->longest = channel->floor - toy->started;
    dram_agent_release(&toy->agent, toy->mine);
}

static void toy_wake(void *owner, uint64_t limit)
{
    struct toy *toy = owner;
    (void)limit;
    toy->started = toy->agent.channel->floor;
    toy->todo = toy->mine;
    toy->agent.wake = CLOCK_NEVER;
    toy->agent.wants = true;
    dram_agent_renew(&toy->agent);
    (void)dram_agent_claim(&toy->agent, toy->mine);
}

static void toy_suspend(void *owner, uint64_t banks)
{
    struct toy *toy = owner;
    toy->yields++;
    toy->wanted |= banks;
    toy_yield(toy);
}

static void toy_resume(void *owner, uint64_t banks)
{
    struct toy *toy = owner;
    toy->resumes++;
    toy->wanted &= ~banks;
}

static const struct dram_agent_ops toy_ops = {toy_propose, toy_grant, toy_wake, toy_suspend, toy_resume};

/* Requests do not use the agent's banks. */
static void watch(void *context, const struct dram_record *record)
{
    struct toy *toy = context;
    uint32_t bank = record->rank * 8 + record->bank;
    bool mine = toy->agent.banks >> bank & 1;
    assert_true(mine || record->command != TOY_MAC);
    if (record->command == DRAM_REF || record->command == DRAM_PREA) /* all banks have been yielded */
        assert_true((toy->agent.banks >> 8 * record->rank & 0xff) == 0);
    else if (mine)
        assert_true(record->command == TOY_MAC || record->command == DRAM_PRE ||
                    (record->command == DRAM_ACT && record->row == TOY_ROW));
}

/* Sets the cycle of the agent's next job. */
static void toy_start(struct toy *toy, uint64_t cycle)
{
    (void)dram_memory_reach(&toy->rig->memory, 0);
    toy->agent.wake = cycle;
    dram_agent_changed(&toy->agent);
    dram_memory_changed(&toy->rig->memory, 0);
}

/* A rig with the agent and no observer. */
static struct toy *toy_unwatched(const struct dram_config *config, unsigned probes)
{
    struct toy *toy = calloc(1, sizeof *toy);
    toy->rig = rig_unwatched(config, probes);
    toy->mine = UINT64_C(1) << 2 | UINT64_C(1) << 9;
    dram_agent_add(&toy->agent, dram_memory_reach(&toy->rig->memory, 0), &toy_ops, toy);
    return toy;
}

/* A rig with the agent and an observer, by default the checker. */
static struct toy *toy_new(const struct dram_config *config, unsigned probes, struct dram_observer *observer)
{
    struct toy *toy = toy_unwatched(config, probes);
    struct rig *rig = toy->rig;
    toy->watch = (struct dram_observer){.command = watch, .context = toy};
    dram_memory_observe(&rig->memory, &toy->watch);
    dram_memory_observe(&rig->memory, observer ? observer : dram_checker_observer(&rig->checker));
    return toy;
}

static void again(struct probe *probe, uint64_t now)
{
    struct rig *rig = probe->rig;
    uint64_t random = rig_random(rig);
    (void)now;
    uint64_t *slowest = (uint64_t *)&rig->probes[63].sent;
    if (probe->done && probe->done - probe->sent > *slowest)
        *slowest = probe->done - probe->sent;
    uint64_t address = random % 4 ? rig_random(rig) % 4096 * 8192 : rig_random(rig) % (UINT64_C(1) << 32);
    (void)probe_send(probe, random >> 8 & 3 ? MEM_READ : MEM_WRITE, address & ~UINT64_C(63), 64);
}

static void run_traffic(struct toy *toy, unsigned clients, uint64_t cycles)
{
    toy_start(toy, 500);
    for (unsigned i = 0; i < clients; i++) {
        toy->rig->probes[i].then = again;
        again(&toy->rig->probes[i], 0);
    }
    rig_until(toy->rig, cycles);
    dram_memory_sync(&toy->rig->memory, toy->rig->queue.now);
}

/* The agent works in busy channels: no rule is broken, jobs end, requests are answered, refreshes are
 * issued. */
static void agent_beside_traffic(void **state)
{
    (void)state;
    const uint64_t cycles = 400000;
    for (enum dram_page page = 0; page <= DRAM_PAGE_TIMEOUT; page++) {
        struct dram_config config = toy_config();
        config.page = page;
        struct toy *toy = toy_new(&config, 64, NULL);
        struct rig *rig = toy->rig;
        struct energy_ledger ledger;
        energy_init(&ledger);
        dram_memory_energy(&rig->memory, &ledger, scope_enter(NULL, "memory"));
        run_traffic(toy, 48, cycles);
        uint64_t slowest = rig->probes[63].sent / config.tCK;
        uint64_t refreshes = DRAM_MEMORY_SUM(&rig->memory, refreshes);
        uint64_t macs = rig->memory.slices[0].channel.counters.own[TOY_MAC - DRAM_OWN];
        print_message("%u jobs, the longest of %llu clocks; %u suspensions; slowest request %llu clocks\n",
                      toy->jobs, (unsigned long long)toy->longest, toy->yields, (unsigned long long)slowest);
        assert_true(toy->jobs >= cycles / PERIOD - 2);
        assert_true(toy->longest < PERIOD && slowest < 2 * PERIOD);
        assert_true(toy->yields > 10 && toy->resumes >= toy->yields - 1);
        assert_true(macs >= (uint64_t)toy->jobs * 2 * MACS && macs < (toy->jobs + 1ULL) * 2 * MACS);
        assert_true(refreshes + 2 >= 2 * (cycles / 6240));
        assert_true(rig->finished > cycles / 20);
        const struct energy_account *account = ledger.accounts[ledger.count - (TOY_COMMANDS - DRAM_OWN)];
        assert_string_equal(account->name, "memory.macs");
        assert_true(energy_of(account) == macs * 7000 * config.devices);
        energy_free(&ledger);
        rig_free(rig);
        free(toy);
    }
}

/* Without one of the agent's rules, the timing state allows commands too early, and the checker finds
 * them. */
static void missing_rules_are_found(void **state)
{
    (void)state;
    unsigned removed = 0;
    struct dram_config config = toy_config();
    struct dram_table table, less;
    dram_table_init(&table, &config);
    for (size_t i = 0; i < table.rule_count; i++) {
        const struct dram_rule *rule = &table.rules[i];
        bool follows = rule->later == 1U << TOY_MAC && rule->earlier & (DRAM_SET(ACT) | 1U << TOY_MAC);
        bool leads = rule->earlier == 1U << TOY_MAC && rule->later & DRAM_SET(PRE);
        if (!follows && !leads)
            continue;
        if (rule->scope == DRAM_SCOPE_OTHER) /* the agent works in one bank after the other */
            continue;
        less = table;
        less.rules[i].clocks = 0;
        struct toy *toy = toy_new(&config, 64, NULL);
        dram_rules_compile(&toy->rig->memory.common.rules, &config, &less);
        run_traffic(toy, 48, 60000);
        if (!toy->rig->checker.violations)
            fail_msg("nothing tells that %s is missing", rule->text);
        toy->rig->checker.violations = 0;
        rig_free(toy->rig);
        free(toy);
        removed++;
    }
    assert_int_equal(removed, 3);
}

/* A read of a bank that the agent holds waits for its release; other reads do not. */
static void reads_of_held_banks_wait(void **state)
{
    (void)state;
    struct dram_config config = toy_config();
    struct toy *toy = toy_new(&config, 3, NULL);
    struct rig *rig = toy->rig;
    toy_start(toy, 100);
    rig_until(rig, 150);
    (void)probe_send(&rig->probes[0], MEM_READ, address_of(rig, 0, 2, 5, 0), 64);
    (void)probe_send(&rig->probes[1], MEM_READ, address_of(rig, 0, 3, 5, 0), 64);
    rig_until(rig, 3000);
    assert_true(probe_clocks(&rig->probes[1]) < 40);
    assert_int_equal(toy->jobs, 1);
    /* both banks' rows and columns come first: 2 (11 + 59 * 6) clocks less those before the read, and a row
     * that is open has to be closed */
    uint64_t job = toy->longest;
    assert_true(job >= 2 * 11 + 2 * 59 * 6 && job < 2 * 11 + 2 * 59 * 6 + 20);
    assert_true(probe_clocks(&rig->probes[0]) >= 100 + job - 150 + 26);
    assert_true(probe_clocks(&rig->probes[0]) < 100 + job - 150 + 26 + 30);
    rig_free(rig);
    free(toy);
}

/* Writes that wait for the agent's bank do not block reads of other banks. */
static void stuck_writes_keep_nobody_back(void **state)
{
    (void)state;
    struct dram_config config = toy_config();
    config.write_queue = 8;
    config.write_high = 4;
    config.write_low = 1;
    struct toy *toy = toy_new(&config, 10, NULL);
    struct rig *rig = toy->rig;
    toy_start(toy, 100);
    rig_until(rig, 150);
    for (unsigned i = 0; i < 8; i++)
        (void)probe_send(&rig->probes[i], MEM_WRITE, address_of(rig, 0, 2, 5 + i, 0), 64);
    (void)probe_send(&rig->probes[8], MEM_READ, address_of(rig, 0, 3, 5, 0), 64);
    rig_until(rig, 3000);
    assert_true(probe_clocks(&rig->probes[8]) < 40);
    rig_free(rig);
    free(toy);
}

/* An agent that holds a bank from one wake to the next and issues no commands. */
struct holder {
    struct dram_agent agent;
    uint64_t until;
};

static void holder_wake(void *owner, uint64_t limit)
{
    struct holder *holder = owner;
    (void)limit;
    if (holder->agent.banks) {
        holder->agent.wake = CLOCK_NEVER;
        dram_agent_release(&holder->agent, 1 << 2);
    } else {
        holder->agent.wake = holder->until;
        (void)dram_agent_claim(&holder->agent, 1 << 2);
    }
}

static void holder_suspend(void *owner, uint64_t banks)
{
    dram_agent_yield(&((struct holder *)owner)->agent, banks);
}

static void holder_resume(void *owner, uint64_t banks)
{
    (void)owner, (void)banks;
}

/* The channel is run when the agent wakes, although there is no command to issue before. */
static void release_wakes_the_channel(void **state)
{
    (void)state;
    static const struct dram_agent_ops ops = {
        .wake = holder_wake, .suspend = holder_suspend, .resume = holder_resume};
    struct dram_config config = toy_config();
    config.refresh = DRAM_REFRESH_NONE;
    struct rig *rig = rig_new(&config, 1, NULL);
    struct holder holder = {.until = 500};
    dram_agent_add(&holder.agent, dram_memory_reach(&rig->memory, 0), &ops, &holder);
    holder.agent.wake = 100;
    dram_agent_changed(&holder.agent);
    dram_memory_changed(&rig->memory, 0);
    rig_until(rig, 150);
    (void)probe_send(&rig->probes[0], MEM_READ, address_of(rig, 0, 2, 5, 0), 64);
    rig_until(rig, 2000);
    assert_int_equal(probe_clocks(&rig->probes[0]), 500 - 150 + 26); /* tRCD + tCL + tBURST after its end */
    rig_free(rig);
}

static void poke(void *owner, uint64_t now)
{
    dram_memory_sync(&((struct rig *)owner)->memory, now);
}

/* Returns the text of the trace of a run; the memory is synced every `often` clocks, or only when
 * necessary. */
static char *traced_run(uint64_t often)
{
    struct dram_config config = toy_config();
    struct text_sink sink;
    char *text = NULL;
    size_t size;
    FILE *out = open_memstream(&text, &size);
    struct dram_trace *trace = text_sink_trace(&sink, out, &config);
    struct toy *toy = toy_new(&config, 64, dram_trace_observer(trace));
    struct event event;
    event_init(&event, 0, poke, toy->rig);
    run_traffic(toy, 12, 1000);
    for (uint64_t at = 1000; at < 40000; at += often ? often : 1000) {
        if (often)
            event_schedule(&toy->rig->queue, &event, at * config.tCK);
        rig_until(toy->rig, at);
    }
    rig_until(toy->rig, 40001);
    rig_free(toy->rig);
    dram_trace_free(trace);
    (void)fclose(out);
    free(toy);
    return text;
}

static void traces_show_the_agent(void **state)
{
    (void)state;
    char *lazy = traced_run(0), *eager = traced_run(3);
    assert_string_equal(lazy, eager);
    assert_non_null(strstr(lazy, "# croft dram trace 1: toy,"));
    assert_non_null(strstr(lazy, " 0 MAC 1 0 1 77 59\n"));
    struct dram_config config = toy_config();
    FILE *in = fmemopen(lazy, strlen(lazy), "r");
    struct dram_record record = {0};
    struct error err;
    unsigned long line = 0;
    unsigned macs = 0;
    while (dram_trace_read(in, dram_commands(&config), &record, &line, &err) &&
           record.command != DRAM_COMMANDS)
        macs += record.command == TOY_MAC;
    assert_true(macs >= 2 * MACS);
    rewind(in);
    line = 0;
    struct dram_config plain = one_channel(DRAM_STANDARD_ddr3_1600k); /* a standard without MAC */
    bool known = true;
    while (known && (known = dram_trace_read(in, dram_commands(&plain), &record, &line, &err)))
        known = record.command != DRAM_COMMANDS;
    assert_non_null(strstr(err.text, "not a command"));
    (void)fclose(in);
    free(lazy);
    free(eager);
}

/* An agent that wants nothing causes no events. */
static void idle_agent_costs_nothing(void **state)
{
    (void)state;
    struct dram_config config = toy_config();
    struct toy *toy = toy_unwatched(&config, 1);
    uint64_t fired = toy->rig->queue.fired;
    event_queue_run(&toy->rig->queue, CLOCK_SECOND);
    dram_memory_sync(&toy->rig->memory, CLOCK_SECOND);
    assert_int_equal(toy->rig->queue.fired, fired);
    assert_true(DRAM_MEMORY_SUM(&toy->rig->memory, refreshes) >= 2 * (CLOCK_SECOND / config.tCK / 6240 - 1));
    rig_free(toy->rig);
    free(toy);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(timing_and_checker_agree),  cmocka_unit_test(accelerators_commands_agree),
        cmocka_unit_test(agent_beside_traffic),      cmocka_unit_test(missing_rules_are_found),
        cmocka_unit_test(reads_of_held_banks_wait),  cmocka_unit_test(stuck_writes_keep_nobody_back),
        cmocka_unit_test(release_wakes_the_channel), cmocka_unit_test(traces_show_the_agent),
        cmocka_unit_test(idle_agent_costs_nothing),
    };
    return cmocka_run_group_tests_name("DRAM agents", tests, NULL, NULL);
}
