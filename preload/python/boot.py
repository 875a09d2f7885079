# SPDX-License-Identifier: MIT
# Runs first, in every interpreter: as little as possible (what a line costs is its compilation), and nothing is imported
# that was not. collected, load and functions (an option) are of C. All else waits in imports.py until a program imports one of `watched`.
# No module is held: -v tells of the end of each.
from sys import modules

watched = dict.fromkeys("numpy pandas scipy sklearn matplotlib cv2 pyarrow datasets torchvision torchaudio tensorflow jax triton sympy".split())
watched.update(dict.fromkeys("lightning pytorch_lightning transformers accelerate ultralytics safetensors".split(), "frameworks"))
watched.update(dict.fromkeys(("keras", "tf_keras"), "keras_phases"))
watched["torch"] = "torch_phases"  # the script that knows more; None: only how long the import takes


class Finder:
    """The only one, in the place where it was put: programs save sys.meta_path and put it back (pytest, monkeypatch)."""
    @staticmethod
    def find_spec(name, path=None, target=None):
        if name not in watched:
            return None
        if find is None:
            load("imports")
        return find and find(name, path, target)


def boot():
    global gc  # kept: -v would tell of its end
    gc = modules.get("gc")
    if gc is None:  # without an import that -v would tell of
        imp = modules["_imp"]
        gc = imp.create_builtin(type(modules["sys"].__spec__)("gc", None))
        imp.exec_builtin(gc)
        modules.pop("gc", None)
    gc.callbacks.append(collected)
    modules["sys"].meta_path.insert(0, Finder)
    if functions or not watched.keys().isdisjoint(modules):
        load("imports")


find = None  # what imports.py finds a module with, when all of it has run
boot()
