# SPDX-License-Identifier: MIT
# The phases of a training with PyTorch 1.13 and later. Runs when torch is first imported, in boot.py's globals.
#
# What stands before a function of torch is a Python function that says that it is that function: same name, signature,
# file, globals and flags. So pickle, inspect, warnings, LRScheduler and TorchDynamo treat it as they treat torch's own.
# It has no globals of ours: all it needs are parameters of the function that makes it. Nothing is ever put on an
# instance, no hook is registered for modules, and what a program's classes define is never called.


stepped = fed = began_pass = called_model = None  # of window.py
if window:
    load("window")


def patch_dynamo(module):
    skip = getattr(module, "skip_code", None) or modules["torch._C._dynamo.eval_frame"].skip_code
    for thing in [*globals().values(), Finder.find_spec, Run.__call__]:
        code = getattr(thing, "__code__", None)
        if code is not None:
            codes.append(code)
    for code in codes:
        skip(code)
    skips.append(skip)


def show_original(ours):
    """What Dynamo takes instead where it looks into a call."""
    ours._torchdynamo_inline = ours.__wrapped__


def ranged(original, phase, name=None, is_method=False, hides=0, begin=begin, end=end, local=local, RAISED=RAISED):
    """`original` as a phase, outermost only. hides: what else is not recorded inside it."""
    bit = 1 << phase

    def phased(*args, **kwargs):
        was = local.open
        if was & bit:
            return original(*args, **kwargs)
        try:
            local.open = was | bit | hides
            begin(phase, args[0] if is_method and args else 0, name)
            result = original(*args, **kwargs)
        except BaseException:
            local.open = was
            end(0, RAISED)
            raise
        local.open = was
        end()
        return result

    return stand_before(original, phased)


def replace(owner, name, phase, label=None, is_method=False, hides=0):
    original = getattr(owner, name, None)
    if original is not None:
        setattr(owner, name, ranged(original, phase, label, is_method, hides))


# ---- data ----

def length(value):
    """Samples in a tensor or an array that stacks them."""
    kind = type(value)
    if kind is Tensor or kind.__name__ == "ndarray" and kind.__module__ == "numpy":
        shape = value.shape
        return int(shape[0]) if len(shape) else 0
    return 0


def parts(value):
    """What a batch consists of, at most 16: without asking a class of the program."""
    kind = type(value)
    if issubclass(kind, dict):
        return list(dict.values(value))[:16]
    if issubclass(kind, (list, tuple)):
        return list((list if issubclass(kind, list) else tuple).__getitem__(value, slice(16)))
    if kind.__module__.startswith("transformers."):  # BatchEncoding, BatchFeature
        return parts(value.__dict__.get("data", ()))
    return ()


def samples_in(batch, expected):
    """How many samples a batch has; 0 = unknown. expected: how many the loader puts into one, if it is known."""
    try:
        return count_samples(batch, expected)
    except Exception as error:
        if is_theirs(error):
            raise
        return 0


def count_samples(batch, expected):
    n = length(batch)
    if n:
        return min(n, expected or n)
    inside = parts(batch)
    lengths = list(filter(None, map(length, inside)))
    size = len(batch) if type(batch) in (list, tuple) else 0
    # A list of that many samples, which are tensors; or one part of many: the boxes of all images may come before the images.
    some = lengths + [len(part) for part in inside if type(part) in (list, tuple)]
    if expected and (size == expected or expected in some):
        return expected
    if lengths:
        return next((n for n in some if not expected or n <= expected), expected)
    for part in inside:  # columns of samples, or stacked tensors in groups
        if type(part) in (list, tuple):
            n = next(filter(None, map(length, parts(part))), 0)
            return n if n and n == expected else len(part)
    return size


def expected_samples(iterator):
    sampler = iterator.__dict__.get("_index_sampler")
    if type(sampler).__name__ == "_RepeatSampler":  # of ultralytics and timm: around what a loader has, so that it never ends
        sampler = getattr(sampler, "__dict__", {}).get("sampler")
    size = getattr(sampler, "__dict__", {}).get("batch_size") if type(sampler).__name__ == "BatchSampler" else None
    return size if type(size) is int else 0


def before_next(original, DATA_WAIT=DATA_WAIT, RAISED=RAISED, EXHAUSTED=EXHAUSTED, begin=begin, end=end, local=local,
                samples_in=samples_in, expected_samples=expected_samples, fed=fed):
    def __next__(self):
        n, outcome = 0, RAISED
        try:
            begin(DATA_WAIT, self)
            local.samples = 0
            batch = original(self)
            outcome = 0
            n = local.samples or samples_in(batch, expected_samples(self))
            if fed:
                fed(self)
            return batch
        except StopIteration:
            outcome = EXHAUSTED
            if fed:  # accelerate reads a batch ahead: the last step comes after this
                fed(self)
            raise
        finally:
            end(n, outcome)

    return stand_before(original, __next__)


