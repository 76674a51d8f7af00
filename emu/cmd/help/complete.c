#include "emu/cmd/help/complete.h"

#include <limits.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "emu/cmd/paths.h"
#include "emu/machine/machine.h"
#include "emu/schema/machine_list.h"
#include "emu/schema/tree.h"
#include "emu/sim/alloc.h"

/* A command line to complete. */
struct line {
    const struct option_set *set;
    char before[80];               /* of the last word, what stays, such as "--set=" */
    const char *begin;             /* of the last word, what is completed */
    const struct option_row *open; /* the option whose value the last word is; NULL: none */
    const char *machine;           /* the value of the option `machine`; NULL: none */
    const char *argument;          /* the first argument; NULL: none */
    const char **sets;             /* the settings before the last word */
    size_t set_count;
};

/* Offers the word `head` + `tail`, if it begins as the last word does. */
static void offer(const struct line *line, const char *head, const char *tail, const char *meaning)
{
    const size_t length = strlen(line->begin), first = strlen(head);
    if (strncmp(line->begin, head, length < first ? length : first) != 0 ||
        (length > first && strncmp(line->begin + first, tail, length - first) != 0))
        return;
    printf("%s%s%s\t%s\n", line->before, head, tail, meaning);
}

static void offer_files(void)
{
    puts("<file>");
}

static void offer_machines(const struct line *line)
{
    char folder[PATH_MAX];
    struct error err;
    struct machine_list list;
    offer_files();
    if (!paths_share("machines", folder, sizeof folder, &err))
        return;
    if (machine_list(&list, folder, &err)) {
        for (size_t i = 0; i < list.count; i++) {
            struct machine_config config;
            if (!machine_load(&config, list.names[i], folder, NULL, 0, &err))
                continue;
            offer(line, list.names[i], "", config.description);
            machine_free(&config);
        }
    }
    machine_list_free(&list);
}

static void offer_memories(const struct line *line)
{
    offer_files();
    for (const char *const *standard = dram_standard_names; *standard; standard++)
        offer(line, *standard, "", "a standard");
}

/* Offers values of a field, or `default` for a part that the machine lacks. */
static void offer_values(const struct line *line, const struct tree_key *key)
{
    char head[2 * TREE_NAME + 1];
    (void)snprintf(head, sizeof head, "%s=", key->name);
    if (key->adds)
        offer(line, head, "default", "add the part");
    if (!key->field)
        return;
    if (key->field->type == FIELD_CHOICE) {
        for (size_t i = 0; key->field->choices[i]; i++)
            offer(line, head, key->field->choices[i], "");
    } else if (key->field->type == FIELD_BOOL) {
        offer(line, head, "true", "");
        offer(line, head, "false", "");
    } else if (key->field->type != FIELD_TEXT) {
        char value[FIELD_VALUE];
        size_t length = 0;
        for (const char *c = key->value; *c; c++)
            if (*c != ' ') /* 1 GiB as 1GiB, which shells take without quotes */
                value[length++] = *c;
        value[length] = '\0';
        offer(line, head, value, "as it is");
    }
}

static void offer_key(void *context, const struct tree_key *key)
{
    const struct line *line = context;
    const size_t length = strlen(key->name);
    if (strncmp(line->begin, key->name, length) == 0 && line->begin[length] == '=')
        offer_values(line, key);
    else if (!strchr(line->begin, '='))
        offer(line, key->name, "=", key->meaning);
}

/* Offers the keys of the network or the memory that the line names. */
static void offer_alone_keys(const struct line *line)
{
    struct error err;
    struct tree *(*const load)(const char *, const char *const *, size_t, struct error *) =
        line->set == &net_interface ? net_tree : dram_tree;
    struct tree *tree = load(line->argument, line->sets, line->set_count, &err);
    if (!tree)
        tree = load(line->argument, NULL, 0, &err);
    if (!tree)
        return;
    tree_keys(tree, offer_key, (void *)(uintptr_t)line);
    tree_free(tree);
}

/* Offers the keys of the machine that the line names, with the parts that its settings add. */
static void offer_keys(const struct line *line)
{
    char folder[PATH_MAX];
    struct error err;
    struct machine_config config;
    const bool first = strstr(line->set->synopsis, "MACHINE") != NULL;
    const char *machine = line->machine ? line->machine : first ? line->argument : "functional";
    const bool alone = line->set == &net_interface || line->set == &dram_interface;
    if (alone && line->argument)
        offer_alone_keys(line);
    else if (!alone && line->set != &experiment_interface && machine &&
             paths_share("machines", folder, sizeof folder, &err) &&
             (machine_load(&config, machine, folder, line->sets, line->set_count, &err) ||
              machine_load(&config, machine, folder, NULL, 0, &err))) {
        tree_keys(config.tree, offer_key, (void *)(uintptr_t)line);
        machine_free(&config);
    }
}

/* Offers what a placeholder in capitals stands for. */
static void offer_placeholder(const char *word, size_t length)
{
    static const char *const files[] = {"FILE", "PATH", "TRACE"}, *const folders[] = {"DIR", "FOLDER"};
    char name[32];
    (void)snprintf(name, sizeof name, "%.*s", (int)length, word);
    for (size_t i = 0; i < sizeof files / sizeof *files; i++)
        if (strstr(name, files[i]))
            offer_files();
    for (size_t i = 0; i < sizeof folders / sizeof *folders; i++)
        if (strcmp(name, folders[i]) == 0)
            puts("<folder>");
}

