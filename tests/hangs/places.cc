// SPDX-License-Identifier: MIT
// Waits behind templates, virtual functions, lambdas, exceptions' frames and inlined functions.
#include <cstdio>
#include <functional>
#include <map>
#include <string>
#include <unistd.h>
#include <vector>

namespace data
{
int never[2];

template <typename T> struct Loader {
    virtual ~Loader() = default;
    virtual __attribute__((noinline)) T fetch(const std::string &name, T value)
    {
        char byte;
        const ssize_t n = read(never[0], &byte, 1);
        return value + static_cast<T>(n) + static_cast<T>(name.size());
    }
};

struct Shards final : Loader<double> {
    __attribute__((noinline)) double fetch(const std::string &name, double value) override
    {
        return Loader<double>::fetch(name + "!", value) + 1;
    }
};

static inline __attribute__((always_inline)) double inlined(Loader<double> &loader)
{
    static const std::string name = "shard";
    return loader.fetch(name, 1.0) + 1;
}

__attribute__((noinline)) double guarded(Loader<double> &loader)
{
    try {
        return inlined(loader) + 1;
    } catch (...) {
        return 0;
    }
}
} // namespace data

int main()
{
    data::Shards shards;
    if (pipe(data::never))
        return 1;
    const std::function<double()> closure = [&] { return data::guarded(shards) + 1; };
    std::map<int, std::function<double()>> by_number{{1, closure}};
    puts("ready");
    fflush(stdout);
    return static_cast<int>(by_number[1]());
}
