# SPDX-License-Identifier: MIT
# PROFTRACE_WINDOW: torch.profiler for some steps of a training. Runs, in boot.py's globals, before torch_phases.py where a window is asked for.
#
# The thread that steps begins and ends a window; between windows a step costs a few comparisons. A profiler of the program's own
# comes first: where one is on, no window begins, and where one is about to start, ours ends before it. What cannot be done is said in the
# trace (phase profiler), never to the program.

NUMBERS = {"skip_first": 0, "wait": 0, "warmup": 1, "active": 3, "repeat": 1, "every_n_steps": 0, "peak_gflops": 0}
MARKERS = 5  # at each end: the first takes longest, the least distance is the best one
NEVER = -1
QUIET = "KINETO_LOG_LEVEL"
TENSORBOARD = ".pt.trace.json"
NO_PASS = 0, None

from _thread import get_native_id
from _weakref import ref


def read_window(text):
    """{key: number, list of numbers or True}; C has looked whether all is understood."""
    found, key = {}, None
    for item in text.split(","):
        name, _, value = item.strip().partition("=")
        if name.isdigit() and type(found.get(key)) is list:
            found[key].append(int(name))
        elif value.isdigit():
            key = name
            found[key] = int(value) if name in NUMBERS else [int(value)]
        elif name:
            key = name
            found[key] = True
    return found