/* Offers what the name of a value says: "user|kernel|bare", "NAME|FILE", "file=FILE[,readonly=on]". */
static void offer_named(const struct line *line, const char *argument)
{
    while (*argument) {
        const size_t length = strcspn(argument, "|"), word = strcspn(argument, "|=:[");
        const bool goes_on = word < length && argument[word] != '[';
        char value[64];
        (void)snprintf(value, sizeof value, "%.*s", (int)(word + goes_on), argument);
        if (*argument >= 'a' && *argument <= 'z')
            offer(line, value, "", "");
        else
            offer_placeholder(argument, length);
        argument += length + (argument[length] == '|');
    }
}

static const char *const *words_of(const struct option_set *set, const char *option)
{
    for (const struct option_words *words = set->words; words && words->option; words++)
        if (strcmp(words->option, option) == 0)
            return words->words;
    return NULL;
}

static void offer_value(const struct line *line)
{
    const char *const *words = words_of(line->set, line->open->name);
    if (strcmp(line->open->name, "machine") == 0)
        offer_machines(line);
    else if (strcmp(line->open->name, "set") == 0)
        offer_keys(line);
    else if (words && strchr(line->begin, ':'))
        offer_files();
    else if (words)
        for (; *words; words++)
            offer(line, *words, "", "");
    else
        offer_named(line, line->open->argument);
}

static void offer_options(const struct line *line)
{
    char name[80];
    for (size_t i = 0; i < line->set->count; i++) {
        const struct option_row *row = &line->set->rows[i];
        (void)snprintf(name, sizeof name, "--%s", row->name);
        offer(line, name, "", row->help);
    }
    offer(line, "--help", "", "print the options");
}

/* Returns the option that a word of the line is, and its attached value or NULL. NULL: it is none. */
static const struct option_row *option_of(const struct option_set *set, const char *word, const char **value)
{
    for (size_t i = 0; i < set->count; i++) {
        const struct option_row *row = &set->rows[i];
        const size_t length = strlen(row->name);
        const bool named = strncmp(word, "--", 2) == 0 && strncmp(word + 2, row->name, length) == 0;
        *value = NULL;
        if (named && (word[2 + length] == '\0' || word[2 + length] == '=')) {
            *value = word[2 + length] ? word + 3 + length : NULL;
            return row;
        }
        if (row->letter && word[0] == '-' && word[1] == row->letter) {
            *value = word[2] ? word + 2 : NULL;
            return row;
        }
    }
    return NULL;
}

static void note(struct line *line, const struct option_row *row, const char *value)
{
    if (strcmp(row->name, "machine") == 0)
        line->machine = value;
    else if (strcmp(row->name, "set") == 0)
        line->sets[line->set_count++] = value;
}

/* Reads the words before the last one. Returns whether options can follow. */
static bool read_words(struct line *line, int count, char **words)
{
    for (int i = 0; i < count; i++) {
        const char *value;
        const struct option_row *row = option_of(line->set, words[i], &value);
        if (strcmp(words[i], "--") == 0)
            return false;
        if (row && row->argument && !value && ++i == count)
            line->open = row;
        else if (row && row->argument)
            note(line, row, value ? value : words[i]);
        else if (words[i][0] == '-')
            continue;
        else if (line->set->stop_at_argument)
            return false;
        else if (!line->argument)
            line->argument = words[i];
    }
    return true;
}

static void offer_words(struct line *line, int count, char **words)
{
    const bool options = read_words(line, count - 1, words);
    const char *word = words[count - 1], *value;
    line->begin = word;
    const struct option_row *row = options && !line->open ? option_of(line->set, word, &value) : NULL;
    if (row && row->argument && value && strncmp(word, "--", 2) == 0) {
        (void)snprintf(line->before, sizeof line->before, "--%s=", row->name);
        line->begin = value;
        line->open = row;
    }
    if (line->open)
        offer_value(line);
    else if (options && word[0] == '-')
        offer_options(line);
    else if (strstr(line->set->synopsis, "MACHINE"))
        offer_machines(line);
    else if (line->set == &dram_interface && !line->argument)
        offer_memories(line);
    else if (*line->set->synopsis)
        offer_files();
}

int complete(const struct command *commands, size_t command_count, int count, char **words)
{
    struct line line = {.begin = count > 0 ? words[count - 1] : ""};
    const bool help = count == 2 && strcmp(words[0], "help") == 0;
    if (count < 2 || help) {
        for (size_t i = 0; i < command_count; i++)
            offer(&line, commands[i].name, "", commands[i].help);
        offer(&line, help ? "--man" : "help", "", help ? "as a manual page" : "print the commands");
        return 0;
    }
    for (size_t i = 0; i < command_count; i++)
        if (strcmp(commands[i].name, words[0]) == 0)
            line.set = commands[i].interface;
    if (!line.set)
        return 0;
    line.sets = alloc((size_t)count, sizeof *line.sets);
    offer_words(&line, count - 1, words + 1);
    free(line.sets);
    return 0;
}
