"""Gated MLPs: what they compute, decode, save and load, and as torch modules."""

import json
import pickle
import subprocess
import sys

import numpy as np
import pytest
import safetensors.numpy
from hypothesis import given, settings
from hypothesis import strategies as st

from hebbcheck import HebbcheckError, decoding, memories
from hebbcheck.memories import GatedMLP
from hebbcheck.memories.mlp import GATES

RNG = np.random.default_rng(0)
SLOW_GATES = {
    "identity": lambda t: t,
    "relu": lambda t: max(t, 0.0),
    "swish": lambda t: t / (1 + np.exp(-t)),
}


def made(gate="identity", biases=False, d=4, m=5, d_v=3, seed=0):
    rng = np.random.default_rng(seed)
    shapes = {"A": (m, d), "G": (m, d), "B": (d_v, m)}
    shapes |= {"a": (m,), "g": (m,), "b": (d_v,)} if biases else {}
    parts = {name: rng.standard_normal(shape) for name, shape in shapes.items()}
    return GatedMLP(**parts, gate=gate, settings={"construction": "made", "seed": seed, "form": None})


def slow(mlp, x):
    """Equation 4, entry by entry."""
    zero = np.zeros(max(mlp.A.shape[0], mlp.B.shape[0]))
    a, g, b = (zero if bias is None else bias for bias in (mlp.a, mlp.g, mlp.b))
    units = [SLOW_GATES[mlp.gate](mlp.A[r] @ x + a[r]) * (mlp.G[r] @ x + g[r]) for r in range(mlp.A.shape[0])]
    return np.array(
        [sum(mlp.B[c, r] * units[r] for r in range(len(units))) + b[c] for c in range(len(mlp.B))]
    )


@pytest.mark.parametrize("gate", GATES)
@pytest.mark.parametrize("biases", [False, True])
def test_the_mlp_is_equation_4(gate, biases):
    mlp, queries = made(gate, biases), 3 * RNG.standard_normal((6, 4))
    np.testing.assert_allclose(mlp(queries), [slow(mlp, x) for x in queries], rtol=1e-12)
    np.testing.assert_allclose(mlp.hidden(queries) @ mlp.B.T + (mlp.b if biases else 0), mlp(queries))
    assert mlp.parameter_count == 4 * 5 * 2 + 3 * 5 + (5 + 5 + 3 if biases else 0)
    assert mlp.width == 5 and "made, d=4, m=5, d_v=3" in repr(mlp)


def test_swish_does_not_overflow():
    mlp = GatedMLP(np.eye(1), np.eye(1), np.eye(1), gate="swish")
    with np.errstate(all="raise"):
        np.testing.assert_allclose(mlp([[-1e4], [1e4]]), [[0], [1e8]])


@settings(max_examples=50, deadline=None)
@given(st.integers(1, 7), st.integers(1, 6), st.integers(0, 1000))
def test_margins_and_accuracy_are_those_of_definition_2_1(F, count, seed):
    rng = np.random.default_rng(seed)
    mlp, keys = made(seed=seed), rng.standard_normal((F, 4))
    values, mapping = rng.integers(-1, 2, (count, 3)).astype(float), rng.integers(0, count, F)
    expected = [
        [(values[mapping[i]] - values[j]) @ mlp(keys)[i] for j in range(count) if j != mapping[i]]
        for i in range(F)
    ]
    margins = mlp.margins(keys, values, mapping)
    assert margins.shape == (F, count - 1)
    np.testing.assert_allclose(margins, np.reshape(expected, margins.shape), atol=1e-12)
    duplicates = np.any([[np.all(values[a] == values[b]) for a in range(count) if a != b] for b in mapping])
    if not duplicates and (margins.size == 0 or np.min(np.abs(margins)) > 1e-9):
        share = np.mean([all(row > 0) for row in margins])
        assert mlp.accuracy(keys, values, mapping) == pytest.approx(share)
        assert mlp.stores(keys, values, mapping) == (share == 1)


