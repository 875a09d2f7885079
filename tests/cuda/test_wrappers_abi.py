#!/usr/bin/python3
# SPDX-License-Identifier: MIT
"""Every wrapper hands on exactly what it was given, to the libcudart that its caller was linked with.

The libraries and programs are generated from the rows of wrappers.def: a runtime that writes down the bytes of each argument and
fails, and a program that calls everything with arguments that must not be followed."""
import os
import re
import subprocess
import sys
import unittest

from cupti_case import WRAPPED, CuptiCase, main

ROOT = os.path.abspath(os.path.join(os.path.dirname(os.path.abspath(__file__)), "..", ".."))
sys.path.insert(0, os.path.join(ROOT, "scripts", "lib"))
import deftable  # noqa: E402

HEADER = "/usr/local/cuda/include/cuda_runtime_api.h"
TYPES = """
#include <stddef.h>
struct dim3 { unsigned x, y, z; };
struct extent { size_t width, height, depth; };
struct pitched { void *memory; size_t pitch, width, height; };
struct launch_config;
struct copy_3d;
struct copy_3d_peer;
struct channels;
struct batch_copy;
struct memory_handle { char reserved[64]; };
"""
# What differs between versions: our rows pass on the longest form.
LONGER_THAN_HEADER = {"cudaGraphInstantiate", "cudaMemcpyBatchAsync", "cudaMemcpy3DBatchAsync", "cudaMemPrefetchAsync", "cudaGraphExecUpdate"}


def rows():
    for row in deftable.rows(os.path.join(ROOT, "preload/cuda/wrappers.def")):
        if row.name in ("WRAP", "WRAP_WAIT"):
            name, twin, parameters = row.args[:3]
            parameters = [p.strip() for p in parameters.strip("() ").split(",")]
            yield name, twin, [] if parameters == ["void"] else parameters


def symbols():
    for name, twin, parameters in rows():
        yield name, parameters
        if twin != "none":
            yield f"{name}_{twin}", parameters


def variable(parameter):
    return re.search(r"(\w+)$", parameter).group(1)


def runtime_source(result):
    lines = [TYPES, "#include <stdio.h>", "static void show(const void *at, size_t n) { const unsigned char *c = at;"
             " for (putchar(' '); n--;) printf(\"%02x\", *c++); }"]
    for name, parameters in symbols():
        shown = "".join(f"show(&{variable(p)}, sizeof {variable(p)});" for p in parameters)
        lines.append(f"int {name}({', '.join(parameters) or 'void'}) {{ printf(\"{name}\"); {shown} puts(\"\"); return {result}; }}")
    lines.append("void __cudaRegisterFunction(void) {} int cudaRuntimeGetVersion(int *v) { *v = %d; return 0; }" % result)
    return "\n".join(lines)


def program_source():
    lines = [TYPES, "#include <stdio.h>", "#include <string.h>"]
    body = []
    for name, parameters in symbols():
        lines.append(f"int {name}({', '.join(parameters) or 'void'});")
        given = "".join(f"{p}; memset((void *)&{variable(p)}, {17 + i}, sizeof {variable(p)});" for i, p in enumerate(parameters))
        arguments = ", ".join(variable(p) for p in parameters)
        body.append(f"{{ {given} printf(\"= %d\\n\", {name}({arguments})); }}")
    return "\n".join(lines) + "\nint main(void) {\n" + "\n".join(body) + "\nreturn 0; }\n"


# No tail call: whose call it is shows where it returns to.
CALLER = "int cudaDeviceSynchronize(void); int call(void) { volatile int result = cudaDeviceSynchronize(); return result; }"
LOADER = r"""
#include <dlfcn.h>
#include <stdio.h>
#include <stdlib.h>
int main(int argc, char **argv) { /* MODE:PLUGIN ... */
    for (int round = 0; round < 3; round++)
        for (int i = 1; i < argc; i++) {
            const int mode = argv[i][0] == 'g' ? RTLD_GLOBAL : argv[i][0] == 'd' ? RTLD_DEEPBIND : RTLD_LOCAL;
            void *plugin = dlopen(argv[i] + 2, RTLD_NOW | mode);
            int (*call)(void) = NULL;
            if (plugin) *(void **)&call = dlsym(plugin, "call");
            printf("%s %d %s\n", argv[i] + 2, call ? call() : -1, plugin ? "" : dlerror());
            if (argv[i][1] == '-') dlclose(plugin);
        }
    const char *pending = dlerror();
    printf("pending error: %s\n", pending ? pending : "none");
    return 0;
}
"""
JUST_IN_TIME = r"""
#include <stdio.h>
#include <string.h>
#include <sys/mman.h>
int cudaDeviceSynchronize(void);
int main(void) { /* sub $8,%rsp; call *%rdi; add $8,%rsp; ret */
    static const unsigned char code[] = {0x48, 0x83, 0xec, 8, 0xff, 0xd7, 0x48, 0x83, 0xc4, 8, 0xc3};
    int (*call)(int (*)(void)) = mmap(NULL, 4096, PROT_READ | PROT_WRITE | PROT_EXEC, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
    memcpy((void *)call, code, sizeof code);
    printf("%d %d\n", call(cudaDeviceSynchronize), call(cudaDeviceSynchronize));
    return 0;
}
"""
BATCH = r"""
#include <cuda_runtime_api.h>
int main(void) {
    struct cudaMemcpy3DBatchOp copies[2] = {{{cudaMemcpyOperandTypePointer}, {cudaMemcpyOperandTypePointer}, {100, 10, 3}},
                                            {{cudaMemcpyOperandTypePointer}, {cudaMemcpyOperandTypePointer}, {7, 1, 1}}};
    cudaMemcpy3DBatchAsync(2, copies, 0, 0);
    copies[1].dst.type = cudaMemcpyOperandTypeArray;
    cudaMemcpy3DBatchAsync(2, copies, 0, 0);
    return 0;
}
"""
WEAK = r"""
#include <stdio.h>
__attribute__((weak)) int cudaGetDeviceCount(int *);
int main(void) { int n = 7; const int error = cudaGetDeviceCount ? cudaGetDeviceCount(&n) : 100; printf("%d %d\n", error, n); return 0; }
"""


