/* Marks the place for `croft run --save-at roi`: the snapshot of a booted system is taken here. */
#include <croft/roi.h>

int main(void)
{
    croft_roi_begin("here");
    return 0;
}
