# SPDX-License-Identifier: MIT
# The tasks of every day for `just`; each is one command of scripts/, which needs no just. docs/contributing.md says when to use which.

# What there is
default:
    @{{ just_executable() }} --list --unsorted

# build/proftrace and build/libproftrace.so
build:
    cmake -S . -B build -DPROFTRACE_TESTS=OFF
    cmake --build build --parallel

# The everyday gate: what says the same on any machine (two minutes)
quick:
    scripts/test quick

# All that must hold, as CI runs it; or some steps of it: just test suites shape
test *steps:
    scripts/test {{ steps }}

# The tests of one label, built with gcc: just suite golden
suite label:
    scripts/dev test gcc -L {{ label }}

# Write what the reports of the golden stories are now: all of them, or those named
golden *stories:
    scripts/dev golden {{ stories }}

# clang-format on everything of ours
format:
    scripts/dev format

# Write the generated parts of docs/ anew
docs:
    scripts/dev docs

# Which lines the tests reach; below 85 % is a failure (ten minutes)
coverage *options:
    scripts/dev coverage {{ options }}

# Look for data races with ThreadSanitizer (three minutes)
tsan:
    scripts/dev tsan

# What tracing costs, into docs/performance.md (12 minutes on a quiet machine)
bench *options:
    scripts/bench {{ options }}

# The shipped pipeline of seven stages, profiled
example: build
    scripts/example/run-pipeline

# Profile the pipeline of a config.json in the folder where you are; reports in its profiles/
[no-cd]
profile-pipeline *options="--config config.json":
    {{ justfile_directory() }}/scripts/profile-pipeline {{ options }}
