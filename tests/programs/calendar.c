/* Time functions on fixed instants: gmtime, mktime, strftime, difftime, asctime, with TZ fixed by the
 * program. */
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <time.h>

static void print_instant(time_t instant)
{
    struct tm parts;
    if (!gmtime_r(&instant, &parts)) {
        printf("%lld: not representable\n", (long long)instant);
        return;
    }
    char text[128];
    strftime(text, sizeof text,
             "%Y-%m-%d %H:%M:%S day %j week %U %W %V of %G %a %A %b %B %p %I %y %C %e %D %T %%", &parts);
    printf("%lld: %s\n", (long long)instant, text);
    time_t back = mktime(&parts);
    printf("  wday %d yday %d mktime %lld same %d\n", parts.tm_wday, parts.tm_yday, (long long)back,
           back == instant);
}

static void normalise(int year, int month, int day, int hour, int minute, int second)
{
    struct tm parts = {.tm_year = year - 1900,
                       .tm_mon = month - 1,
                       .tm_mday = day,
                       .tm_hour = hour,
                       .tm_min = minute,
                       .tm_sec = second};
    time_t instant = mktime(&parts);
    printf("%d-%d-%d %d:%d:%d -> %lld %s", year, month, day, hour, minute, second, (long long)instant,
           asctime(&parts));
}

static void print_zone(const char *zone, time_t instant)
{
    setenv("TZ", zone, 1);
    tzset();
    struct tm *parts = localtime(&instant);
    char text[64];
    strftime(text, sizeof text, "%F %T %Z %z", parts);
    printf("%s: %s dst %d\n", zone, text, parts->tm_isdst);
}

int main(void)
{
    static const int64_t instants[] = {
        0,          1,          -1,           86399,        951782400,     1000000000,
        1234567890, 2147483647, 2147483648LL, 4102444800LL, -2208988800LL, 253402300799LL,
        1709164800, 1709251199, 1709251200};
    setenv("TZ", "UTC0", 1);
    tzset();
    for (size_t i = 0; i < sizeof instants / sizeof *instants; i++)
        print_instant((time_t)instants[i]);
    for (int year = 1970; year < 2101; year += 13)
        print_instant(((year - 1970) * 365LL + year / 4) * 86400 + year * 37);
    normalise(2023, 14, 35, 25, 61, 61);
    normalise(2024, 2, 30, 0, 0, 0);
    normalise(2000, 1, -400, 0, -1, 0);
    normalise(1999, 12, 31, 23, 59, 60);
    for (time_t instant = 1711846800; instant < 1730000000; instant += 5000000) {
        print_zone("CET-1CEST,M3.5.0,M10.5.0/3", instant);
        print_zone("EST5EDT,M3.2.0,M11.1.0", instant);
        print_zone("<+0530>-5:30", instant);
    }
    printf("%.1f\n", difftime((time_t)1000000000, (time_t)-5));
    struct timespec first, second;
    clock_gettime(CLOCK_MONOTONIC, &first);
    clock_gettime(CLOCK_MONOTONIC, &second);
    int64_t passed = (second.tv_sec - first.tv_sec) * 1000000000LL + (second.tv_nsec - first.tv_nsec);
    printf("the clock does not go back: %d\n", passed >= 0);
    printf("now is after 2019: %d\n", time(NULL) > 1546300800);
    return 0;
}
