/* Lists of observers: order and removal, also by an observer that is being told. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <string.h>

#include <cmocka.h>

#include "emu/sim/observer.h"

struct watcher {
    struct observer link;
    void (*rang)(void *context, unsigned times);
    void (*fell)(void *context, unsigned times);
    void *context;
};

struct house {
    struct observer_list list;
    char story[64];
};

struct person {
    struct watcher watcher;
    struct house *house;
    char name;
    bool leaves;
};

static void told(void *context, unsigned times)
{
    struct person *person = context;
    size_t length = strlen(person->house->story);
    assert_int_equal(times, 3);
    person->house->story[length] = person->name;
    if (person->leaves) {
        observer_remove(&person->house->list, &person->watcher.link);
        person->watcher.link.next = NULL; /* its owner may reuse it */
    }
}

static void ring(struct house *house)
{
    OBSERVER_TELL(&house->list, struct watcher, rang, 3);
}

static void told_in_order(void **state)
{
    (void)state;
    struct house house = {0};
    struct person people[6];
    ring(&house);
    for (unsigned i = 0; i < 6; i++) {
        people[i] = (struct person){{.context = &people[i]}, &house, (char)('a' + i), false};
        *(i == 2 ? &people[i].watcher.fell : &people[i].watcher.rang) = told;
        observer_add(&house.list, &people[i].watcher.link);
    }
    ring(&house); /* c is told of falls only */
    assert_string_equal(house.story, "abdef");
    observer_remove(&house.list, &people[0].watcher.link);
    observer_remove(&house.list, &people[5].watcher.link);
    observer_remove(&house.list, &people[5].watcher.link); /* it is in no list */
    people[3].leaves = true;
    ring(&house);
    assert_string_equal(house.story, "abdefbde");
    ring(&house);
    assert_string_equal(house.story, "abdefbdebe");
    observer_add(&house.list, &people[0].watcher.link); /* after all others */
    ring(&house);
    assert_string_equal(house.story, "abdefbdebebea");
    observer_add_first(&house.list, &people[3].watcher.link);
    ring(&house);
    assert_string_equal(house.story, "abdefbdebebeadbea");
}

int main(void)
{
    const struct CMUnitTest tests[] = {cmocka_unit_test(told_in_order)};
    return cmocka_run_group_tests_name("observers", tests, NULL, NULL);
}