class Window:
    """What the settings say, and where the training is."""

    def __init__(self, settings):
        number = {**NUMBERS, **settings}
        if number["every_n_steps"]:
            number["repeat"] = settings.get("repeat", 0)
        self.settings, self.number = settings, number
        self.steps = 0  # that are done
        self.due = NEVER  # after as many steps something is to be done
        self.begun = 0  # windows
        self.by_steps = self.validations = 0  # of these, each kind by itself: `repeat` is as many of both
        self.optimizer = None  # whose steps count: its address
        self.others = {}  # steps of other optimizers since its last one, by their addresses
        self.passes = {}  # address of an iterator: number of its pass, its loader, weakly
        self.fed, self.feeder = NO_PASS  # of the last batch
        self.epoch_pass = 0  # the last one that had begun when this epoch did
        self.epoch_feeders = {}  # address of such a reference: the first pass of its loader that this epoch was fed from
        self.left_on = []  # windows whose calls another thread has to end
        self.kept = []  # profilers that may not be freed
        self.epoch = 0
        self.is_marked = set()  # what the program says itself: step, epoch
        self.is_in_marked_step = False  # it has said that one begins, and nothing since
        self.stepping = None  # of a program that marks its steps: the optimizer that stepped last, weakly
        self.model, self.is_training = "model", None
        self.trained = set()  # addresses of the models that were called in training mode
        self.beside = {}  # of the others: after which step each was called last, and whether it is a part of a step
        self.profiler = None
        self.was_busy = False
        self.n_passes = 0
        self.pid = None  # of the process whose end is watched: one that trains, or calls a model
        self.plan_next()

    def is_by_steps(self):
        settings = self.settings.keys()
        return "epochs" not in settings and ("validation" not in settings or bool(settings & {"skip_first", "wait", "active"}))

    def plan_next(self):
        number, self.due = self.number, NEVER
        if number["repeat"] and self.by_steps >= number["repeat"]:
            return
        if number["every_n_steps"]:
            # The N-th step is recorded, the 2 N-th, ...: so many before it are done when the warmup begins.
            every, warmup = number["every_n_steps"], min(number["warmup"], number["every_n_steps"] - 1)
            self.due = every - 1 - warmup
            if self.due < max(self.steps, 1):
                self.due += -((self.due - max(self.steps, 1)) // every) * every
        elif self.is_by_steps():
            # Not before the end of a first step: until then nobody knows what a step is.
            self.due = max(max(self.steps, number["skip_first"]) + number["wait"], 1)


def is_other_rank():
    """By any launcher, or by the group that the program has joined; where only the number on this machine is known, by that one."""
    if "all_ranks" in state.settings:
        return False
    rank = known_rank()
    return rank > 0 if rank is not None else modules["os"].environ.get("LOCAL_RANK", "0") != "0"


def now_ns():
    time = modules["time"]
    return time.clock_gettime_ns(time.CLOCK_MONOTONIC)


def make_markers(what):
    """Ranges whose names say when they were made on our clock, and by whom: the profiler's clock differs by version. Those at the end say how
    many whole steps there are, too: the profiler counts one that was begun."""
    record = modules["torch.autograd.profiler"].record_function
    who = f"{modules['os'].getpid()}:{get_native_id()}:{what}"
    for _ in range(MARKERS):
        with record(f"ptsync:{now_ns()}:{who}"):
            pass


def say(text):
    begin(PROFILER, 0, text[:200])
    end()


def trace_path(kind, first):
    """Where the trace goes: what TensorBoard finds, or the plain names."""
    os, time = modules["os"], modules["time"]
    model = state.model if state.model.isidentifier() else "model"
    folder = f"{run_directory}/torch/{model}"
    os.makedirs(folder, mode=0o700, exist_ok=True)
    if "plain_names" in state.settings:
        name = {"epoch": f"epoch_{state.epoch}", "every": f"train_step_{first + 1}", "validation": f"validation_step_{first}"}.get(kind, "chrome_trace")
        path, again = f"{folder}/{name}.json", 0
        while os.path.exists(path):
            again += 1
            path = f"{folder}/{name}_{again}.json"
        return path
    return f"{folder}/{os.uname().nodename}_{os.getpid()}.{time.time_ns() // 1000000}{TENSORBOARD}"


def scheduled(warmup, active, actions):
    """Not torch.profiler.schedule: that warns, on the program's stderr, of windows without a warmup."""
    def action(step):
        if step < warmup:
            return actions.WARMUP
        if step < warmup + active - 1:
            return actions.RECORD
        return actions.RECORD_AND_SAVE if step == warmup + active - 1 else actions.NONE
    return action


class Open:
    """A window that is open."""

    def __init__(self, kind, warmup, active, parameters):
        torch_profiler = modules.get("torch.profiler") or __import__("torch.profiler").profiler
        kinds, settings = torch_profiler.ProfilerActivity, state.settings
        self.is_validation = kind == "validation"
        self.first = state.steps + warmup
        self.what = f"{kind}:{self.first}:{state.epoch}:{parameters}:{state.number['peak_gflops']}"
        self.path = trace_path(kind, self.first)
        self.pid = modules["os"].getpid()
        self.left_warmup, self.left, self.active = warmup, warmup + active, active
        self.is_own_call = False
        self.calls, self.is_counting = None, False
        options = {name: name in settings for name in ("record_shapes", "with_flops", "with_stack", "profile_memory")}
        self.profiler = torch_profiler.profile(
            activities=[kinds.CPU, *([kinds.CUDA] if "cuda" in settings and modules["torch"].cuda.is_available() else [])],
            schedule=scheduled(warmup, active, torch_profiler.ProfilerAction), on_trace_ready=self.write,
            **options, **({"acc_events": True} if "acc_events" in torch_profiler.profile.__init__.__code__.co_varnames else {}))

    def start(self):
        # Kineto tells of each start and end on the program's stderr, unless this is set when it begins.
        environment = modules["os"].environ
        is_silenced = environment.setdefault(QUIET, "99") == "99"
        try:
            self.own(self.profiler.start)
        finally:
            if is_silenced:
                environment.pop(QUIET, None)
        self.stand_guard()
        if self.left_warmup == 0:
            self.recording()

    def own(self, function):
        self.is_own_call = True
        try:
            function()
        finally:
            self.is_own_call = False

    def recording(self):
        make_markers(self.what)
        if "calls" in state.settings:
            self.start_calls()

    def start_calls(self):
        """cProfile: one may be on at a time, the program's own comes first."""
        system = modules["sys"]
        if system.getprofile() is None:
            try:
                from cProfile import Profile
                calls = Profile()
                calls.enable()
                self.calls, self.is_hook = calls, system.getprofile() is calls  # from 3.12 on it is none, but of all threads
                self.thread = get_native_id()
                self.stand_before_calls(Profile)
            except Exception as error:
                if is_theirs(error):
                    raise
                say(f"no calls: {error}")

    def stand_before_calls(self, kind):
        """While ours is on, one of the program's could not start, or would silently take its place."""
        original, own = kind.enable, kind.__dict__.get("enable")  # own: none, unless the program has put one there

        def enable(profile, *args, **kwargs):
            if self.is_counting and (not self.is_hook or get_native_id() == self.thread):
                self.end_calls()
                say("calls ended early: the program counts them itself")
            return original(profile, *args, **kwargs)

        def leave():
            if kind.__dict__.get("enable") is enable:
                if own is None:
                    del kind.enable
                else:
                    kind.enable = own

        self.is_counting, self.leave_calls = True, leave
        kind.enable = enable

    def end_calls(self):
        """What the program has set meanwhile stays."""
        if not self.is_counting:
            return
        self.is_counting = False
        if not self.is_hook:
            self.calls.disable()
        elif not self.leave_hook():
            state.left_on.append(self)
        self.leave_calls()

    def leave_hook(self):
        """Up to 3.11 each thread has its own. One that is still on takes that of the program with it when it is freed: never, then."""
        if get_native_id() != self.thread:
            return False
        if modules["sys"].getprofile() is self.calls:
            self.calls.disable()
        else:
            state.kept.append(self.calls)
        return True

    def write_calls(self):
        from marshal import dump
        self.calls.snapshot_stats()  # not dump_stats: that disables whatever is on
        with open(self.path[:-len(TENSORBOARD if self.path.endswith(TENSORBOARD) else ".json")] + ".stats", "wb") as file:
            dump(self.calls.stats, file)

    def step(self):
        """True: it was the last one."""
        self.left -= 1
        if self.left == 0:
            self.stop()
            return True
        self.own(self.profiler.step)
        if self.left_warmup:
            self.left_warmup -= 1
            if self.left_warmup == 0:
                self.recording()
        return False

    def stop(self):
        begin(PROFILER, 0, "write")
        try:
            self.end_calls()
            if self.left_warmup == 0:
                make_markers(self.what if self.is_validation else f"{self.what}:{self.active - self.left}")
            self.own(self.profiler.stop)
            if self.calls is not None:
                self.write_calls()
        finally:
            self.leave_guard()
            end()

    def write(self, profiler):
        # Without a whole step: the program ended before what was asked for.
        if self.left_warmup == 0 and (self.is_validation or self.left < self.active):
            profiler.export_chrome_trace(self.path)

    # ---- a profiler of the program's own ----

    GUARDED = "_prepare_profiler", "_enable_profiler", "_enable_profiler_legacy"

    def stand_guard(self):
        module = modules["torch.autograd.profiler"]
        self.guarded = [(module, name, getattr(module, name)) for name in self.GUARDED if hasattr(module, name)]
        for module, name, original in self.guarded:
            setattr(module, name, before_own_profiler(original, self))

    def leave_guard(self):
        for module, name, original in self.guarded:
            setattr(module, name, original)
        self.guarded = []


def before_own_profiler(original, window):
    def guarded(*args, **kwargs):
        if not window.is_own_call:
            close("ended early: the program profiles itself")
        return original(*args, **kwargs)
    return guarded


def parameters_of(optimizer):
    """How many numbers a step changes; 0: nobody knows."""
    if optimizer is None:
        return 0
    return sum(parameter.numel() for group in optimizer.param_groups for parameter in group["params"])


def at_exit():
    close("")


def watch_end():
    from atexit import register
    state.pid = modules["os"].getpid()
    register(at_end_of_training)


def at_end_of_training():
    """Says why no window came, where one was asked for."""
    if state.begun or state.was_busy or is_other_rank() or state.pid != modules["os"].getpid():
        return
    if not state.steps:
        say("none: the program made no step of an optimizer, and did not say where its steps begin")
    elif "epochs" in state.settings:
        say(f"none: the training ended in epoch {state.epoch}, after {state.steps} steps")
    elif not state.is_by_steps():
        say(f"none: no model was evaluated after a step of the training; it made {state.steps}")
    else:
        say(f"none: the training ended after {state.steps} steps; the first window begins after {state.due}")


def open_window(kind, warmup, active, optimizer=None):
    if state.profiler or is_other_rank():
        return
    if modules["torch"]._C._autograd._profiler_enabled():
        if not state.was_busy:  # it may be for long
            state.was_busy = True
            say("none: the program profiles itself")
        return
    state.was_busy = False
    state.begun += 1
    state.by_steps += kind in ("steps", "every")
    state.validations += kind == "validation"
    begin(PROFILER, 0, "start")
    why = None
    try:
        window = Open(kind, warmup, active, parameters_of(optimizer))
        window.start()
        state.profiler = window
        from atexit import register
        register(at_exit)
    except Exception as error:
        if is_theirs(error):
            raise
        why = f"none: {error}"
    finally:
        end()
    if why:
        say(why)


def close(why):
    """The window ends, with what it has."""
    window, state.profiler = state.profiler, None
    if window is None or window.pid != modules["os"].getpid():  # a child that was forked meanwhile: it is its parent's
        return
    try:
        if window.left > 0:
            window.stop()
        from atexit import unregister
        unregister(at_exit)
    except Exception as error:
        if is_theirs(error):
            raise
        why = f"none: {error}"
    if why:
        say(why)


def turn(optimizer):
    """A step is done, and a window is open or due."""
    window = state.profiler
    if window is None:
        kind = "every" if state.number["every_n_steps"] else "steps"
        open_window(kind, state.number["warmup"], state.number["active"], optimizer)
    else:
        try:
            if window.pid != modules["os"].getpid():
                state.profiler, state.due = None, NEVER
                return
            if window.step():
                close("")
        except Exception as error:
            if is_theirs(error):
                raise
            window.left = 0
            close(f"none: {error}")
    if state.profiler is None:
        state.plan_next()
        if state.due == state.steps and not window:
            state.due += 1
        elif state.due == state.steps:
            turn(optimizer)
    else:
        state.due = state.steps + 1


def count_step(optimizer=None):
    if not state.steps and state.pid is None:
        watch_end()
    state.steps += 1
    if state.left_on:
        state.left_on = [window for window in state.left_on if not window.leave_hook()]
    if state.fed > state.epoch_pass or state.feeder and state.fed > state.epoch_feeders.setdefault(id(state.feeder), state.fed):
        new_epoch(state.epoch + 1, optimizer)
    if state.steps == state.due:
        turn(optimizer)


def new_epoch(number, optimizer):
    """Of passes over data: known when the first step of one is done. Loaders that take turns began theirs before: all of these are one epoch,
    but for two passes of the same loader, where a program begins the next one early to have its workers ready."""
    state.epoch_pass = state.n_passes
    state.epoch_feeders = {id(state.feeder): state.fed}
    if "epoch" not in state.is_marked:
        state.epoch = number
        begin_epoch(optimizer)


def begin_epoch(optimizer=None):
    if state.epoch in state.settings.get("epochs", ()) and state.profiler is None:
        open_window("epoch", state.number["warmup"], state.number["active"], optimizer)
        if state.profiler:
            state.due = state.steps + 1


# ---- what torch_phases.py calls ----

def stepped(optimizer):
    """Of several optimizers one says what a step is: the first, or, when it has long done nothing, another."""
    if "step" in state.is_marked:
        try:
            state.stepping = ref(optimizer)
        except TypeError:  # of a class with __slots__
            state.stepping = None
        return
    which, others = id(optimizer), state.others
    if which != state.optimizer:
        # A program may have one for each parameter, which all step before the first one does again; or one after the other, for a few steps.
        others[which] = n = others.get(which, 0) + 1
        if state.optimizer is not None and (n < 2 or sum(others.values()) < 16):
            return
        state.optimizer = which
    if others:
        others.clear()
    count_step(optimizer)


def fed(iterator):
    state.fed, state.feeder = state.passes.get(id(iterator), NO_PASS)


def began_pass(iterator, loader):
    passes = state.passes
    if len(passes) > 1000:
        passes.clear()
    state.n_passes += 1
    try:
        feeder = ref(loader)  # the same one each time while it lives; an address is another loader's after that
    except TypeError:  # of a class with __slots__
        feeder = None
    passes[id(iterator)] = state.n_passes, feeder


def called_model(module, model, name):
    """The outermost module is called: a validation may begin. One that learns nothing is a loss or a metric: always in training mode, and
    not what is trained."""
    if not is_learning(module):
        return
    if state.pid is None:
        watch_end()
    is_training = module.__dict__.get("training", True)
    if is_training:
        state.trained.add(id(model))
    elif id(model) not in state.trained and is_beside(id(model)) and state.trained:
        return
    state.model = name
    if "validation" in state.settings:
        validate(is_training)
    state.is_training = is_training


def is_beside(which):
    """A frozen model that each step calls (a teacher, a loss by features): no validation. It is known by its call in the first step, or after
    two in a row. The copy with mean weights that some validate is none, nor is what was called before the training: steps lie between."""
    beside, steps = state.beside, state.steps
    last, is_part = beside.get(which, (NEVER, steps == 0))
    if last not in (NEVER, steps):
        is_part = last == steps - 1
    beside[which] = steps, is_part
    return is_part


def is_learning(module):
    """Without a call of the module's: parameters() may be the program's own."""
    own = module.__dict__
    if own.get("_parameters"):
        return True
    try:
        return any(is_learning(child) for child in own["_modules"].values() if child is not None)
    except Exception as error:
        if is_theirs(error):
            raise
        return True  # not built as usual: taken for a model, as before


def validate(is_training):
    window = state.profiler
    if window is not None and window.is_validation:
        close("")
    elif not is_training and state.is_training and (state.steps or state.is_in_marked_step) and state.profiler is None:  # not of a look before the training
        end_marked_step()
        most = state.number["repeat"]
        if most == 0 or state.validations < most:
            open_window("validation", 0, 1)


class Marks:
    """What the package calls when the program says itself where a step or an epoch begins: that wins over what is seen."""

    def step(self):
        end_marked_step()
        state.is_marked.add("step")
        state.is_in_marked_step = True

    def epoch(self, number):
        end_marked_step()
        state.is_marked.add("epoch")
        state.epoch = number + 1
        begin_epoch()


def end_marked_step():
    """It lasts until something else begins."""
    if state.is_in_marked_step:
        state.is_in_marked_step = False
        count_step(state.stepping and state.stepping())


def patch_marks(module):
    module._window = Marks()


state = Window(read_window(window))
watch_for({"proftrace.marks": patch_marks})
