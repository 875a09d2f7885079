# SPDX-License-Identifier: MIT
"""compiled.py BACKEND: models, hooks, optimizers and more under torch.compile. Prints what TorchDynamo counted in each case: graphs, breaks with
their reasons, frames."""
import io
import sys

import torch
import torch._dynamo as dynamo
from torch import nn
from torch._dynamo.utils import counters
from torch.utils.checkpoint import checkpoint

torch.manual_seed(0)
torch.set_num_threads(1)
backend = sys.argv[1]
x, shorter, shortest = torch.randn(8, 4), torch.randn(6, 4), torch.randn(5, 4)
cases = []


def case(function):
    cases.append((function.__name__, function))
    return function


def compiled(thing, **options):
    return torch.compile(thing, backend=backend, **options)


class Model(nn.Module):
    def __init__(self):
        super().__init__()
        self.a, self.b = nn.Linear(4, 8), nn.Linear(8, 1)

    def forward(self, data):
        return self.b(torch.relu(self.a(data)))


class Breaks(Model):
    def forward(self, data):
        y = self.a(data)
        print(end="")
        return self.b(torch.relu(y))


class Explicit(Model):
    def forward(self, data):
        return self.b.__call__(torch.relu(self.a.__call__(data)))


class Super(Model):
    def __call__(self, *arguments, **named):
        return super().__call__(*arguments, **named)


class Disabled(Model):
    def forward(self, data):
        return self.apart(data)

    @torch._dynamo.disable
    def apart(self, data):
        return self.b(self.a(data))


class Outer(nn.Module):
    def __init__(self):
        super().__init__()
        self.inner = compiled(Model())

    def forward(self, data):
        return self.inner(data) + 1


def models(kind, whole):
    def run():
        model = compiled(kind(), fullgraph=whole)
        for data in (x, shorter, shortest):
            model(data).sum().backward()
    cases.append((kind.__name__, run))


for kind, whole in ((Model, True), (Breaks, False), (Explicit, True), (Super, False), (Disabled, False), (Outer, False)):
    models(kind, whole)
models(lambda: nn.Sequential(nn.Linear(4, 8), nn.ReLU(), nn.Linear(8, 1)), True)
models(lambda: nn.Linear(4, 1), True)


def hooked(how, whole=False):
    def run():
        model = Model()
        handle = how(model)
        model = compiled(model, fullgraph=whole)
        model(x).sum().backward()
        model(shorter).sum().backward()
        handle.remove()
    cases.append(("hooked", run))


hooked(lambda model: model.a.register_forward_pre_hook(lambda module, arguments: (arguments[0] + 1,)), whole=True)
hooked(lambda model: model.a.register_forward_hook(lambda module, arguments, result: result * 2), whole=True)
hooked(lambda model: model.register_forward_hook(lambda module, arguments, result: result * 2), whole=True)
hooked(lambda model: model.a.register_full_backward_hook(lambda module, into, out: None))
hooked(lambda model: nn.modules.module.register_module_forward_hook(lambda module, arguments, result: result))


def step(model, optimizer, data):
    optimizer.zero_grad()
    loss = model(data).sum()
    loss.backward()
    optimizer.step()
    return loss


@case
def whole_step():
    model = Model()
    optimizer, go = torch.optim.SGD(model.parameters(), lr=0.1), compiled(step)
    for data in (x, x, shorter):
        go(model, optimizer, data)


class Own(torch.optim.Optimizer):
    def __init__(self, parameters):
        super().__init__(parameters, {})

    @torch.no_grad()
    def step(self):
        for group in self.param_groups:
            for parameter in group["params"]:
                parameter.add_(parameter.grad, alpha=-0.1)


def optimizers(make, whole=False, scheduled=False, method=False):
    def run():
        model = Model()
        optimizer = make(model.parameters())
        scheduler = torch.optim.lr_scheduler.StepLR(optimizer, 1) if scheduled else None
        go = compiled(optimizer.step if method else lambda: optimizer.step(), fullgraph=whole)
        for _ in range(3):
            model(x).sum().backward()
            go()
            if scheduler:
                scheduler.step()
        optimizer.zero_grad()
    cases.append(("optimizer", run))


optimizers(lambda parameters: torch.optim.SGD(parameters, lr=0.1))
optimizers(torch.optim.Adam)
optimizers(torch.optim.Adam, whole=True)
optimizers(torch.optim.AdamW, method=True)
optimizers(lambda parameters: torch.optim.Adam(parameters, lr=torch.tensor(0.1)), scheduled=True)
optimizers(torch.optim.LBFGS, method=True)
optimizers(Own)
optimizers(Own, whole=True)


@case
def reset():
    model = Model()
    optimizer = torch.optim.SGD(model.parameters(), lr=0.1)
    go = compiled(lambda: (optimizer.zero_grad(), model.zero_grad()))
    model(x).sum().backward()
    go()
    go()


@case
def moved():
    model = Model()
    go = compiled(lambda data: model.to("cpu")(data))
    go(x)
    go(x)


@case
def gradient():
    compiled(lambda w: torch.autograd.grad((w * w).sum(), w))(x.clone().requires_grad_())


@case
def functional():
    from torch.func import functional_call, grad, vmap
    model = Model()

    def per_sample(parameters, data):
        return vmap(grad(lambda p, row: functional_call(model, p, (row,)).sum()), (None, 0))(parameters, data)
    compiled(per_sample, fullgraph=True)(dict(model.named_parameters()), x)


@case
def in_place():
    model = Model()
    model.compile(backend=backend, fullgraph=True)
    for data in (x, shorter):
        model(data).sum().backward()


@case
def recomputed():
    model = Model()
    compiled(lambda data: checkpoint(model, data, use_reentrant=False).sum(), fullgraph=True)(x.clone().requires_grad_()).backward()


@case
def exported():
    for strict in (False, True):
        program = torch.export.export(Model(), (x,), strict=strict)
        print([node.name for node in program.graph.nodes], list(program.module()(x).shape))
    told = dynamo.explain(Breaks())(x)
    print(told.graph_count, told.graph_break_count)


@case
def saved():
    def go(data):
        torch.save(data, io.BytesIO())
        return data + 1
    compiled(go)(x)


for name, function in cases:
    try:
        function()
    except Exception as error:
        print(name, "RAISED", type(error).__name__, str(error).splitlines()[0])
    print(name, dict(counters["stats"]), sorted((reason.splitlines()[0], n) for reason, n in counters["graph_break"].items()), dict(counters["frames"]),
          len(counters.get("recompiles", ())))
    dynamo.reset()
    counters.clear()