def test_ties_and_nan_are_not_stored(monkeypatch):
    mlp = GatedMLP(np.ones((1, 1)), np.ones((1, 1)), np.ones((1, 1)))
    assert mlp.accuracy([[1.0], [1.0]], np.ones((2, 1))) == 0
    assert decoding.stored(np.full((2, 1), np.nan), np.ones((2, 1)), np.arange(2)) == 0
    monkeypatch.setattr(decoding, "SCORES", 7)  # blocks of two facts
    keys, mlp = RNG.standard_normal((5, 4)), made(d_v=4)
    one = decoding.margins(mlp(keys), keys, np.arange(5))
    assert mlp.accuracy(keys, keys[:3], [0, 1, 2, 1, 0]) * 5 == sum(
        np.all(mlp.margins(keys, keys[:3], np.array([0, 1, 2, 1, 0])) > 0, axis=1)
    )
    np.testing.assert_allclose(mlp.margins(keys, keys), one)


@pytest.mark.parametrize(
    ("use", "said"),
    [
        (lambda m: m(np.zeros((2, 5))), r"shape \(2, 5\) and dtype float64; N x 4"),
        (lambda m: m(np.zeros(4)), "one query a row"),
        (lambda m: m([[1.0], [1.0, 2.0]]), "queries is no array of numbers"),
        (lambda m: m.margins(np.zeros((2, 4)), [[1.0], [1.0, 2.0]]), "values is no array of numbers"),
        (lambda m: m(np.zeros((2, 4), dtype=bool)), "dtype bool"),
        (lambda m: m.margins(np.zeros((2, 4)), np.zeros((2, 4))), r"values have shape \(2, 4\); \|V\| x 3"),
        (lambda m: m.margins(np.zeros((2, 4)), np.zeros((3, 3))), "a map is needed"),
        (lambda m: m.stores(np.zeros((2, 4)), np.zeros((3, 3)), [0, 3]), "points to value 3 of 3"),
        (lambda m: GatedMLP(m.A, m.G[:3], m.B), "have shapes A"),
        (lambda m: GatedMLP(m.A, m.G, m.B.T), "have shapes A"),
        (lambda m: GatedMLP(m.A, m.G, m.B, b=np.zeros(5)), "biases"),
        (lambda m: GatedMLP(m.A, m.G, m.B, gate="gelu"), "gate='gelu' is unknown"),
        (lambda m: memories.from_module(m), "is no module of a memory"),
        (lambda m: GatedMLP([[1.0]], m.G, m.B), "parameters are of list; arrays of one library"),
        (lambda m: GatedMLP(m.A, None, m.B), "parameters are of NoneType"),
        (
            lambda m: GatedMLP(m.A, m.G, m.B.astype(np.float32)),
            "of numpy float32 on cpu and numpy float64 on cpu",
        ),
        (lambda m: m.margins(np.zeros((2, 4)), np.zeros((2, 3), complex)), "values have dtype complex128"),
        (lambda m: m.margins(np.zeros((2, 4)), np.zeros((2, 3)).astype(str)), "values have dtype"),
    ],
)
def test_unusable_parts_and_queries(use, said):
    with pytest.raises(HebbcheckError, match=said) as error:
        use(made())
    assert "\n" not in str(error.value)


# --- files


@pytest.mark.parametrize("gate", GATES)
@pytest.mark.parametrize("dtype", ["float64", "float32"])
def test_files_bring_back_every_bit(tmp_path, gate, dtype):
    mlp = made(gate, biases=gate != "identity").alike(np.zeros(0, dtype))
    mlp.save(tmp_path / "memory.safetensors")
    again = memories.load(tmp_path / "memory.safetensors")
    assert again.gate == gate and again.settings == mlp.settings
    assert again.parameters.keys() == mlp.parameters.keys()
    for name, part in mlp.parameters.items():
        assert again.parameters[name].dtype == dtype
        np.testing.assert_array_equal(again.parameters[name], part)
    assert [file.name for file in tmp_path.iterdir()] == ["memory.safetensors"]


class Trap:
    def __reduce__(self):
        return (print, ("unpickled!",))


def _tensors(**changes):
    parts = {"A": np.ones((2, 3)), "G": np.ones((2, 3)), "B": np.ones((3, 2)), **changes}
    return {name: part for name, part in parts.items() if part is not None}


