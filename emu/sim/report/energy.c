#include "emu/sim/report/energy.h"
#include "emu/sim/alloc.h"

#include <assert.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

void energy_init(struct energy_ledger *ledger)
{
    *ledger = (struct energy_ledger){0};
}

void energy_free(struct energy_ledger *ledger)
{
    for (unsigned i = 0; i < ledger->count; i++) {
        struct energy_account *account = ledger->accounts[i];
        free((char *)(uintptr_t)account->name); /* copies made by energy_add() */
        free((char *)(uintptr_t)account->source);
        free((char *)(uintptr_t)account->part);
        free(account);
    }
    free(ledger->accounts);
    free(ledger->groups);
    energy_init(ledger);
}

/* Returns the sources of the fields, separated by "; ". The caller frees the text. */
static char *sources_of(const struct energy_sources *sources, struct scope scope, const char *fields)
{
    enum { FIELD = 64, SOURCE = 1024 };
    char *path = scope_path(scope, NULL), *text = NULL;
    size_t used = 0;
    for (const char *at = fields; *at; at += strspn(at, " ")) {
        char field[FIELD], source[SOURCE];
        size_t length = strcspn(at, " ");
        assert(length < FIELD);
        memcpy(field, at, length);
        field[length] = '\0';
        at += length;
        strcpy(source, field);
        if (sources)
            sources->of_field(sources->context, path, field, source, sizeof source);
        text = alloc_resize(text, used + strlen(source) + sizeof "; ");
        used += (size_t)sprintf(text + used, "%s%s", used ? "; " : "", source);
    }
    free(path);
    return text;
}

void energy_add(struct energy_ledger *ledger, struct scope scope, const struct energy_account *account)
{
    struct energy_account *added = alloc_checked(malloc(sizeof *added));
    *added = *account;
    added->name = scope_path(scope, account->name);
    added->source =
        account->fields ? sources_of(ledger->sources, scope, account->fields) : alloc_text(account->source);
    added->fields = NULL;
    added->part = alloc_text(ledger->part ? ledger->part : "");
    size_t room = (ledger->count + 1) * sizeof *ledger->accounts;
    ledger->accounts = alloc_resize(ledger->accounts, room);
    ledger->accounts[ledger->count++] = added;
}

void energy_add_all(struct energy_ledger *ledger, struct scope scope, const char *group,
                    const struct energy_account *accounts, size_t count)
{
    for (size_t i = 0; i < count; i++) {
        struct energy_account account = accounts[i];
        account.group = group;
        energy_add(ledger, scope, &account);
    }
}

uint64_t energy_of(const struct energy_account *account)
{
    uint64_t count = account->count ? *account->count : account->read(account->context);
    if (account->kind == ENERGY_PER_EVENT)
        return count * account->unit;
    /* 1 uW for 1 fs is 1e-21 J, a millionth of a femtojoule. Splitting `count` keeps the product below 64 bits. */
    const uint64_t million = 1000000;
    return count / million * account->unit + count % million * account->unit / million;
}

uint64_t energy_total(const struct energy_ledger *ledger)
{
    uint64_t sum = 0;
    for (unsigned i = 0; i < ledger->count; i++)
        sum += energy_of(ledger->accounts[i]);
    return sum;
}

/* Names the first part with an account whose energy nobody has told, and counts the others. */
static bool doubt_untold(const struct energy_ledger *ledger, struct error *message)
{
    const struct energy_account *first = NULL, *last = NULL;
    char more[48] = "";
    unsigned parts = 0;
    for (unsigned i = 0; i < ledger->count; i++) {
        const struct energy_account *account = ledger->accounts[i];
        if (!account->untold)
            continue;
        parts += !last || strcmp(last->part, account->part) != 0;
        first = first ? first : account;
        last = account;
    }
    if (!first)
        return false;
    if (parts > 1)
        (void)snprintf(more, sizeof more, " and of %u other part%s", parts - 1, parts > 2 ? "s" : "");
    (void)error_set(message, "some energy of %s%s is not counted; set %s.%s", first->part, more, first->part,
                    first->untold);
    return true;
}

/* The energies of idle parts; the greatest sum of one part. */
struct idle_sum {
    double all, most;
    const struct energy_account *account; /* of the part with that sum */
};

static struct idle_sum sum_idle(const struct energy_ledger *ledger)
{
    struct idle_sum idle = {0, 0, NULL};
    const char *part = "";
    double sum = 0;
    for (unsigned i = 0; i < ledger->count; i++) {
        const struct energy_account *account = ledger->accounts[i];
        if (!account->idle)
            continue;
        sum = (strcmp(part, account->part) == 0 ? sum : 0) + (double)energy_of(account);
        part = account->part;
        idle.all += (double)energy_of(account);
        if (sum > idle.most) {
            idle.most = sum;
            idle.account = account;
        }
    }
    return idle;
}

static bool doubt_idle(const struct energy_ledger *ledger, struct error *message)
{
    const double total = (double)energy_total(ledger);
    const struct idle_sum idle = sum_idle(ledger);
    if (!idle.account || idle.all <= total / 2)
        return false;
    (void)error_set(message,
                    "idle parts take %.0f %% of the energy, %s alone %.0f %%; its keys for that are %s",
                    100 * idle.all / total, idle.account->part, 100 * idle.most / total, idle.account->idle);
    return true;
}

unsigned energy_doubts(const struct energy_ledger *ledger, struct error messages[ENERGY_DOUBTS])
{
    unsigned count = 0;
    count += doubt_untold(ledger, &messages[count]);
    count += doubt_idle(ledger, &messages[count]);
    return count;
}

static const char *group_of(const struct energy_account *account)
{
    return account->group ? account->group : "other";
}

uint64_t energy_of_group(const struct energy_group *group)
{
    uint64_t sum = 0;
    for (unsigned i = 0; i < group->ledger->count; i++)
        if (strcmp(group_of(group->ledger->accounts[i]), group->name) == 0)
            sum += energy_of(group->ledger->accounts[i]);
    return sum;
}

static uint64_t read_group(const void *group)
{
    return energy_of_group(group);
}

/* Lists the groups in the order of their first accounts. Returns their number. */
static unsigned list_groups(struct energy_ledger *ledger)
{
    unsigned count = 0;
    ledger->groups = alloc(ledger->count + 1, sizeof *ledger->groups);
    for (unsigned i = 0; i < ledger->count; i++) {
        const char *name = group_of(ledger->accounts[i]);
        unsigned at = 0;
        while (at < count && strcmp(ledger->groups[at].name, name) != 0)
            at++;
        if (at == count)
            ledger->groups[count++] = (struct energy_group){ledger, name};
    }
    return count;
}

static uint64_t read_account(const void *account)
{
    return energy_of(account);
}

static uint64_t read_total(const void *ledger)
{
    return energy_total(ledger);
}

void energy_publish(struct energy_ledger *ledger, struct stats *stats)
{
    for (unsigned i = 0; i < ledger->count; i++) {
        struct energy_account *account = ledger->accounts[i];
        stats_computed(stats, scope_enter(NULL, account->name), "energy", read_account, account, "fJ",
                       account->source);
    }
    const unsigned count = list_groups(ledger);
    for (unsigned i = 0; count > 1 && i < count; i++)
        stats_computed(stats, scope_enter(NULL, "energy"), ledger->groups[i].name, read_group,
                       &ledger->groups[i], "fJ", "Sum of the energies of this group");
    stats_computed(stats, scope_root(), "energy", read_total, ledger, "fJ", "Sum of all energies");
}
