/* A C++17 program of Linux whose threads offload regions by nucd: each thread scales its part of an array in tasks and adds it
 * up in one more. qemu-riscv64 and real cores run the regions themselves and print the same. */
#include <croft/nucd.h>
#include <croft/roi.h>

#include <iostream>
#include <numeric>
#include <thread>
#include <vector>

namespace {

constexpr long cells = 1 << 16, threads = 4, tasks = 4;

CROFT_REGION(scale, CROFT_IN(const double *, x, count * sizeof *x), CROFT_OUT(double *, y, count * sizeof *y),
             CROFT_VALUE(long, count))
{
    for (long i = 0; i < count; i++)
        y[i] = 2 * x[i] + 1;
}

CROFT_REGION_RETURNS(double, add, CROFT_IN(const double *, x, count * sizeof *x), CROFT_VALUE(long, count))
{
    double sum = 0;
    for (long i = 0; i < count; i++)
        sum += x[i];
    return sum;
}

} // namespace

int main()
{
    std::vector<double> x(cells), y(cells), sums(threads);
    std::vector<std::thread> workers;
    std::iota(x.begin(), x.end(), 0.0);
    croft_roi_begin("offload");
    for (long thread = 0; thread < threads; thread++)
        workers.emplace_back([&, thread] {
            constexpr long own = cells / threads;
            const double *in = x.data() + thread * own;
            double *out = y.data() + thread * own;
            CROFT_FOR_TASKS(part, own, tasks, 512)
            scale(in + part.first, out + part.first, part.count);
            sums[thread] = add(out, own);
        });
    for (auto &worker : workers)
        worker.join();
    croft_roi_end("offload");
    std::cout << std::fixed << std::accumulate(sums.begin(), sums.end(), 0.0) << "\n";
}