METADATA = {"format": "hebbcheck memory 1", "gate": "identity", "settings": "{}"}
FOREIGN = {
    "empty": (b"", "no safetensors file"),
    "noise": (bytes(range(256)) * 4, "no safetensors file"),
    "pickled": (pickle.dumps(Trap()), "no safetensors file"),
    "cut": (safetensors.numpy.save(_tensors(), METADATA)[:-8], "no safetensors file"),
    "foreign": (safetensors.numpy.save(_tensors()), "format is None"),
    "another version": (safetensors.numpy.save(_tensors(), {**METADATA, "format": "x 2"}), "format is 'x 2'"),
    "unknown gate": (safetensors.numpy.save(_tensors(), {**METADATA, "gate": "gelu"}), "gate='gelu'"),
    "no settings": (safetensors.numpy.save(_tensors(), {**METADATA, "settings": "[1]"}), "no JSON object"),
    "bad settings": (safetensors.numpy.save(_tensors(), {**METADATA, "settings": "{"}), "no JSON object"),
    "no B": (safetensors.numpy.save(_tensors(B=None), METADATA), "has the tensors A, G;"),
    "more": (safetensors.numpy.save(_tensors(C=np.ones(1)), METADATA), "has the tensors A, B, C, G"),
    "shapes": (safetensors.numpy.save(_tensors(G=np.ones((3, 3))), METADATA), "have shapes"),
    "integers": (safetensors.numpy.save(_tensors(A=np.ones((2, 3), int)), METADATA), "A has int64 entries"),
    "no digest": (safetensors.numpy.save(_tensors(), METADATA), "was changed after it was saved"),
    "nan": (safetensors.numpy.save(_tensors(A=np.full((2, 3), np.nan)), METADATA), "not all of them finite"),
}


@pytest.mark.parametrize("kind", FOREIGN)
def test_other_files_are_refused_in_one_line_and_never_unpickled(tmp_path, kind, capsys):
    content, said = FOREIGN[kind]
    path = tmp_path / "given.safetensors"
    path.write_bytes(content)
    with pytest.raises(HebbcheckError, match=said) as error:
        memories.load(path)
    assert str(path) in str(error.value) and "\n" not in str(error.value)
    assert capsys.readouterr().out == ""


@pytest.mark.parametrize(
    ("change", "metadata"),
    [
        ({}, {"gate": "relu"}),
        ({}, {"settings": '{"width": 99}'}),
        ({"A": "G", "G": "A"}, {}),
        ({"B": "-B"}, {}),
    ],
)
def test_files_that_were_edited_are_refused(tmp_path, change, metadata):
    path = tmp_path / "m.safetensors"
    made().save(path)
    content = path.read_bytes()
    kept = json.loads(content[8 : 8 + int.from_bytes(content[:8], "little")])["__metadata__"]
    tensors = safetensors.numpy.load(content)
    edited = {name: tensors[name] for name in tensors} | {
        name: -tensors[to[1:]] if to[0] == "-" else tensors[to] for name, to in change.items()
    }
    path.write_bytes(safetensors.numpy.save(edited, kept | metadata))
    with pytest.raises(HebbcheckError, match="was changed after it was saved"):
        memories.load(path)
    path.write_bytes(safetensors.numpy.save(tensors, kept))
    assert memories.load(path).settings == made().settings


def test_what_could_not_be_loaded_is_not_saved(tmp_path):
    for strange in (np.full((2, 2), np.nan), np.eye(2, dtype=int)):
        with pytest.raises(HebbcheckError, match="not all of them finite numbers"):
            GatedMLP(strange, strange, strange).save(tmp_path / "m.safetensors")
    assert list(tmp_path.iterdir()) == []


@pytest.mark.parametrize("path", [None, 3, ""])
def test_what_is_no_path_is_said_in_one_line(path):
    for use in (memories.load, made().save):
        with pytest.raises(HebbcheckError, match="is no file's path"):
            use(path)


def test_paths_that_cannot_be_used(tmp_path):
    for path in (tmp_path, tmp_path / "none.safetensors", "a\0b"):
        with pytest.raises(HebbcheckError, match="cannot be read"):
            memories.load(path)
    for path in (tmp_path, tmp_path / "none" / "m.safetensors"):
        with pytest.raises(HebbcheckError, match="cannot be written"):
            made().save(path)
    strange = GatedMLP(np.eye(2), np.eye(2), np.eye(2), settings={"why": object()})
    with pytest.raises(HebbcheckError, match="settings cannot be written"):
        strange.save(tmp_path / "m.safetensors")
    assert list(tmp_path.iterdir()) == []


def test_a_header_says_how_the_memory_was_made(tmp_path):
    made().save(tmp_path / "m.safetensors")
    content = (tmp_path / "m.safetensors").read_bytes()
    header = json.loads(content[8 : 8 + int.from_bytes(content[:8], "little")])["__metadata__"]
    assert json.loads(header["settings"])["construction"] == "made"


