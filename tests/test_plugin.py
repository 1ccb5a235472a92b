"""The pytest plugin, in projects of a user's own."""

import importlib
import subprocess
import sys
from pathlib import Path

import pytest

from hebbcheck import discovery, judges
from hebbcheck.verdict import Quantifier

pytest_plugins = ["pytester"]

CLAIMS = """
import hebbcheck as hc
from hebbcheck import geometry as geo

@hc.claim("mine.margin", over=geo.facts(), title="Signal plus cross-talk")
def margin(x):
    r"\\gamma = s + z"
    return hc.equal(x.margins, x.signal + x.crosstalk)

@hc.claim("mine.trace", over=geo.kernels(), title="A trace")
def trace(k):
    "The trace is at most a half."
    return hc.at_most(k.trace, 0.5)

@hc.claim("mine.erratum", over=geo.kernels(), expect="refuted", erratum="The kernel is not normalised.",
          needs=["mine.margin"])
def erratum(k):
    return hc.at_most(k.trace, 1)
"""


@pytest.fixture(autouse=True, scope="module")
def loaded():
    """An inner session takes what it imports away with it, and numpy cannot be imported twice."""
    for name in ("array_api_strict", "hebbcheck.geometry", "hebbcheck.report", "hebbcheck.run"):
        importlib.import_module(name)
    judges.judge_of(Quantifier.IDENTITY)
    discovery.paper_modules()


@pytest.fixture(autouse=True)
def quiet(pytester):
    pytester.makeini("[pytest]\naddopts = -p no:cacheprovider -p no:benchmark")


def outcomes(pytester, *arguments) -> dict[str, int]:
    result = pytester.runpytest(*arguments)
    return {k: v for k, v in result.parseoutcomes().items() if k != "warnings"}


def names(pytester, *arguments) -> list[str]:
    """The node ids that are collected."""
    result = pytester.runpytest("--collect-only", "-q", *arguments)
    return [line for line in result.outlines if "::" in line]


def test_each_claim_is_an_item_that_passes_as_expected(pytester):
    pytester.makepyfile(claims_mine=CLAIMS)
    result = pytester.runpytest("-v", "claims_mine.py")
    assert result.ret == 1
    result.assert_outcomes(passed=2, failed=1)
    result.stdout.fnmatch_lines(
        ["claims_mine.py::mine.margin PASSED*", "*::mine.trace FAILED*", "*::mine.erratum PASSED*"]
    )


def test_claims_are_judged_in_worker_processes_too(pytester):
    pytester.makepyfile(claims_mine=CLAIMS)
    assert outcomes(pytester, "-n", "1", "claims_mine.py") == {"passed": 2, "failed": 1}


def test_a_failure_is_told_in_a_few_lines_without_a_traceback(pytester):
    pytester.makepyfile(claims_mine=CLAIMS)
    result = pytester.runpytest("claims_mine.py::mine.trace")
    text = result.stdout.str()
    result.stdout.fnmatch_lines(
        [
            "*refuted unexpectedly (for all): *",
            "  statement: The trace is at most a half.",
            "  smallest counterexample: F = 1, m = 1*",
            "  replay with: hebbcheck replay .hebbcheck/counterexamples/mine.trace.*.npz",
            "FAILED claims_mine.py::mine.trace - refuted unexpectedly (for all)*",
        ]
    )
    assert "Traceback" not in text and "pytest_plugin.py" not in text
    (file,) = Path(".hebbcheck/counterexamples").glob("mine.trace.*.smallest.npz")
    assert f"hebbcheck replay {file}" in text


def test_selection_by_id_folder_keyword_and_mark(pytester):
    pytester.makepyfile(**{"theory/claims_mine": CLAIMS})
    every = [f"theory/claims_mine.py::mine.{name}" for name in ("margin", "trace", "erratum")]
    assert names(pytester) == names(pytester, "theory") == names(pytester, "theory/claims_mine.py") == every
    assert names(pytester, "theory/claims_mine.py::mine.trace") == every[1:2]
    assert names(pytester, "-k", "trace") == every[1:2]
    assert names(pytester, "--strict-markers", "-m", "for_all") == every[1:]
    assert names(pytester, "--strict-markers", "-m", "claims_mine and not for_all") == every[:1]


def test_a_file_of_any_name_is_collected_when_it_is_named_or_matches_the_ini_option(pytester):
    pytester.makepyfile(theory=CLAIMS, helper="x = 1")
    assert names(pytester) == []
    assert len(names(pytester, "theory.py")) == 3
    assert len(names(pytester, "-o", "hebb_claims=theo*.py")) == 3
    assert names(pytester, "helper.py") == []