def before_iter(original, LOADER_START=LOADER_START, RAISED=RAISED, begin=begin, end=end, local=local, began_pass=began_pass):
    def __iter__(self):
        was, dataset = local.starts, self.__dict__.get("dataset")
        try:
            local.starts = True
            begin(LOADER_START, self, type(dataset).__name__)
            iterator = original(self)
        except BaseException:
            local.starts = was
            end(0, RAISED)
            raise
        local.starts = was
        end(self.__dict__.get("num_workers", 0), 0, iterator)
        if began_pass:
            began_pass(iterator, self)
        return iterator

    return stand_before(original, __iter__)


def before_start(original, LOADER_START=LOADER_START, begin=begin, end=end, local=local, began_pass=began_pass):
    """Of an iterator's __init__ and _reset: a loader of the program may have an __iter__ of its own, which never comes to DataLoader's.
    What such a program hands over may be no DataLoader: only the iterator is asked."""
    def start(self, loader, *args, **kwargs):
        original(self, loader, *args, **kwargs)
        if local.starts or (args[0] if args else kwargs.get("first_iter")):  # _reset by an __init__
            return
        dataset, workers = self.__dict__.get("_dataset"), self.__dict__.get("_num_workers", 0)
        try:  # a signal's handler may raise between both
            begin(LOADER_START, loader, type(dataset).__name__)
        finally:
            end(workers, 0, self)
        if began_pass:
            began_pass(self, loader)

    return stand_before(original, start)


def before_fetch(original, WORKER_FETCH=WORKER_FETCH, RAISED=RAISED, EXHAUSTED=EXHAUSTED, begin=begin, end=end, local=local,
                 samples_in=samples_in):
    def fetch(self, possibly_batched_index):
        was = local.open
        n, outcome = 0, RAISED
        try:
            local.open = -1  # transforms that are modules, tensors that are loaded: parts of it, not phases of the training
            begin(WORKER_FETCH, self)
            data = original(self, possibly_batched_index)
            outcome = 0
            index = possibly_batched_index if type(possibly_batched_index) is list else ()
            local.samples = n = len(index) if index and index[0] is not None else samples_in(data, len(index))
            return data
        except StopIteration:
            outcome = EXHAUSTED
            raise
        finally:
            local.open = was
            end(n, outcome)

    return stand_before(original, fetch)


def patch_dataloader(module):
    global Tensor
    Tensor = modules["torch"].Tensor
    base = module._BaseDataLoaderIter
    base.__next__ = before_next(base.__next__)
    base.__init__ = before_start(base.__init__)
    base._reset = before_start(base._reset)
    if "next" in base.__dict__:  # of Python 2, in PyTorch 1
        base.next = base.__next__
    module.DataLoader.__iter__ = before_iter(module.DataLoader.__iter__)


def patch_stateful(module):
    kind = module.StatefulDataLoader
    kind.__iter__ = before_iter(kind.__iter__)


def patch_fetch(module):
    for kind in module._MapDatasetFetcher, module._IterableDatasetFetcher:
        kind.fetch = before_fetch(kind.fetch)


# ---- forward and backward ----

AROUND = {"OptimizedModule": "_orig_mod", "DistributedDataParallel": "module", "DataParallel": "module", "FullyShardedDataParallel": "_fsdp_wrapped_module",
          "FlattenParamsWrapper": "_fpw_module"}  # the last: within the one before it, in PyTorch 1


def model_in(module, AROUND=AROUND, true_name=type.__dict__["__name__"].__get__):
    """A model, not what is around it for a compiler or for other ranks, and its name."""
    kind = type(module)
    try:
        while kind.__module__.startswith("torch."):
            part, bases = AROUND.get(kind.__name__), kind.__bases__
            if part:
                inner = module.__dict__["_modules"].get(part)
                if inner is None:
                    break
                module, kind = inner, type(inner)
            elif len(bases) == 2 and bases[0].__module__.startswith("torch.distributed."):
                kind = bases[1]  # fully_shard and replicate make a class FSDPNet of the model's Net, and change the model to it
            else:
                break
        return module, kind.__name__
    except Exception as error:  # a class need not have a module, and its own class may answer in its own way
        if is_theirs(error):
            raise
        return module, true_name(kind)


