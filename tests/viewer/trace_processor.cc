// SPDX-License-Identifier: MIT
//
// Drives the engine of the Perfetto viewer, as Debian's chromium-shell package ships it for Chromium's own tests:
//
//     trace_processor FILE QUERY...
//
// prints each query's rows, tab-separated, and an empty line behind each query. Exit 1 when the file cannot be loaded, 2 when a
// query is wrong. The library has no header and no stable interface; the declarations below are base/test/
// test_trace_processor_impl.h of Chromium 156. Whoever runs it limits memory and time: the engine never ends on a NaN.
#include <cstdint>
#include <cstdio>
#include <fstream>
#include <iterator>
#include <string>
#include <vector>

namespace absl_like
{
struct Status {
    uintptr_t rep;
    Status(const Status &);
    ~Status()
    {
    }
};
} // namespace absl_like

namespace base
{
namespace test
{
class QueryResultOrError
{
  public:
    ~QueryResultOrError();
    std::vector<std::vector<std::string>> result_; // the first row names the columns
    std::string error_;
};

class TestTraceProcessorImpl
{
  public:
    TestTraceProcessorImpl();
    ~TestTraceProcessorImpl();
    absl_like::Status ParseTrace(const std::vector<char> &);
    QueryResultOrError ExecuteQuery(const std::string &) const;
    void *members[10];
};
} // namespace test
} // namespace base

int main(int argc, char **argv)
{
    if (argc < 2)
        return 2;
    std::ifstream file(argv[1], std::ios::binary);
    const std::vector<char> bytes((std::istreambuf_iterator<char>(file)), {});
    base::test::TestTraceProcessorImpl processor;
    if (processor.ParseTrace(bytes).rep != 1) {
        std::fprintf(stderr, "cannot load %s\n", argv[1]);
        return 1;
    }
    for (int i = 2; i < argc; i++) {
        const auto answer = processor.ExecuteQuery(argv[i]);
        if (!answer.error_.empty()) {
            std::fprintf(stderr, "%s: %s\n", argv[i], answer.error_.c_str());
            return 2;
        }
        for (size_t row = 1; row < answer.result_.size(); row++)
            for (size_t column = 0; column < answer.result_[row].size(); column++)
                std::printf("%s%c", answer.result_[row][column].c_str(),
                            column + 1 < answer.result_[row].size() ? '\t' : '\n');
        std::puts("");
    }
    return 0;
}
