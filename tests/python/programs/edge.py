# SPDX-License-Identifier: MIT
"""What people do with PyTorch at its edges. Prints a line for each; the lines must be the same whoever watches. Warnings are errors."""
import copy
import importlib
import inspect
import io
import os
import pickle
import sys
import tempfile
import traceback
import warnings

warnings.simplefilter("error")
import torch  # noqa: E402
from torch import nn  # noqa: E402
from torch.utils.data import DataLoader, Dataset, IterableDataset, TensorDataset  # noqa: E402

torch.manual_seed(0)
torch.set_num_threads(1)
TWO = int(torch.__version__.split(".")[0]) >= 2
model = nn.Sequential(nn.Linear(4, 4), nn.ReLU(), nn.Linear(4, 1))
x = torch.randn(8, 4)
checks = []


def check(function):
    checks.append(function)
    return function


def loss_of(m=model, data=x):
    return m(data).pow(2).mean()


class Plain(torch.optim.Optimizer):
    def __init__(self, parameters):
        super().__init__(parameters, {})

    @torch.no_grad()
    def step(self, closure=None):
        return 5


class Sub(Plain):
    def step(self, closure=None):
        return super().step(closure) + 1


class Inherits(Plain):
    pass


class Lookahead(torch.optim.Optimizer):
    """One optimizer around another one."""

    def __init__(self, inner):
        super().__init__(inner.param_groups, {})
        self.inner = inner

    def step(self, closure=None):
        return self.inner.step(closure)


@check
def closure():
    optimizer = torch.optim.LBFGS(model.parameters(), max_iter=3)

    def again():
        optimizer.zero_grad()
        loss = loss_of()
        loss.backward()
        return loss

    return round(optimizer.step(again).item(), 4)


@check
def schedulers():
    rates = []
    optimizer = torch.optim.Adam(model.parameters())
    for kind in (lambda o: torch.optim.lr_scheduler.StepLR(o, 1), lambda o: torch.optim.lr_scheduler.CosineAnnealingLR(o, 5),
                 lambda o: torch.optim.lr_scheduler.OneCycleLR(o, 0.1, total_steps=5), torch.optim.lr_scheduler.ReduceLROnPlateau):
        scheduler = kind(optimizer)
        for _ in range(2):
            loss_of().backward()
            optimizer.step()
            scheduler.step(*([1.0] if "Plateau" in type(scheduler).__name__ else []))
        rates.append(round(optimizer.param_groups[0]["lr"], 6))
    return rates


@check
def scheduler_too_early():
    optimizer = torch.optim.SGD(model.parameters(), lr=0.1)
    scheduler = torch.optim.lr_scheduler.StepLR(optimizer, 1)
    try:
        scheduler.step()
    except UserWarning as warning:
        return str(warning)[:60]
    return "no warning"


@check
def own_optimizers():
    inner = torch.optim.SGD(model.parameters(), lr=0.1)
    made = Plain(model.parameters()), Sub(model.parameters()), Inherits(model.parameters())
    return [o.step() for o in made], Lookahead(inner).step(), Sub.step.__qualname__, Inherits.step.__qualname__


@check
def optimizer_hooks():
    if not TWO:
        return None
    seen = []
    optimizer = torch.optim.SGD(model.parameters(), lr=0.1)
    optimizer.register_step_pre_hook(lambda o, a, k: seen.append("before"))
    optimizer.register_step_post_hook(lambda o, a, k: seen.append("after"))
    optimizer.step()
    return seen


@check
def scaling():
    scaler = torch.cuda.amp.GradScaler(enabled=False) if not TWO else torch.amp.GradScaler("cpu", enabled=False)
    optimizer = torch.optim.SGD(model.parameters(), lr=0.1)
    scaler.scale(loss_of()).backward()
    scaler.step(optimizer)
    scaler.update()


@check
def scaling_that_skips():
    if not TWO:
        return None
    scaler = torch.amp.GradScaler("cpu")
    optimizer = torch.optim.SGD(model.parameters(), lr=0.0)
    optimizer.zero_grad()
    for factor in 1.0, float("inf"), 1.0:
        scaler.scale(loss_of() * factor).backward()
        scaler.step(optimizer)
        scaler.update()
        optimizer.zero_grad()
    return scaler.get_scale()


@check
def accumulation():
    optimizer = torch.optim.SGD(model.parameters(), lr=0.1)
    for _ in range(4):
        (loss_of() / 4).backward()
    optimizer.step()
    optimizer.zero_grad(set_to_none=True)
    model.zero_grad()


class Raises(nn.Module):
    def forward(self, data):
        raise ValueError("in forward")


class RaisesLater(torch.autograd.Function):
    @staticmethod
    def forward(ctx, data):
        return data * 2

    @staticmethod
    def backward(ctx, gradient):
        raise KeyError("in backward")


