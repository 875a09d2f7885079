# SPDX-License-Identifier: MIT
# What frameworks around PyTorch know and PyTorch does not: which pass is a validation. Runs when the first of them is imported.


def patch_safetensors(module):
    for name in "save_file", "save_model":
        replace(module, name, CHECKPOINT, "save")
    for name in "load_file", "load_model":
        replace(module, name, CHECKPOINT, "load")


def methods(phase, **names):
    """names: {class: method}, each a phase."""
    def patch(module):
        for kind, name in names.items():
            kind = module.__dict__.get(kind)
            if kind is not None and name in kind.__dict__:
                replace(kind, name, phase, is_method=True)
    return patch


def patch_send(module):
    replace(module, "send_to_device", TRANSFER, hides=1 << TRANSFER)


def patch_move(module):
    replace(module, "move_data_to_device", TRANSFER)


def patch_ultralytics(module, LOADER_START=LOADER_START, DATA_WAIT=DATA_WAIT, EXHAUSTED=EXHAUSTED, begin=begin, end=end):
    """A loader that never ends: its iterator is read for as many batches as a pass has."""
    kind = module.InfiniteDataLoader
    original = kind.__iter__
    began_pass = globals().get("began_pass")  # of window.py; not there before torch is

    def __iter__(self):
        dataset, workers = self.__dict__.get("dataset"), self.__dict__.get("num_workers", 0)
        try:  # a signal's handler may raise between both
            begin(LOADER_START, self, type(dataset).__name__)
        finally:
            end(workers, 0, self.__dict__.get("iterator"))
        if began_pass:
            began_pass(self.__dict__.get("iterator"), self)
        yield from original(self)
        try:
            begin(DATA_WAIT, self.__dict__.get("iterator"))
        finally:
            end(0, EXHAUSTED)

    kind.__iter__ = stand_before(original, __iter__)


for name in [name for name, then in watched.items() if then == "frameworks"]:
    watched[name] = None
watch_for({
    "safetensors.torch": patch_safetensors,
    "accelerate.utils.operations": patch_send,
    "lightning.fabric.utilities.apply_func": patch_move,
    "lightning_fabric.utilities.apply_func": patch_move,
    "lightning.pytorch.loops.evaluation_loop": methods(VALIDATION, _EvaluationLoop="run"),
    "pytorch_lightning.loops.evaluation_loop": methods(VALIDATION, _EvaluationLoop="run"),
    "transformers.trainer": methods(VALIDATION, Trainer="evaluate"),
    "ultralytics.data.build": patch_ultralytics,
    "ultralytics.engine.validator": methods(VALIDATION, BaseValidator="__call__"),
})