class AbiCase(CuptiCase):
    def setUp(self):
        super().setUp()
        os.mkdir(f"{self.root}/lib")

    def build(self, source, name, *options):
        path = f"{self.root}/lib/{name}"
        made = subprocess.run(["cc", "-w", "-O1", "-x", "c", "-", "-x", "none", "-o", path, *options], input=source, text=True, capture_output=True,
                              check=False)
        self.assertEqual(made.returncode, 0, made.stderr[:2000])
        return path

    def build_runtime(self, soname, result):
        """Symbols have the version that NVIDIA gives them: the soname, less what bundlers of wheels put into it."""
        with open(f"{self.root}/lib/{soname}.map", "w", encoding="ascii") as script:
            script.write(f"libcudart.so.{result} {{ cuda*; __cuda*; }};\n")
        return self.build(runtime_source(result), soname, "-shared", "-fPIC", f"-Wl,-soname,{soname}",
                          f"-Wl,--version-script,{script.name}")

    def build_plugin(self, runtime):
        return self.build(CALLER, f"plugin_{os.path.basename(runtime)}.so", "-shared", "-fPIC", runtime)

    def both(self, command, **environment):
        """The outcome with us, and what is printed without us."""
        environment.setdefault("LD_LIBRARY_PATH", f"{self.root}/lib")
        with_us = self.run_program(command, **environment)
        without = self.run_program(command, **{**environment, "LD_PRELOAD": ""})
        self.assertEqual((with_us.code, with_us.err), (without.code, without.err))
        return with_us, without.out


