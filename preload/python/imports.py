# SPDX-License-Identifier: MIT
# How the scripts for frameworks get in: runs, in boot.py's globals, when a program first imports something that is watched. boot.py's
# finder notices each; it leaves nothing in specs, loaders or tracebacks that a program could stumble over.
(LOADER_START, DATA_WAIT, WORKER_FETCH, TRANSFER, FORWARD, BACKWARD, ZERO_GRAD, OPTIMIZER_STEP, GRAD_SCALING, COLLECTIVE,
 CHECKPOINT, COMPILE, IMPORT, GARBAGE_COLLECTION, VALIDATION, FUNCTION, TRAIN_STEP, PROFILER) = range(1, 19)  # phases.h
DONE, RAISED, EXHAUSTED = range(3)


def find_watched(name, path, target):
    """What the interpreter itself finds, whose loader will call us. Finders before ours were asked. One of the program's behind it ends the
    search: it would be asked twice, and in another order."""
    is_behind = False
    for finder in list(modules["sys"].meta_path):
        if finder is Finder:
            is_behind = True
        elif is_behind:
            if not is_plain(finder):
                return None
            spec = finder.find_spec(name, path, target)
            if spec is not None:
                watch(name, spec.loader)
                return spec
    return None


def is_plain(finder):
    """Of the interpreter, of setuptools for an editable package, or of absl (which JAX, Keras and TensorFlow import), which notes what is
    loaded again: asking it twice leaves no trace."""
    kind = type(finder)
    if kind.__name__ == "ReloadDetector":
        return kind.__module__ == "absl.flags._flagvalues"
    module = kind is type and finder.__module__
    return type(module) is str and module.startswith(("_frozen_importlib", "__editable__"))


class Run:
    """Stands before exec_module of one loader until that runs its module. The loader stays itself: programs ask of which type it is.
    A loader that only says where a module is (importlib.util.find_spec) keeps it: it is compared, and copied, as if this were not there."""
    __slots__ = "name", "loader", "run"
    __hash__ = None

    def __eq__(self, other):
        run = other.run if type(other) is Run else other
        return type(run) is type(self.run) and getattr(run, "__func__", run) is getattr(self.run, "__func__", self.run)

    def __reduce__(self):
        return getattr, (self.loader, "exec_module")  # of the copy, which has nothing of ours then

    def __call__(self, module):
        if module.__name__ != self.name:
            return self.run(module)
        self.loader.__dict__.pop("exec_module", None)
        return imported(self.name, self.run, module)


def watch(name, loader):
    before = Run()
    before.name, before.loader, before.run = name, loader, getattr(loader, "exec_module", None)
    if before.run is None or isinstance(loader, type):  # one loader for all builtin modules
        return
    own = getattr(loader, "__dict__", None)
    if type(own) is dict:  # not by setattr: that may be the program's, and fail
        own["exec_module"] = before


def make_local():
    global local
    from _thread import _local

    class Local(_local):
        open = 0  # a bit for each phase that this thread is in, so that none is recorded inside itself
        steps = 0  # steps of optimizers that began
        starts = False  # a loader, in its __iter__
        samples = 0  # in the batch that it put together last
        trains = 0  # calls of Keras' fit that it is in
        evaluated = 0  # id of the model that was called in evaluation mode last, and in no other mode since

    local = Local()


def imported(name, run, module):
    if not local:
        make_local()
    if type(watched.get(name)) is str:
        load(watched[name])
    then = watched.pop(name, None)
    was = local.open
    outcome = RAISED
    local.open = was | 1 << IMPORT
    try:
        if was == 0:
            begin(IMPORT, 0, name)
        run(module)
        outcome = DONE
    finally:
        local.open = was
        if was == 0:
            end(0, outcome)
        if outcome == RAISED:
            watched[name] = then  # it may be tried again
    patch(then, module)
    if after_import:
        after_import(module)


def patch(then, module):
    try:
        if then is not None:
            then(module)
    except Exception as error:  # a version that is built otherwise: some phases will be missing
        if is_theirs(error):
            raise


def watch_for(names):
    """names: {name: what to call with the module when it has run}."""
    for name, then in names.items():
        if name in modules:
            patch(then, modules[name])
        else:
            watched[name] = then


def as_importlib(function):
    """Such frames are cut out of tracebacks, and skipped where a warning looks for its caller."""
    function.__code__ = function.__code__.replace(co_filename="<frozen importlib._bootstrap_external>")


def stand_before(original, ours):
    """Let `ours` be taken for `original`: torch_phases.py says by whom."""
    from functools import update_wrapper
    code = getattr(original, "__code__", None)
    if code is not None:
        # Dynamo decides by the start of the file's name whether it looks into a call, and finds globals by their module.
        # warnings passes over frames with these two words, so a stacklevel means the same line of the program.
        file = code.co_filename + " (proftrace, importlib._bootstrap)"
        named = {"co_qualname": code.co_qualname} if hasattr(code, "co_qualname") else {}  # from 3.11 on
        code = ours.__code__.replace(co_filename=file, co_name=code.co_name, co_firstlineno=code.co_firstlineno, **named)
        ours = type(ours)(code, original.__globals__, code.co_name, None, ours.__closure__)
    ours_alone(ours.__code__)
    return update_wrapper(ours, original)


class Ours:
    """What our functions in classes of the program need. Such a class may be sent to another process by value (cloudpickle: Ray, Spark,
    joblib), where nothing of this is: there it is 0, and they only call what they stand before."""
    __slots__ = "begin", "end", "local", "stepped"

    def __init__(self, **held):
        for name, value in held.items():
            setattr(self, name, value)

    def __reduce__(self):
        return int, ()


def ours_alone(code):
    """Dynamo never compiles this frame; what it calls, it does."""
    codes.append(code)
    for skip in skips:
        skip(code)


def start():
    global find
    as_importlib(imported)
    as_importlib(Run.__call__)
    for name in [name for name in watched if name in modules]:
        if watched[name]:
            make_local()
            load(watched[name])
        watched.pop(name, None)  # only now: what interrupts a script is raised, and all begins again with the next import
    if functions:
        make_local()
        load("functions")
    find = find_watched


local = None
codes, skips = [], []  # of our functions; who is to be told of them
after_import = None
start()
