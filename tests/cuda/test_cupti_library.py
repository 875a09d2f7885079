#!/usr/bin/python3
# SPDX-License-Identifier: MIT
"""Which libcupti is taken: the one that is mapped already, else the one that came with the program's CUDA, wherever that lies."""
import os
import shutil

from cupti_case import CUPTI, DOUBLES, WRAPPED, CuptiCase, main


class LibraryTest(CuptiCase):
    def install(self, **folders):
        """Puts the named doubles, and the engine, into folders below the root."""
        for folder, names in folders.items():
            where = f"{self.root}/{folder.replace('__', '/')}"
            os.makedirs(where, exist_ok=True)
            for name in names.split() + ["libfakegpu.so"]:
                shutil.copy(f"{DOUBLES}/lib/{name}", where)

    def recorded_by(self, major, path, **environment):
        """The libcupti that the trace says it is from; `path` is where the loader looks for the runtime."""
        os.makedirs(f"{self.root}/bin", exist_ok=True)
        program = shutil.copy(f"{DOUBLES}/workload_{major}", f"{self.root}/bin")
        more = {"CUDA_HOME": "", "CUDA_PATH": "", **environment}
        outcome = self.run_program([program, "basic", "1"], LD_LIBRARY_PATH=f"{self.root}/{path}", **more)
        self.assertEqual(outcome.code, 0, outcome.err)
        said = outcome.of("gpu_tracing")[0]
        self.assertEqual(said["state"], CUPTI, said["reason"])
        self.assert_operations(outcome)
        return os.path.relpath(os.path.realpath(said["reason"].split(", ")[1]), os.path.realpath(self.root))

    def test_wheels_of_cuda_12(self):
        self.install(nvidia__cuda_runtime__lib="libcudart.so.12", nvidia__cuda_cupti__lib="libcupti.so.12")
        self.assertEqual(self.recorded_by(12, "nvidia/cuda_runtime/lib"), "nvidia/cuda_cupti/lib/libcupti.so.12")

    def test_wheels_of_cuda_13(self):
        self.install(nvidia__cu13__lib="libcudart.so.13 libcupti.so.13")
        self.assertEqual(self.recorded_by(13, "nvidia/cu13/lib"), "nvidia/cu13/lib/libcupti.so.13")

    def test_cuda_11(self):
        """In CUDA 11 the name of libcupti has the minor version, that of the runtime has not: as in the wheels of PyTorch 1.13."""
        for name in ("libcupti.so.11.8", "libcupti.so.11.7", "libcupti.so.11.0"):
            with self.subTest(name=name):
                self.install(**{f"{name}__nvidia__cuda_runtime__lib": "libcudart.so.11.0", f"{name}__nvidia__cuda_cupti__lib": ""})
                shutil.copy(f"{DOUBLES}/lib/libcupti.so.11.8", f"{self.root}/{name}/nvidia/cuda_cupti/lib/{name}")
                self.assertEqual(self.recorded_by(11, f"{name}/nvidia/cuda_runtime/lib"), f"{name}/nvidia/cuda_cupti/lib/{name}")

    def test_newer_minor_elsewhere(self):
        """The one beside the runtime is the program's: a newer one of the same CUDA 11, below CUDA_HOME or where the loader looks, is not."""
        self.install(env__lib="libcudart.so.11.0", home__lib64="libcupti.so.11.8")
        shutil.copy(f"{DOUBLES}/lib/libcupti.so.11.8", f"{self.root}/env/lib/libcupti.so.11.7")
        for what, path, environment in (("home", "env/lib", {"CUDA_HOME": f"{self.root}/home"}), ("name", f"env/lib:{self.root}/home/lib64", {})):
            with self.subTest(what=what):
                self.assertEqual(self.recorded_by(11, path, **environment), "env/lib/libcupti.so.11.7")

    def test_toolkit(self):
        self.install(toolkit__lib64="libcudart.so.12", toolkit__extras__CUPTI__lib64="libcupti.so.12")
        self.assertEqual(self.recorded_by(12, "toolkit/lib64"), "toolkit/extras/CUPTI/lib64/libcupti.so.12")

    def test_cuda_home(self):
        self.install(lib="libcudart.so.12", home__extras__CUPTI__lib64="libcupti.so.12")
        self.assertEqual(self.recorded_by(12, "lib", CUDA_HOME=f"{self.root}/home"), "home/extras/CUPTI/lib64/libcupti.so.12")

    def test_major_of_the_runtime(self):
        """Both majors lie there: the one of the runtime that the program uses is taken."""
        self.install(lib="libcudart.so.12 libcudart.so.13 libcupti.so.12 libcupti.so.13")
        self.assertEqual(self.recorded_by(12, "lib"), "lib/libcupti.so.12")
        self.assertEqual(self.recorded_by(13, "lib"), "lib/libcupti.so.13")

    def test_mapped_already(self):
        """The program has linked one: a second copy beside the runtime is not opened, two in one process refuse each other."""
        self.install(mine="libcupti.so.13", lib="libcudart.so.13")
        shutil.copy(f"{DOUBLES}/lib/libcupti.so.13", f"{self.root}/lib")
        os.makedirs(f"{self.root}/bin", exist_ok=True)
        program = shutil.copy(f"{DOUBLES}/cupti_program", f"{self.root}/bin")
        outcome = self.run_program([program, "return"], LD_LIBRARY_PATH=f"{self.root}/mine:{self.root}/lib")
        self.assertEqual(outcome.code, 0, outcome.err)
        self.assertIn(f"{self.root}/mine/libcupti.so.13", outcome.of("gpu_tracing")[0]["reason"])

    def test_broken_library(self):
        """Something else by that name: said, not crashed."""
        self.install(lib="libcudart.so.13")
        shutil.copy(f"{DOUBLES}/lib/libfakegpu.so", f"{self.root}/lib/libcupti.so.13")
        os.makedirs(f"{self.root}/bin", exist_ok=True)
        program = shutil.copy(f"{DOUBLES}/workload_13", f"{self.root}/bin")
        outcome = self.run_program([program, "basic", "1"], LD_LIBRARY_PATH=f"{self.root}/lib", CUDA_HOME="", CUDA_PATH="")
        self.assertEqual(outcome.code, 0, outcome.err)
        self.assertEqual([s for s in outcome.states() if s != WRAPPED], [])
        self.assertIn("this libcupti has no cupti", outcome.of("gpu_tracing")[0]["reason"])


if __name__ == "__main__":
    main()