def is_evaluated(model, own):
    """own: the getter of a Module's __dict__; a class of the program may have its own way to attributes, and would be called."""
    try:
        return dict.get(own(model), "training") is False
    except Exception as error:  # called with what is no module
        if is_theirs(error):
            raise
        return False


def mode_of(model, own, local=local):
    """Whether it is in evaluation mode, and whether it was in training mode before: here a validation may begin."""
    was = local.evaluated
    if is_evaluated(model, own):
        local.evaluated = id(model)
        return 1, int(was != id(model))
    if was == id(model):
        local.evaluated = 0
    return 0, 0


def before_call(original, own, FORWARD=FORWARD, RAISED=RAISED, begin=begin, end=end, local=local, model_in=model_in, mode_of=mode_of,
                called_model=called_model):
    bit = 1 << FORWARD

    def __call__(self, *args, **kwargs):
        was = local.open
        if was & bit:
            return original(self, *args, **kwargs)
        # Before the try: what a handler of a signal raises here must not end the phase around this call.
        model, name = model_in(self)
        evaluates, begins = mode_of(model, own)
        if called_model:
            called_model(self, model, name)
        try:
            local.open = was | bit
            begin(FORWARD, model, name, begins)
            result = original(self, *args, **kwargs)
        except BaseException:
            local.open = was
            end(0, RAISED)
            raise
        local.open = was
        end(evaluates)
        return result

    return stand_before(original, __call__)


def before_move(original, ranged=ranged, TRANSFER=TRANSFER):
    phased = ranged(original, TRANSFER, is_method=True)

    def move(*args, **kwargs):
        own = args[0].__dict__ if args else {}  # without one: its own TypeError
        # A metric is a module, too, and is moved in each step.
        return (phased if own.get("_modules") or own.get("_parameters") else original)(*args, **kwargs)

    return stand_before(original, move)


def patch_module(module):
    kind = module.Module
    original = kind.__call__
    ours = before_call(original, kind.__dict__["__dict__"].__get__)
    show_original(ours)
    # torch has it by two names, and says the second one: pickle fails if that is not the same function.
    for name in "__call__", original.__name__:
        if kind.__dict__.get(name) is original:
            setattr(kind, name, ours)
    for name in "to", "cuda":
        setattr(kind, name, before_move(getattr(kind, name)))
        show_original(getattr(kind, name))
    replace(kind, "zero_grad", ZERO_GRAD, is_method=True)
    show_original(kind.zero_grad)


def patch_autograd(module):
    replace(module, "backward", BACKWARD)
    replace(module, "grad", BACKWARD, "grad")


# ---- optimizers ----

def before_step(original, compiling, ours_of_step, OPTIMIZER_STEP=OPTIMIZER_STEP, RAISED=RAISED):
    bit = 1 << OPTIMIZER_STEP

    def step(*args, **kwargs):
        if compiling():  # not show_original: wrappers of schedulers would copy it, and Dynamo pass them over
            return original(*args, **kwargs)
        if not ours_of_step or not args:
            return original(*args, **kwargs)
        local = ours_of_step.local
        was = local.open
        if was & bit:
            return original(*args, **kwargs)
        try:
            local.open = was | bit
            local.steps += 1
            ours_of_step.begin(OPTIMIZER_STEP, args[0], type(args[0]).__name__)
            result = original(*args, **kwargs)
        except BaseException:
            local.open = was
            ours_of_step.end(0, RAISED)
            raise
        local.open = was
        ours_of_step.end()
        if ours_of_step.stepped:
            ours_of_step.stepped(args[0])
        return result

    return stand_before(original, step)


def is_before_step(function):
    """False also of one that came from another process."""
    names = getattr(getattr(function, "__code__", None), "co_freevars", ())
    return "ours_of_step" in names and bool(function.__closure__[names.index("ours_of_step")].cell_contents)


def step_of(kind):
    if not is_before_step(kind.step):
        kind.step = before_step(kind.step, getattr(getattr(modules["torch"], "compiler", None), "is_compiling", bool), ours_of_step)


ours_of_step = Ours(begin=begin, end=end, local=local, stepped=stepped)


def patch_optimizer(module, step_of=step_of):
    kind = module.Optimizer
    name = "_patch_step_function" if hasattr(kind, "_patch_step_function") else "_hook_for_profile"
    original = getattr(kind, name)

    # torch wraps `step` of each class when the first optimizer of it is made; ours goes around that.
    def hook(self):
        original(self)
        step_of(type(self))

    setattr(kind, name, stand_before(original, hook))
    replace(kind, "zero_grad", ZERO_GRAD, is_method=True)