@check
def exceptions():
    said = []
    for wrong in (lambda: Raises()(x), lambda: nn.Sequential(Raises())(x), lambda: torch.zeros(1).backward(), lambda: model(),
                  lambda: RaisesLater.apply(loss_of()).backward(), lambda: torch.optim.SGD(model.parameters(), lr=0.1).step(1, 2, 3),
                  lambda: torch.load("/no/such/file"), lambda: next(iter(DataLoader([1, 2], collate_fn=lambda b: 1 / 0))),
                  lambda: model(x, nonsense=1)):
        try:
            wrong()
        except Exception as error:
            frames = traceback.extract_tb(error.__traceback__)
            said.append((type(error).__name__, str(error)[:60], frames[-1].name, error.__context__ is None))
    return said


@check
def saved():
    optimizer = torch.optim.SGD(model.parameters(), lr=0.1)
    file = io.BytesIO()
    torch.save((model, optimizer), file)
    file.seek(0)
    _, optimizer = torch.load(file, **({"weights_only": False} if TWO else {}))
    optimizer.step()
    copy.deepcopy(optimizer).step()
    copy.deepcopy(model)(x)
    with tempfile.TemporaryDirectory() as folder:
        path = os.path.join(folder, "state")
        torch.save(model.state_dict(), path)
        return sorted(torch.load(path))


@check
def pickled():
    said = []
    for thing in (torch.autograd.backward, torch.autograd.grad, nn.Module.zero_grad, nn.Module.__call__, torch.save, torch.load, DataLoader.__iter__):
        said.append(pickle.loads(pickle.dumps(thing)) is thing)
    return said, type(pickle.loads(pickle.dumps(DataLoader([1])))).__name__


class Typed(nn.Module):
    """A line that many write, so that editors know what a call returns."""
    __call__ = nn.Module.__call__

    def forward(self, data):
        return data + 1


@check
def modules_sent_by_value():
    names = [name for name in dir(nn.Module) if getattr(nn.Module, name) is nn.Module.__call__]
    try:
        from joblib.externals import cloudpickle
        return names, pickle.loads(cloudpickle.dumps(Typed))()(1)
    except ImportError:
        return names, pickle.loads(pickle.dumps(Typed.__call__)) is Typed.__call__


@check
def sent_by_value():
    """A class of the script's, as Ray and Spark send it to processes that do not have it."""
    Plain(model.parameters()).step()  # what torch puts before it, it does when the first optimizer is made
    try:
        from joblib.externals import cloudpickle
        return pickle.loads(cloudpickle.dumps(Plain))(model.parameters()).step()
    except ImportError:
        cells = [cell.cell_contents for cell in Plain.step.__closure__]
        return all(pickle.dumps(held) for held in cells if type(held) is not type(check))


@check
def loaders():
    data = TensorDataset(x)
    persistent = DataLoader(data, batch_size=2, num_workers=1, persistent_workers=True)
    counts = [sum(1 for _ in persistent) for _ in range(2)]
    iterator = iter(DataLoader(data, batch_size=3))
    counts.append([len(batch[0]) for batch in iterator])
    counts.append(next(iterator, "over"))
    return counts, iter(iterator) is iterator


class StandIn:
    """A loader without a dictionary: whoever asks for one is noticed."""

    __slots__ = "loader",

    def __init__(self, loader):
        self.loader = loader

    def __getattr__(self, name):
        assert name != "__dict__"
        return getattr(self.loader, name)


@check
def stand_ins_for_loaders():
    from torch.utils.data import dataloader
    stand_in = StandIn(DataLoader(TensorDataset(x), batch_size=3))
    return [len(batch[0]) for batch in dataloader._SingleProcessDataLoaderIter(stand_in)]


class Stream(IterableDataset):
    def __iter__(self):
        return iter(range(5))

    def __len__(self):
        return 3


@check
def streams():
    seen = []
    try:
        for batch in DataLoader(Stream(), batch_size=None):
            seen.append(batch)
    except UserWarning as warning:
        seen.append(str(warning)[:20])
    return seen


class Peculiar(dict):
    """Whoever looks at it is noticed."""

    def __getattribute__(self, name):
        raise AssertionError(f"asked for {name}")

    def __iter__(self):
        raise AssertionError("iterated")

    __len__ = __bool__ = __eq__ = values = items = __iter__
    __hash__ = None


class PeculiarList(list):
    __iter__ = __len__ = __bool__ = __eq__ = __getitem__ = Peculiar.__iter__
    __hash__ = None


@check
def peculiar_batches():
    return [sum(1 for _ in DataLoader([0, 1], collate_fn=lambda b, kind=kind: kind())) for kind in (Peculiar, PeculiarList)]


