/* Named regions, with valid and invalid names; run.sh reads the statistics. */
#include <croft/roi.h>

int main(void)
{
    croft_roi_begin("first");
    for (int i = 0; i < 3; i++) {
        croft_roi_begin("inner");
        croft_roi_end("inner");
    }
    croft_roi_end("first");
    croft_roi_begin(0);
    croft_roi_end(0);
    croft_stats_dump();
    croft_roi_begin((const char *)16);
    croft_roi_begin("a\nb");
    croft_roi_begin("");
    croft_roi_begin("a name that is longer than the sixty-three characters that a name may have");
    return 0;
}
