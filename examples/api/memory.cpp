// A trace-driven loop over a memory of Undercroft in C++: memory MEMORY TRACE, as memory.c.
#include <cstdint>
#include <fstream>
#include <functional>
#include <iomanip>
#include <iostream>
#include <memory>
#include <stdexcept>
#include <string>

#include <undercroft.h>

// A memory whose answers are calls of a function.
class Memory
{
  public:
    using Answer = std::function<void(uint64_t tag, uint64_t now)>;

    Memory(const std::string &file, Answer answer) : answer_(std::move(answer))
    {
        undercroft_source source = {};
        undercroft_memory_client client = {};
        undercroft *memory = nullptr;
        source.size = sizeof source;
        source.file = file.c_str();
        client.size = sizeof client;
        client.context = this;
        client.answer = [](void *context, uint64_t tag, uint64_t now) {
            static_cast<Memory *>(context)->answer_(tag, now);
        };
        check(undercroft_memory_new(&memory, &source, &client, &error_));
        memory_.reset(memory);
    }

    bool request(bool write, uint64_t address, uint64_t tag)
    {
        return check(undercroft_memory_request(memory_.get(), write, address, 64, tag, &error_)) ==
               UNDERCROFT_OK;
    }

    void run(uint64_t until)
    {
        check(undercroft_run(memory_.get(), until, &error_));
    }
    void step()
    {
        check(undercroft_step(memory_.get(), &error_));
    }

    uint64_t now()
    {
        uint64_t time = 0;
        check(undercroft_now(memory_.get(), &time, &error_));
        return time;
    }

    uint64_t period()
    {
        uint64_t time = 0;
        check(undercroft_period(memory_.get(), &time, &error_));
        return time;
    }

    struct undercroft_statistic statistic(const std::string &name)
    {
        struct undercroft_statistic value = {};
        check(undercroft_statistic(memory_.get(), name.c_str(), &value, &error_));
        return value;
    }

  private:
    struct Free {
        void operator()(undercroft *memory) const
        {
            undercroft_free(memory, nullptr);
        }
    };

    int check(int status)
    {
        if (status < 0)
            throw std::runtime_error(error_.text);
        return status;
    }

    Answer answer_;
    undercroft_error error_ = {};
    std::unique_ptr<undercroft, Free> memory_;
};

int main(int argc, char **argv)
try {
    std::ifstream trace(argc > 2 ? argv[2] : "");
    if (!trace)
        throw std::runtime_error("usage: memory MEMORY TRACE");
    uint64_t latency = 0, accesses = 0, now = 0;
    Memory memory(argv[1], [&](uint64_t tag, uint64_t time) { latency += time - tag; });
    std::string operation, address;
    for (; trace >> operation >> address; accesses++) {
        while (!memory.request(operation == "ST", std::stoull(address, nullptr, 0), now)) {
            memory.step();
            now = memory.now();
        }
        memory.run(now += memory.period());
    }
    memory.run(UNDERCROFT_FOREVER);
    const auto hits = memory.statistic("dram.row_hits");
    std::cout << accesses << " accesses, " << std::fixed << std::setprecision(3)
              << (accesses ? static_cast<double>(latency) / static_cast<double>(accesses) * 1e-6 : 0)
              << " ns on average, " << hits.count << ' ' << hits.unit << " hit an open row\n";
} catch (const std::exception &error) {
    std::cerr << error.what() << '\n';
    return 1;
}