@check
def scripted():
    warnings.simplefilter("ignore", DeprecationWarning)  # of PyTorch 2
    return [list(m(x).shape) for m in (torch.jit.script(model), torch.jit.trace(model, x))]


@check
def symbolic():
    import torch.fx
    graph = torch.fx.symbolic_trace(model)
    return str(graph.code).strip().splitlines()[-1].strip(), list(graph(x).shape)


@check
def parallel():
    return list(nn.DataParallel(model)(x).shape)


@check
def recomputed():
    from torch.utils.checkpoint import checkpoint
    data = x.clone().requires_grad_()
    for reentrant in (True, False):
        checkpoint(model, data, use_reentrant=reentrant).sum().backward()
    return data.grad.shape == x.shape


@check
def hooked_modules():
    seen = []
    m = nn.Linear(4, 1)
    m.register_forward_pre_hook(lambda *a: seen.append("before"))
    m.register_forward_hook(lambda *a: seen.append("after"))
    (m.register_full_backward_hook if hasattr(m, "register_full_backward_hook") else m.register_backward_hook)(lambda *a: seen.append("backward"))
    m(x.clone().requires_grad_()).sum().backward()
    return seen


@check
def introspection():
    said = []
    for thing in (torch.optim.SGD.step, torch.optim.Optimizer.zero_grad, torch.autograd.backward, torch.autograd.grad, nn.Module.__call__, nn.Module.to,
                  torch.save, torch.load, DataLoader.__iter__, torch.utils.data.dataloader._BaseDataLoaderIter.__next__):
        said.append((thing.__name__, thing.__qualname__, thing.__module__, str(inspect.signature(thing)), inspect.getsource(thing), inspect.getdoc(thing),
                     type(thing).__name__, inspect.getsourcelines(thing)[1], sorted(thing.__annotations__)))
    return hash_of(said)


def hash_of(said):
    import hashlib
    return hashlib.sha256("\n".join(map(repr, said)).encode()).hexdigest()


@check
def place_of_warning():
    m = nn.Linear(4, 1)
    m.register_full_backward_hook(lambda *a: None)
    with warnings.catch_warnings(record=True) as caught:
        warnings.simplefilter("always")
        m(x).sum().backward()
    return [(os.path.basename(warning.filename), warning.lineno) for warning in caught]


@check
def gradients():
    return list(torch.autograd.grad(loss_of(), model[0].weight)[0].shape)


@check
def modules_of_import():
    said = []
    for module in map(sys.modules.get, ("torch", "torch.optim.optimizer", "torch.utils.data.dataloader", "torch.nn.modules.module")):
        said.append((type(module.__spec__.loader).__name__, module.__loader__ is module.__spec__.loader, sorted(vars(module.__loader__)),
                     module.__spec__.submodule_search_locations is None))
    found = importlib.util.find_spec("torch")
    return said, type(found.loader).__name__, found.loader == torch.__spec__.loader


@check
def reloaded():
    import torch.utils.data.dataloader as module
    return importlib.reload(module) is module, sum(1 for _ in module.DataLoader(TensorDataset(x)))


@check
def missing_module():
    try:
        import jaxlib_that_is_not_there  # noqa: F401
    except ModuleNotFoundError as error:
        return str(error), len(traceback.extract_tb(error.__traceback__))


class Watched(nn.Module):
    """Its own way to its attributes: it sees who looks at what."""
    seen = []

    def __getattribute__(self, name):
        Watched.seen.append(name)
        return super().__getattribute__(name)

    def forward(self, data):
        return data


@check
def what_looks_at_a_module():
    """The names of its attributes that a call looks at, in both modes."""
    module = Watched()
    Watched.seen.clear()
    module(x)
    module.eval()
    module(x)
    return " ".join(Watched.seen)


class Answers(type(nn.Module)):
    """A class of classes, with its own answer to what they are named."""

    @property
    def __name__(cls):
        raise KeyError("asked for the name of a class")


@check
def calls_of_classes_that_are_not_as_others():
    scope = {"nn": nn}
    exec('Net = type("Net", (nn.Module,), {"forward": lambda self, data: data})', scope)  # of no module: the scope has no __name__
    named = Answers("Named", (nn.Module,), {"forward": lambda self, data: data, "__module__": property()})
    return scope["Net"]()(1), named()(2)


@check
def a_call_of_what_is_no_module():
    class Odd:
        pass

    try:
        nn.Module.__call__(Odd(), x)
    except Exception as error:
        return type(error).__name__, str(error)


for function in checks:
    try:
        print(function.__name__, function())
    except Exception as error:
        print(function.__name__, "FAILED", type(error).__name__, error)
print(sum(p.sum().item() for p in model.parameters()))