def before_scaler_step(original, GRAD_SCALING=GRAD_SCALING, RAISED=RAISED, begin=begin, end=end, local=local, is_before_step=is_before_step):
    def step(*args, **kwargs):
        if not args or not args[0].__dict__.get("_enabled"):
            return original(*args, **kwargs)
        optimizer = args[1] if len(args) > 1 else kwargs.get("optimizer")
        steps = local.steps
        try:
            begin(GRAD_SCALING, optimizer, "step")
            result = original(*args, **kwargs)
        except BaseException:
            end(0, RAISED)
            raise
        # Skipped, as far as it is decided here: fused optimizers do on the device.
        end(1 if local.steps == steps and is_before_step(type(optimizer).step) else 0)
        return result

    return stand_before(original, step)


def patch_scaler(module):
    kind = module.__dict__.get("GradScaler")
    if "step" in kind.__dict__:  # torch.cuda's is a subclass of torch.amp's from 2.3 on
        kind.step = before_scaler_step(kind.step)


# ---- compilers ----

def counted(group, key=None):
    """What TorchDynamo counts itself."""
    try:
        counts = modules["torch._dynamo.utils"].counters.get(group, {})
        return sum(counts.values()) if key is None else counts.get(key, 0)
    except Exception as error:
        if is_theirs(error):
            raise
        return 0


def before_compile(original, label, group, key=None, COMPILE=COMPILE, RAISED=RAISED, begin=begin, end=end, local=local, counted=counted):
    def compiles(*args, **kwargs):
        if "skip" in kwargs:  # frames between dynamo's caller and it
            kwargs["skip"] += 1
        was = local.open
        n = counted(group, key)
        outcome = RAISED
        try:
            local.open = -1  # what is traced is no training
            begin(COMPILE, args[0] if label == "dynamo" else 0, label)
            result = original(*args, **kwargs)
            outcome = 0
            return result
        finally:
            local.open = was
            end(counted(group, key) - n, outcome)

    return stand_before(original, compiles)


def patch_convert_frame(module):
    module._compile = before_compile(module._compile, "dynamo", "graph_break")


def patch_compile_fx(module):
    name = "_compile_fx_inner" if hasattr(module, "_compile_fx_inner") else "fx_codegen_and_compile"  # the latter: before 2.5
    setattr(module, name, before_compile(getattr(module, name), "inductor", "inductor", "fxgraph_cache_hit"))


# ---- the rest ----

COLLECTIVES = """all_gather all_gather_coalesced all_gather_into_tensor all_gather_object all_reduce all_reduce_coalesced all_to_all all_to_all_single barrier
broadcast broadcast_object_list gather gather_object monitored_barrier new_group recv reduce reduce_scatter reduce_scatter_tensor scatter
scatter_object_list send""".split()


def telling_rank(rank_of, size_of, end=end, joined=joined):
    """Ranks that are processes of multiprocessing hand it over as an argument: no environment says it."""
    def ended(*outcome):
        end(*outcome)
        if not outcome:
            try:
                joined(rank_of(), size_of())
            except Exception as error:
                if is_theirs(error):
                    raise
    return ended


def patch_distributed(module):
    name = "init_process_group"
    if hasattr(module, name):  # torch may be built without it
        setattr(module, name, ranged(getattr(module, name), COLLECTIVE, name, end=telling_rank(module.get_rank, module.get_world_size)))
    for name in COLLECTIVES:
        replace(module, name, COLLECTIVE, name)


def patch_serialization(module):
    replace(module, "save", CHECKPOINT, "save")
    replace(module, "load", CHECKPOINT, "load")


watch_for({
    "torch": None,
    "torch.utils.data.dataloader": patch_dataloader,
    "torchdata.stateful_dataloader.stateful_dataloader": patch_stateful,
    "torch.utils.data._utils.fetch": patch_fetch,
    "torch.nn.modules.module": patch_module,
    "torch.autograd": patch_autograd,
    "torch.optim.optimizer": patch_optimizer,
    "torch.amp.grad_scaler": patch_scaler,
    "torch.cuda.amp.grad_scaler": patch_scaler,
    "torch.distributed.distributed_c10d": patch_distributed,
    "torch.serialization": patch_serialization,
    "torch._dynamo.eval_frame": patch_dynamo,
    "torch._dynamo.convert_frame": patch_convert_frame,
    "torch._inductor.compile_fx": patch_compile_fx,
})
