// SPDX-License-Identifier: MIT
// hang.cc locks | promise: what hangs in the C++ library's words. The place is in this file, not in a header.
#include <chrono>
#include <condition_variable>
#include <cstdio>
#include <cstring>
#include <future>
#include <mutex>
#include <thread>

static std::mutex a, b;
static std::promise<int> never;

static void lock_both(std::mutex &first, std::mutex &second)
{
    std::lock_guard<std::mutex> one(first);
    std::this_thread::sleep_for(std::chrono::milliseconds(200));
    std::lock_guard<std::mutex> two(second);
}

static int wait_for_result()
{
    return never.get_future().get();
}

int main(int, char **argv)
{
    std::puts("ready");
    std::fflush(stdout);
    if (!std::strcmp(argv[1], "promise"))
        return wait_for_result();
    std::thread other([] { lock_both(b, a); });
    lock_both(a, b);
    other.join();
}
