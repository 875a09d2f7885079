# SPDX-License-Identifier: MIT
# Keras tells its callbacks of epochs, steps and validation; that is what is seen here, with any backend. Runs when Keras is first
# imported, in boot.py's globals. A step is one call into the framework, forward, backward and update together: a phase of its own.


def tell(owner, name, before=None, after=None, local=local):
    """What a list of callbacks does in the middle of a training, with a call of ours before or after it."""
    original = owner.__dict__.get(name)
    if original is None:
        return

    def told(self, *args, **kwargs):
        if before is not None and local.trains:
            before(self)
        result = original(self, *args, **kwargs)
        if after is not None and local.trains:
            after(self)
        return result

    setattr(owner, name, stand_before(original, told))


def step_begins(callbacks, begin=begin, local=local, TRAIN_STEP=TRAIN_STEP):
    step_ends(callbacks, outcome=EXHAUSTED)
    local.open |= 1 << TRAIN_STEP
    begin(TRAIN_STEP)


def step_ends(callbacks, outcome=DONE, end=end, local=local, TRAIN_STEP=TRAIN_STEP):
    if local.open & 1 << TRAIN_STEP:
        local.open &= ~(1 << TRAIN_STEP)
        end(0, outcome)


def data_ended(callbacks):
    """A step that the data did not suffice for never ends."""
    step_ends(callbacks, outcome=EXHAUSTED)


def validation_begins(callbacks, begin=begin, local=local, VALIDATION=VALIDATION):
    data_ended(callbacks)
    if not local.open & 1 << VALIDATION:
        local.open |= 1 << VALIDATION
        begin(VALIDATION, callbacks)


def validation_ends(callbacks, end=end, local=local, VALIDATION=VALIDATION):
    if local.open & 1 << VALIDATION:
        local.open &= ~(1 << VALIDATION)
        end()


def training_ends(callbacks, local=local):
    data_ended(callbacks)
    local.trains -= local.trains > 0


def patch_begin(owner, local=local):
    original = owner.on_train_begin

    def on_train_begin(self, *args, **kwargs):
        local.trains += 1
        return original(self, *args, **kwargs)

    owner.on_train_begin = stand_before(original, on_train_begin)


def patch_epoch(owner, epoch=epoch, data_ended=data_ended):
    original = owner.on_epoch_begin

    def on_epoch_begin(self, *args, **kwargs):
        data_ended(self)
        epoch(args[0] if args else kwargs.get("epoch"))  # a program with a loop of its own may name it
        return original(self, *args, **kwargs)

    owner.on_epoch_begin = stand_before(original, on_epoch_begin)


def patch_callbacks(module):
    kind = module.__dict__.get("CallbackList")
    if kind is None or kind.__module__ != module.__name__:  # only passed on from where it is made
        return
    patch_begin(kind)
    patch_epoch(kind)
    tell(kind, "on_train_end", before=training_ends)
    tell(kind, "on_train_batch_begin", after=step_begins)
    tell(kind, "on_train_batch_end", before=step_ends)
    tell(kind, "on_epoch_end", before=data_ended)
    tell(kind, "on_test_begin", before=validation_begins)
    tell(kind, "on_test_end", after=validation_ends)


def fit_of(kind, end=end, local=local, RAISED=RAISED, phases=(TRAIN_STEP, VALIDATION)):
    """Keras tells its callbacks nothing of an exception: who interrupts a notebook, or catches it and goes on, left a step that never ends."""
    original = kind.fit

    def fit(*args, **kwargs):
        was, trains = local.open, local.trains
        try:
            return original(*args, **kwargs)
        finally:
            for phase in phases:
                if local.open & ~was & 1 << phase:
                    end(0, RAISED)
            local.open, local.trains = was, trains

    kind.fit = stand_before(original, fit)


def patch_fit(module):
    for kind in list(module.__dict__.values()):
        if isinstance(kind, type) and kind.__module__ == module.__name__ and "fit" in kind.__dict__:
            fit_of(kind)


# ---- data, where Python fetches it ----

def samples_of(batch):
    """0 = unknown. Asks arrays of the frameworks only, never a class of the program."""
    while type(batch) in (tuple, list, dict) and batch:
        batch = next(iter(batch.values())) if type(batch) is dict else batch[0]
    module = getattr(type(batch), "__module__", None)  # a class need not have one
    if type(module) is not str or module.partition(".")[0] not in ("numpy", "jaxlib", "jax"):
        return 0
    shape = batch.shape
    return int(shape[0]) if len(shape) else 0


def waits_of(iterator, begin=begin, end=end, DATA_WAIT=DATA_WAIT, RAISED=RAISED, EXHAUSTED=EXHAUSTED, samples_of=samples_of):
    while True:
        n, outcome = 0, RAISED
        begin(DATA_WAIT, iterator)
        try:
            batch = next(iterator)
            outcome = 0
            n = samples_of(batch)
        except StopIteration:
            outcome = EXHAUSTED
            return
        finally:
            end(n, outcome)
        yield batch


def field_of(thing, name):
    """Without any code of its class, which may be the program's."""
    try:
        return dict.get(object.__getattribute__(thing, "__dict__"), name)
    except (AttributeError, TypeError):
        return None


def workers_of(adapter, UNKNOWN=0xffffffff, field_of=field_of):  # PT_WORKERS_UNKNOWN
    """Threads or processes that make batches ahead of the training."""
    kind = type(adapter).__name__
    if kind != "PyDatasetAdapter":
        return 0 if kind in ("ArrayDataAdapter", "GeneratorDataAdapter") else UNKNOWN
    if field_of(adapter, "enqueuer") is None:
        return 0
    n = field_of(field_of(adapter, "py_dataset"), "_workers")
    return n if type(n) is int else UNKNOWN


def patch_jax(module, begin=begin, end=end, local=local, LOADER_START=LOADER_START, RAISED=RAISED, waits_of=waits_of, workers_of=workers_of):
    """The backend that hands Python's own iterator to its step. TensorFlow reads its data inside of the step, where nobody sees it;
    with PyTorch it is a DataLoader."""
    patch_fit(module)
    kind = module.JAXEpochIterator
    original = kind._get_iterator

    def _get_iterator(self):
        batches, kind = original(self), type(self.data_adapter).__name__
        # Keras looks at a first batch to learn its shapes; a DataLoader has phases of its own
        if not local.trains or kind == "TorchDataLoaderAdapter":
            return batches
        workers, outcome, iterator = workers_of(self.data_adapter), RAISED, 0
        try:  # a signal's handler may raise anywhere
            begin(LOADER_START, self, kind)
            iterator = iter(batches)
            outcome = 0
        finally:
            end(workers, outcome, iterator)
        return waits_of(iterator)

    kind._get_iterator = stand_before(original, _get_iterator)


for name in [name for name, then in watched.items() if then == "keras_phases"]:
    watched[name] = None
watch_for({
    "keras.src.callbacks.callback_list": patch_callbacks,
    "keras.src.callbacks": patch_callbacks,  # Keras 2.13 and later 2.x
    "keras.callbacks": patch_callbacks,  # before
    "tf_keras.src.callbacks": patch_callbacks,
    "keras.src.backend.jax.trainer": patch_jax,
    "keras.src.backend.tensorflow.trainer": patch_fit,
    "keras.src.backend.torch.trainer": patch_fit,
    **{f"{where}.{name}": patch_fit for where in ("keras.engine", "keras.src.engine", "tf_keras.src.engine") for name in ("training", "training_v1")},
})
