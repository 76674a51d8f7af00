/* A C++17 program of Linux that launches kernels on multiprocessors from its threads, while another thread offloads regions by
 * nucd: kernels scale the rows of a matrix and add each of them up, the regions do the same with an array. qemu-riscv64, real cores and
 * machines without multiprocessors or accelerators run all of it themselves and print the same. */
#include <croft/nucd.h>
#include <croft/roi.h>
#include <croft/simt.h>

#include <iostream>
#include <numeric>
#include <thread>
#include <vector>

namespace {

constexpr unsigned columns = 256, rows = 64, threads = 2;
constexpr long cells = 1 << 13, tasks = 4;

struct matrix {
    const float *from;
    float *to, *sums;
    float factor;
};

/* A block for each row, a thread for each column. */
void scale_rows(const matrix *m)
{
    const uint64_t row = block_id(), cell = row * columns + thread_x();
    auto *shared = static_cast<float *>(simt_shared());
    m->to[cell] = shared[thread_x()] = m->factor * m->from[cell];
    simt_barrier();
    for (unsigned half = columns / 2; half > 0; half /= 2) {
        if (thread_x() < half)
            shared[thread_x()] += shared[thread_x() + half];
        simt_barrier();
    }
    if (thread_x() == 0)
        m->sums[row] = shared[0];
}

CROFT_REGION(scale, CROFT_IN(const double *, x, count * sizeof *x), CROFT_OUT(double *, y, count * sizeof *y),
             CROFT_VALUE(long, count))
{
    for (long i = 0; i < count; i++)
        y[i] = 2 * x[i] + 1;
}

} // namespace

int main()
{
    std::vector<float> from(rows * columns), to(from.size()), sums(rows);
    std::vector<double> x(cells), y(cells);
    std::vector<std::thread> workers;
    std::iota(from.begin(), from.end(), 0.0F);
    std::iota(x.begin(), x.end(), 0.0);
    croft_roi_begin("offload");
    for (unsigned thread = 0; thread < threads; thread++)
        workers.emplace_back([&, thread] {
            const unsigned own = rows / threads, first = thread * own;
            const matrix part{&from[first * columns], &to[first * columns], &sums[first], thread + 1.0F};
            const long launch = simt_launch(scale_rows, &part, simt_dim(own), simt_dim(columns),
                                            .scratchpad = columns * sizeof(float));
            if (launch < 0 || simt_wait(launch) != 0)
                std::cerr << "the launch has failed\n";
        });
    CROFT_FOR_TASKS(part, cells, tasks, 512)
    scale(&x[part.first], &y[part.first], part.count);
    for (auto &worker : workers)
        worker.join();
    croft_roi_end("offload");
    std::cout << std::fixed << std::accumulate(sums.begin(), sums.end(), 0.0) << " "
              << std::accumulate(y.begin(), y.end(), 0.0) << " " << to.back() << "\n";
}