def test_tests_stay_tests(pytester):
    """Also where a test file declares claims, or is called like a claims file."""
    body = CLAIMS + "\ndef test_margin():\n    assert margin.id == 'mine.margin'\n"
    pytester.makepyfile(test_one=body, test_my_claims=body.replace("mine.", "my."))
    assert names(pytester) == ["test_my_claims.py::test_margin", "test_one.py::test_margin"]
    assert outcomes(pytester, "test_one.py", "test_my_claims.py") == {"passed": 2}


def test_a_claims_file_beside_tests_is_collected_once_whatever_python_files_says(pytester):
    pytester.makepyfile(claims_mine=CLAIMS, test_one="def test(): pass")
    assert len(names(pytester)) == 4
    assert len(names(pytester, "-o", "python_files=*.py")) == 4
    assert len(names(pytester, "-o", "python_files=*.py", "claims_mine.py")) == 3


def test_files_of_other_people_are_left_alone(pytester):
    """A file that only has the name of a claims file is neither read as one nor imported."""
    pytester.makepyfile(insurance_claims="raise RuntimeError('imported')", test_one="def test(): pass")
    assert names(pytester) == ["test_one.py::test"]


@pytest.mark.parametrize("name", ["claims_broken", "other"])
def test_a_file_that_does_not_import_is_a_collection_error_of_one_line(pytester, name):
    pytester.makepyfile(
        **{name: "import hebbcheck as hc\nimport no_such_module\n@hc.claim('a')\ndef a(): ..."}
    )
    result = pytester.runpytest(f"{name}.py")
    assert result.ret == 2
    result.assert_outcomes(errors=1)
    result.stdout.fnmatch_lines(
        [f"*{name}.py does not import: ModuleNotFoundError: *no_such_module*(line 2)*"]
    )
    assert "Traceback" not in result.stdout.str()


def test_options_reach_the_verdict(pytester):
    pytester.makepyfile(claims_mine=CLAIMS)
    result = pytester.runpytest(
        "claims_mine.py::mine.trace", "--hebb-seed=3", "--hebb-dtype=float32", "--hebb-backend=strict"
    )
    assert "mine.trace.quick.strict-float32.3.smallest.npz" in result.stdout.str()


@pytest.mark.parametrize(
    "option", ["--hebb-profile=fast", "--hebb-backend=fortran", "--hebb-device=cuda", "--hebb-dtype=float8"]
)
def test_an_option_that_cannot_be_used_is_a_usage_error(pytester, option):
    result = pytester.runpytest(option)
    assert result.ret == pytest.ExitCode.USAGE_ERROR
    (line,) = [line for line in result.errlines if line]
    assert line.startswith("ERROR: ") and option.partition("=")[2] in line


def test_a_claim_that_raises_fails_with_what_it_raised(pytester):
    pytester.makepyfile(
        claims_mine="""
        import hebbcheck as hc
        from hebbcheck import geometry as geo

        @hc.claim("mine.typo", over=geo.facts())
        def typo(x):
            return hc.at_least(x.gama_min, 0)

        @hc.claim("mine.need", over=geo.facts(), needs=["mine.lost"])
        def need(x):
            return hc.at_least(x.m, 0)
        """
    )
    result = pytester.runpytest("claims_mine.py")
    result.assert_outcomes(passed=1, failed=1, warnings=1)
    result.stdout.fnmatch_lines(
        ["error (*gama_min*gamma_min*", "*no claim is called 'mine.lost', which mine.need needs*"]
    )
    assert "Traceback" not in result.stdout.str()


def test_a_theme_that_is_called_like_a_mark_of_pytest_is_renamed(pytester):
    pytester.makepyfile(skip=CLAIMS)
    assert outcomes(pytester, "skip.py::mine.margin", "-m", "skip_") == {"passed": 1}


def test_the_paper_is_collected_when_it_is_named(pytester):
    root = Path(__file__).parents[1]
    welch = names(pytester, f"{root / 'bounds' / 'welch.py'}::B.34")
    assert [line.rpartition("/")[2] for line in welch] == ["welch.py::B.34"]
    assert any(line.endswith("welch.py::B.34") for line in names(pytester, str(root / "bounds")))
    others = [f"--ignore={root / name}" for name in ("tests", "benchmarks")]
    assert names(pytester, str(root), *others) == []


def test_pytest_does_not_load_the_engine_without_a_claims_file(pytester):
    pytester.makepyfile(
        test_one="""
        import sys

        def test():
            heavy = {"numpy", "scipy", "sympy", "flint", "rich", "click", "hebbcheck.run", "hebbcheck.geometry"}
            assert "hebbcheck.pytest_plugin" in sys.modules
            assert not heavy & set(sys.modules)
        """
    )
    command = [sys.executable, "-m", "pytest", "-q", "-p", "no:hypothesispytest", "-p", "no:benchmark"]
    done = subprocess.run(command, capture_output=True, text=True)
    assert done.returncode == 0, done.stdout
