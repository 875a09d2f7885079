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
    @staticmethod
    def find_spec(name, path=None, target=None):
        if name in watched:
            finders = modules["sys"].meta_path
            finders.remove(Finder)
            load("imports")  # puts another in its place
            return finders[0].find_spec(name, path, target)


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
        modules["sys"].meta_path.remove(Finder)
        load("imports")


boot()
