"""Memories that are trained: the gradient and Adam against torch's, what training reaches and what it keeps."""

import importlib
import math

import numpy as np
import pytest
from drawn_facts import facts, sphere

from hebbcheck import memories
from hebbcheck.memories import gd, training
from hebbcheck.memories.construction import fact_table


def test_gd_stores_64_facts_in_32_dimensions_within_seconds():
    keys, mapping = sphere(64, 32)
    mlp = memories.build("gd", keys, keys, mapping, width=8)
    assert mlp.stores(keys, keys, mapping) and mlp.accuracy(keys, keys, mapping) == 1
    reached = mlp.settings
    assert mlp.gate == "identity" and mlp.parameter_count == 3 * 8 * 32
    assert reached["steps_taken"] == reached["best_step"] < 2000 and reached["steps_taken"] % 10 == 0
    assert reached["margin_reached"] == pytest.approx(mlp.margins(keys, keys, mapping).min())
    again = memories.build("gd", keys, keys, mapping, width=8)
    for name, part in mlp.parameters.items():
        np.testing.assert_array_equal(again.parameters[name], part)
    other = memories.build("gd", keys, keys, mapping, width=8, seed=1, steps=20)
    assert not np.array_equal(other.A, mlp.A)


@pytest.mark.parametrize(
    "options",
    [
        {"gate": "relu"},
        {"gate": "swish", "biases": True},
        {"loss": "mse", "learning_rate": 1e-2},
        {"precision": "float64", "biases": True},
    ],
)
def test_gd_with_other_gates_biases_and_losses(options):
    keys, mapping = sphere(24, 12)
    mlp = memories.build("gd", keys, keys, mapping, width=16, steps=3000, margin=0.02, **options)
    assert mlp.gate == options.get("gate", "identity") and (mlp.b is not None) == ("biases" in options)
    assert mlp.margins(keys, keys, mapping).min() > 0.02 and mlp.settings["steps_taken"] < 3000
    assert mlp.settings.items() >= options.items()


@pytest.mark.parametrize("biases", [False, True])
@pytest.mark.parametrize("gate", ["identity", "relu", "swish"])
@pytest.mark.parametrize("loss", ["cross_entropy", "mse"])
@pytest.mark.parametrize("m, values", [(3, 6), (9, 6), (4, 1)])
@pytest.mark.parametrize("large", [{}, dict.fromkeys("AGBagb", 40), {"b": 4000}])
def test_the_gradient_of_gd_is_that_of_automatic_differentiation(biases, gate, loss, m, values, large):
    """At parameters of ordinary size, and where scores are too far apart for exp to take as they are."""
    torch = pytest.importorskip("torch")
    module = importlib.import_module("hebbcheck.torched.module")
    table = fact_table(*facts(F=7, d=4, d_v=5, count=values))
    theta = {name: large.get(name, 1) * part for name, part in gd.initial(4, 5, m, 0, biases).items()}
    plan = training.Plan(gate, loss, 1, 0.0, 1e-3, 1e-6, 1, "float64")
    task = training.Task(table, plan, {k: theta[k].shape for k in training.ORDER if k in theta}, "float64")
    weights = task.weights(np.concatenate([theta[name].ravel() for name in task.shapes]))
    recorded = {name: torch.tensor(part.copy(), requires_grad=True) for name, part in theta.items()}
    units = module.hidden(torch.tensor(table.keys), recorded, gate)
    outputs = torch.nn.functional.linear(units, recorded["B"], recorded.get("b"))
    if loss == "mse":
        slow = torch.nn.functional.mse_loss(outputs, torch.tensor(table.codes))
    else:
        scores = outputs @ torch.tensor(table.values).T
        far = bool(large.keys() & theta.keys())
        assert values == 1 or (float(scores.detach().abs().max()) > task.limit) == far
        slow = torch.nn.functional.cross_entropy(scores, torch.tensor(table.map))
    slow.backward()
    assert task.loss(weights) == pytest.approx(slow.item())
    found = training.Weights(np, task.gradient(weights), task.shapes).parts
    for name, part in recorded.items():
        largest = float(part.grad.abs().max())
        np.testing.assert_allclose(found[name], part.grad, atol=1e-13 * max(largest, 1))


def test_adam_is_that_of_torch():
    torch = pytest.importorskip("torch")
    rng = np.random.default_rng(0)
    held, other = np.ones(5), torch.ones(5, dtype=torch.float64)
    ours, theirs = training.Adam(held), torch.optim.Adam([other], lr=0.1)
    for _ in range(20):
        gradient = rng.standard_normal(5)
        held -= ours.step(np, gradient, 0.1)
        other.grad = torch.tensor(gradient)
        theirs.step()
    np.testing.assert_allclose(held, other, rtol=1e-12)


def test_gd_keeps_its_best_iterate_and_starts_as_torch_layers_do():
    keys, mapping = sphere(24, 6)
    late = memories.build("gd", keys, keys, mapping, width=3, steps=60, every=20, learning_rate=2.0)
    assert late.settings["steps_taken"] == 60 and late.settings["best_step"] in (0, 20, 40, 60)
    assert late.settings["stored"] == late.accuracy(keys, keys, mapping) < 1
    start = memories.build(
        "gd", keys, keys, mapping, width=4000, steps=1, learning_rate=0, final_rate=0, biases=True
    )
    for name, inputs in {"A": 6, "G": 6, "B": 4000, "a": 6, "g": 6, "b": 4000}.items():
        bound = 1 / math.sqrt(inputs)
        assert 0.6 * bound < np.abs(start.parameters[name]).max() <= bound * (1 + 1e-6)
    narrow = memories.build("gd", keys, keys, mapping, width=40, steps=1, learning_rate=0, final_rate=0)
    np.testing.assert_array_equal(narrow.G, start.G[:40])
    np.testing.assert_allclose(narrow.B * math.sqrt(40), start.B[:, :40] * math.sqrt(4000), rtol=1e-6)


def test_gd_of_tensors_is_that_of_arrays():
    torch = pytest.importorskip("torch")
    keys, mapping = sphere(12, 6)
    options = {"width": 4, "steps": 50, "gate": "relu", "biases": True, "precision": "float64"}
    arrays = memories.build("gd", keys, keys, mapping, **options)
    tensors = memories.build("gd", torch.tensor(keys), torch.tensor(keys), torch.tensor(mapping), **options)
    assert all(isinstance(part, torch.Tensor) for part in tensors.parameters.values())
    np.testing.assert_array_equal(
        tensors(torch.tensor(keys)).numpy(), tensors.alike(keys)(torch.tensor(keys))
    )
    np.testing.assert_allclose(tensors.B, arrays.B, rtol=1e-9)


def test_gd_of_one_value_has_no_margin_to_reach():
    mlp = memories.build("gd", np.eye(3), np.ones((1, 3)), [0, 0, 0], width=2)
    assert mlp.settings["margin_reached"] is None and mlp.settings["steps_taken"] == 0


@pytest.mark.filterwarnings("error")
def test_a_descent_that_diverges_leaves_its_best_iterate_and_no_warning():
    keys = np.eye(4)
    mlp = memories.build("gd", keys, keys, width=3, steps=50, learning_rate=1e10)
    assert mlp.settings["stored"] == mlp.accuracy(keys, keys) and np.all(np.isfinite(mlp.B))