class Arguments(AbiCase):
    def test_every_argument_arrives(self):
        runtime = self.build_runtime("libcudart.so.90", 1)
        program = self.build(program_source(), "program", runtime)
        outcome, expected = self.both([program])
        self.assertEqual(outcome.out, expected)
        self.assertEqual(expected.count("= 1\n"), len(list(symbols())))
        calls = sum(len(outcome.of(kind)) for kind in ("cuda_call", "cuda_launch", "cuda_transfer", "cuda_memory"))
        quiet = sum(name in ("cudaGetDeviceCount", "cudaSetDevice") or name.startswith(("cudaStreamCreate", "cudaStreamQuery", "cudaEventQuery"))
                    for name, _ in symbols())
        self.assertEqual(calls, len(list(symbols())) - quiet)
        self.assertEqual(outcome.states(), [WRAPPED])

    def test_off(self):
        runtime = self.build_runtime("libcudart.so.90", 1)
        program = self.build(program_source(), "program", runtime)
        for variables in ({"PROFTRACE_CUDA": "0"}, {"PROFTRACE_DISABLE": "1"}):
            outcome, expected = self.both([program], **variables)
            self.assertEqual(outcome.out, expected)

    @unittest.skipUnless(os.path.exists(HEADER), "needs NVIDIA's header")
    def test_rows_are_those_of_the_header(self):
        """The same number of parameters, each of the same size and kind: what goes by value and what by address."""
        with open(HEADER, encoding="utf-8") as file:
            header = file.read()

        def kind_of(parameter):
            parameter = re.sub(r"__dv\(.*?\)|=.*", "", parameter).strip()
            if "*" in parameter or re.search(r"\b(cudaStream_t|cudaEvent_t|cudaGraph\w*_t|cudaKernel_t|cudaMemPool_t|cudaLibrary_t|cuda(Mipmapped)?Array\w*_t|cudaHostFn_t|cudaStreamCallback_t)\b",
                                             parameter):
                return "address"
            for words, kind in ((r"dim3", "dim3"), (r"(struct )?(cudaExtent|extent)", "extent"), (r"(struct )?(cudaPitchedPtr|pitched)", "pitched"),
                                (r"size_t|unsigned long long", "long"), (r"(cudaIpcMemHandle_t|memory_handle)", "handle"), (r"(enum \w+|int|unsigned( int)?)", "int")):
                if re.match(rf"(struct )?({words})\b", parameter):
                    return kind
            return parameter

        checked = 0
        for name, _, parameters in rows():
            found = re.search(rf"extern __host__[^;]*?\b{name}\(([^;]*?)\);", header)
            if not found:
                continue  # inline in the header, or of another version
            theirs = [p.strip() for p in re.sub(r"\s+", " ", found.group(1)).split(",")]
            theirs = [] if theirs == ["void"] else [kind_of(p) for p in theirs]
            ours = [kind_of(p) for p in parameters]
            if name in LONGER_THAN_HEADER:
                ours = ours[:len(theirs)] if name == "cudaMemcpyBatchAsync" else theirs
            self.assertEqual(ours, theirs, name)
            checked += 1
        self.assertGreater(checked, 65)

    def test_every_call_has_a_wrapper(self):
        """Of what cuda_calls.def tells apart, but what no runtime since 11 has."""
        calls = {row.args[0] for row in deftable.rows(os.path.join(ROOT, "preload/cuda/cuda_calls.def")) if row.name == "CALL"}
        wrapped = {name for name, _, _ in rows()}
        self.assertEqual({name for name in calls - wrapped if name.startswith("cuda")}, {"cudaLaunch", "cudaThreadSynchronize"})

    @unittest.skipUnless(os.path.exists(HEADER), "needs NVIDIA's header")
    def test_bytes_of_a_batch(self):
        """Of copies between pointers; an array's are in elements, whose size nobody says."""
        runtime = self.build_runtime("libcudart.so.90", 0)
        outcome = self.run_program([self.build(BATCH, "batch", f"-I{os.path.dirname(HEADER)}", runtime)],
                                   LD_LIBRARY_PATH=f"{self.root}/lib")
        self.assertEqual(outcome.code, 0, outcome.err)
        self.assertEqual([(e["name"], e["bytes"], e["kind"]) for e in outcome.of("cuda_transfer")],
                         [("cudaMemcpy3DBatchAsync", 3000 + 7, 1), ("cudaMemcpy3DBatchAsync", 0, 1)])


class Versions(AbiCase):
    """Modules that were linked with different runtimes, in one process."""

    def test_each_caller_its_own(self):
        plugins = [self.build_plugin(self.build_runtime(soname, result))
                   for soname, result in (("libcudart.so.90", 90), ("libcudart.so.91", 91), ("libcudart-9335f6a2.so.92.1", 92))]
        program = self.build(LOADER, "loader", "-ldl")
        for modes in ("l:l:l:", "g:l:l:", "l:g:d:", "g:g:g:", "l-l-l-"):
            arguments = [modes[2 * i:2 * i + 2] + plugin for i, plugin in enumerate(plugins)]
            with self.subTest(modes):
                outcome, expected = self.both([program, *arguments])
                self.assertEqual(outcome.out, expected)
                self.assertIn("pending error: none", expected)
                if "g:l" in modes:
                    self.assertEqual(len(outcome.of("cuda_call")), 9)

    def test_program_and_plugin_differ(self):
        one, other = self.build_runtime("libcudart.so.90", 90), self.build_runtime("libcudart.so.91", 91)
        plugin = self.build_plugin(other)
        program = self.build(LOADER.replace("for (int round", "printf(\"own %d\\n\", cudaDeviceSynchronize());\n    for (int round"),
                             "loader", "-ldl", one)
        outcome, expected = self.both([program, "l:" + plugin])
        self.assertEqual(outcome.out, expected)
        self.assertIn("own 90", outcome.out)

    def test_version_that_lacks_functions(self):
        """11 has no __cudaLaunchKernel; a program of 11 gets all the rest, and no error is left for its dlerror."""
        source = re.sub(r"int __cudaLaunchKernel\w*\(.*\n", "", runtime_source(11))
        runtime = self.build(source, "libcudart.so.11.0", "-shared", "-fPIC", "-Wl,-soname,libcudart.so.11.0")
        outcome, expected = self.both([self.build(LOADER, "loader", "-ldl"), "l:" + self.build_plugin(runtime)])
        self.assertEqual(outcome.out, expected)

    def test_code_in_no_module(self):
        """Compiled just in time, as numba does: there is nobody to ask which runtime was meant, so the one that is there."""
        runtime = self.build_runtime("libcudart.so.90", 90)
        outcome, expected = self.both([self.build(JUST_IN_TIME, "just_in_time", runtime)])
        self.assertEqual(outcome.out, expected)
        self.assertEqual(len(outcome.of("cuda_call")), 2)

    def test_without_any_runtime(self):
        """Programs that ask by a weak reference whether there is CUDA find ours, and hear that there is no device."""
        outcome, expected = self.both([self.build(WEAK, "weak")])
        self.assertEqual(outcome.out, expected)


if __name__ == "__main__":
    main()
