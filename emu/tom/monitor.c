#include "emu/tom/monitor.h"

void tom_monitor_look(struct tom_monitor *monitor, uint64_t now, uint64_t window, uint32_t threshold)
{
    const uint64_t passed = now - monitor->since;
    if (!monitor->link || passed < window)
        return;
    for (unsigned way = 0; way < 2; way++) {
        uint64_t busy = link_busy_time(monitor->link, way == 1);
        monitor->percent[way] = (uint32_t)((busy - monitor->busy[way]) * 100 / passed);
        monitor->busy[way] = busy;
        monitor->over[way] += monitor->percent[way] >= threshold;
    }
    monitor->since = now;
    monitor->measured++;
}