# --- torch


@pytest.mark.parametrize("gate", GATES)
@pytest.mark.parametrize("biases", [False, True])
def test_the_module_is_the_mlp_and_leads_back(gate, biases):
    torch = pytest.importorskip("torch")
    mlp, queries = made(gate, biases), RNG.standard_normal((6, 4))
    module = mlp.module()
    np.testing.assert_allclose(module(torch.tensor(queries)).detach().numpy(), mlp(queries), rtol=1e-12)
    assert sum(part.numel() for part in module.parameters()) == mlp.parameter_count
    module(torch.tensor(queries)).square().sum().backward()
    assert all(part.grad is not None for part in module.parameters())
    again = memories.from_module(module)
    assert again.gate == gate and again.settings == mlp.settings and not again.A.requires_grad
    np.testing.assert_array_equal(again(queries), mlp(queries))
    np.testing.assert_array_equal(memories.from_module(torch.compile(module)).A, mlp.A)
    with torch.no_grad():
        module.B.zero_()
    np.testing.assert_array_equal(again(queries), mlp(queries))  # neither follows the module
    assert memories.from_module(module).settings == {"changed_from": mlp.settings}
    assert memories.from_module(mlp.module().float()).settings == mlp.settings
    module.load_state_dict(mlp.module().state_dict())
    assert module(torch.zeros(2, 3, 4, dtype=torch.float64)).shape == (2, 3, 3)


def test_modules_keep_working_where_torch_puts_something_in_a_parameters_place():
    torch = pytest.importorskip("torch")
    from torch.nn.utils import parametrizations, prune

    mlp = memories.build("bilinear", np.eye(4), np.eye(4), width=6)
    queries = torch.eye(4, dtype=torch.float64)
    tied = mlp.module()
    tied.G = tied.A
    np.testing.assert_allclose(tied(queries).detach(), mlp.A.T**2 @ mlp.B.T)
    assert np.array_equal(memories.from_module(tied).G, mlp.A)
    pruned = prune.l1_unstructured(mlp.module(), "A", 0.25)
    assert int((memories.from_module(pruned).A == 0).sum()) == mlp.A.size // 4
    normed = parametrizations.weight_norm(mlp.module(), "A")
    np.testing.assert_allclose(normed(queries).detach(), mlp(np.eye(4)))


def test_tensors_in_tensors_out(tmp_path):
    torch = pytest.importorskip("torch")
    mlp, queries = made("swish", biases=True), RNG.standard_normal((6, 4))
    for dtype in (torch.float64, torch.float32, torch.bfloat16):
        out = mlp(torch.tensor(queries, dtype=dtype))
        assert out.dtype == dtype
        np.testing.assert_allclose(out.double(), mlp(queries), atol=0.4 if dtype == torch.bfloat16 else 1e-4)
    values = RNG.standard_normal((6, 3))
    margins = mlp.margins(torch.tensor(queries), torch.tensor(values), torch.arange(6))
    np.testing.assert_allclose(margins.numpy(), mlp.margins(queries, values), rtol=1e-10)
    assert mlp.accuracy(torch.tensor(queries), torch.tensor(values)) == mlp.accuracy(queries, values)
    tensors = mlp.alike(torch.zeros(0, dtype=torch.bfloat16))
    tensors.save(tmp_path / "m.safetensors")
    np.testing.assert_array_equal(memories.load(tmp_path / "m.safetensors").A, tensors.A.float())


def test_without_torch_there_is_one_line():
    code = (
        "import sys\n"
        "class Missing:\n"
        "    def find_spec(self, name, path=None, target=None):\n"
        "        if name == 'torch': raise ImportError(name)\n"
        "sys.meta_path.insert(0, Missing())\n"
        "import numpy as np\n"
        "from hebbcheck import HebbcheckError, memories\n"
        "keys = np.eye(3)\n"
        "mlp = memories.build('whitened', keys, keys, width=8)\n"
        "assert mlp.stores(keys, keys)\n"
        "assert memories.build('gd', keys, keys, width=4).stores(keys, keys)\n"
        "try:\n    mlp.module()\n"
        "except HebbcheckError as error:\n    print(error)\n"
    )
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)
    assert "needs torch, which is not installed" in done.stdout and len(done.stdout.splitlines()) == 1
