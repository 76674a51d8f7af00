/* C++: exceptions, threads, thread-local objects, condition variables, futures. Output does not depend on the schedule. */
#include <atomic>
#include <chrono>
#include <condition_variable>
#include <future>
#include <iostream>
#include <map>
#include <mutex>
#include <stdexcept>
#include <string>
#include <thread>
#include <vector>

static std::mutex mutex;
static std::condition_variable moved;
static std::atomic<long> sum;
static int turn;
thread_local int own = 7;

static int check(int x)
{
    if (x > 3)
        throw std::runtime_error("too big: " + std::to_string(x));
    return x;
}

static void work(int number)
{
    own += number;
    for (int i = 0; i < 1000; i++)
        sum += i * own;
    std::unique_lock<std::mutex> lock(mutex);
    moved.wait(lock, [number] { return turn == number; });
    std::cout << "thread " << number << " has " << own << "\n";
    turn++;
    moved.notify_all();
}

int main(int count, char **)
{
    std::cout << "arguments " << count << std::endl;
    for (int i = 2; i < 6; i++)
        try {
            std::cout << check(i) << "\n";
        } catch (const std::exception &error) {
            std::cout << error.what() << "\n";
        }
    std::vector<std::thread> threads;
    for (int i = 0; i < 8; i++)
        threads.emplace_back(work, i);
    for (auto &thread : threads)
        thread.join();
    std::cout << sum << "\n";
    auto later = std::async(std::launch::async, [] {
        std::this_thread::sleep_for(std::chrono::milliseconds(20));
        return 5;
    });
    std::cout << later.get() << "\n";
    try {
        std::async(std::launch::async, [] { throw std::logic_error("from a thread"); }).get();
    } catch (const std::logic_error &error) {
        std::cout << "caught " << error.what() << "\n";
    }
    std::map<std::string, int> map;
    for (int i = 0; i < 1000; i++)
        map["key" + std::to_string(i * 7 % 1000)] = i;
    long hash = 0;
    for (auto &entry : map)
        hash = hash * 31 + entry.second;
    std::cout << hash << "\n";
    return 3;
}
