# SPDX-License-Identifier: MIT
"""A small training on the doubles of CUDA, recorded with nothing but the preload: what GPU tests of the viewers look at."""
import os
import subprocess

from viewer_case import BUILD, SOURCE

DOUBLES, LIBRARY = BUILD / "fakecuda", BUILD / "libproftrace.so"


def why_not():
    for path in (DOUBLES / "libminitorch_13.so", LIBRARY, BUILD / "proftrace"):
        if not path.exists():
            return f"{path} is not built"
    return None


def record(folder, *options, **variables):
    """The run directory of a training, with variables in its environment."""
    environment = {key: value for key, value in os.environ.items()
                   if not key.startswith(("FAKECUDA", "CUDA", "LD_", "PROFTRACE", "NVTX"))}
    environment.update(LD_LIBRARY_PATH=str(DOUBLES / "lib"), FAKECUDA_WITNESS=str(folder / "witness"), LD_PRELOAD=str(LIBRARY),
                       PROFTRACE_DIR=str(folder / "trace"), CUDA_INJECTION64_PATH=str(LIBRARY),
                       NVTX_INJECTION64_PATH=str(LIBRARY), PROFTRACE_BUILD=str(BUILD.resolve()), **variables)
    subprocess.run(["/usr/bin/python3", SOURCE / "tests" / "fakecuda" / "mini_torch.py", *options], cwd=folder, env=environment,
                   check=True, capture_output=True, timeout=120)
    return folder / "trace" / "latest"
