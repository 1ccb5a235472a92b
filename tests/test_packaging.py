"""What is installed, what it needs, and what the README promises."""

import ast
import importlib
import importlib.metadata
import os
import re
import shutil
import subprocess
import sys
import tomllib
import zipfile
from pathlib import Path

import pytest
from packaging.requirements import Requirement
from packaging.utils import canonicalize_name

import hebbcheck
from hebbcheck.cli import cli
from hebbcheck.discovery import load
from hebbcheck.run import Runner
from hebbcheck.settings import Settings

ROOT = Path(__file__).parents[1]
PROJECT = tomllib.loads((ROOT / "pyproject.toml").read_text())["project"]
README = (ROOT / "README.md").read_text()
NOT_IN_EVERY_INSTALL = {"torch", "jax", "cupy", "distributed", "pytest"}


def modules(folder: str) -> set[str]:
    return {str(path.relative_to(ROOT)) for path in (ROOT / folder).rglob("*.py")}


@pytest.fixture(scope="module")
def wheel(tmp_path_factory) -> zipfile.ZipFile:
    """The wheel, built from a copy."""
    copy = tmp_path_factory.mktemp("wheel")
    for name in ("hebbcheck", "bounds", "reports"):
        shutil.copytree(ROOT / name, copy / name, ignore=shutil.ignore_patterns("__pycache__", "html"))
    for name in ("pyproject.toml", "setup.py", "README.md", "LICENSE"):
        shutil.copy(ROOT / name, copy)
    command = [sys.executable, "-m", "pip", "wheel", "-q", "--no-deps", "-w", str(copy / "built"), str(copy)]
    done = subprocess.run(command, capture_output=True, text=True)
    if "setuptools" in done.stderr and "No matching distribution" in done.stderr and not os.environ.get("CI"):
        pytest.skip("the wheel is built with setuptools from a package index, which does not answer")
    assert done.returncode == 0, done.stderr
    (built,) = (copy / "built").glob("*.whl")
    return zipfile.ZipFile(built)


def test_the_wheel_has_every_module_under_one_name(wheel):
    names = set(wheel.namelist())
    wanted = modules("hebbcheck") | {f"hebbcheck/{name}" for name in modules("bounds") | modules("reports")}
    assert {name for name in names if name.endswith(".py")} == wanted
    assert {name.partition("/")[0] for name in names} == {
        "hebbcheck",
        f"hebbcheck-{PROJECT['version']}.dist-info",
    }


def test_the_wheel_has_the_files_of_the_report_and_the_licence(wheel):
    report = ROOT / "hebbcheck" / "report"
    files = [path for part in ("templates", "assets") for path in (report / part).iterdir()]
    assert files
    assert {str(path.relative_to(ROOT)) for path in files} <= set(wheel.namelist())
    info = f"hebbcheck-{PROJECT['version']}.dist-info"
    assert "Apache License" in wheel.read(f"{info}/licenses/LICENSE").decode()
    entries = wheel.read(f"{info}/entry_points.txt").decode()
    assert "hebbcheck = hebbcheck.cli:main" in entries and "hebbcheck = hebbcheck.pytest_plugin" in entries


def imported() -> set[str]:
    """The top-level names that the engine and the paper import, wherever they stand."""
    found = set()
    for path in (ROOT / name for folder in ("hebbcheck", "bounds", "reports") for name in modules(folder)):
        for node in ast.walk(ast.parse(path.read_text())):
            if isinstance(node, ast.Import):
                found |= {alias.name.partition(".")[0] for alias in node.names}
            elif isinstance(node, ast.ImportFrom) and node.level == 0:
                found.add(str(node.module).partition(".")[0])
    return found - set(sys.stdlib_module_names) - {"hebbcheck"}


def test_every_import_is_a_declared_requirement():
    declared = {canonicalize_name(Requirement(line).name) for line in PROJECT["dependencies"]}
    owners = importlib.metadata.packages_distributions()
    needed = {name: {canonicalize_name(d) for d in owners.get(name, ())} for name in imported()}
    missing = {name for name, dists in needed.items() if not dists & declared} - NOT_IN_EVERY_INSTALL
    assert not missing


def test_constraints_pin_what_is_required():
    lines = [line for line in (ROOT / "constraints.txt").read_text().splitlines() if not line.startswith("#")]
    pinned = {}
    for line in lines:
        assert re.fullmatch(r"[\w.-]+==[\w.]+", line), line
        name, _, version = line.partition("==")
        pinned[canonicalize_name(name)] = version
    groups = [PROJECT["dependencies"], *PROJECT["optional-dependencies"].values()]
    for requirement in (Requirement(line) for group in groups for line in group):
        assert requirement.specifier.contains(pinned[canonicalize_name(requirement.name)]), requirement
    assert {"ruff", "mypy", "tox"} <= set(pinned)


def test_one_version_is_told_everywhere():
    assert hebbcheck.__version__ == PROJECT["version"]


def commands(text: str) -> list[str]:
    return [line for language, block in blocks(text) if not language for line in block.splitlines()]


def blocks(text: str) -> list[tuple[str, str]]:
    """(language, text) of each code block."""
    return re.findall(r"^```(\w*)\n(.*?)^```$", text, re.DOTALL | re.MULTILINE)


def test_the_two_commands_of_the_readme_are_single_lines_that_pin_versions():
    start = [line for line in commands(README) if line.startswith("python3 -m venv")]
    assert len(start) == 2
    assert all("pip install -q -c constraints.txt" in line for line in start)
    assert "hebbcheck verify" in start[0] and "-m pytest" in start[1]
    for extra in re.search(r"\[(.*)\]", start[1])[1].split(","):
        assert extra in PROJECT["optional-dependencies"]


def test_the_readme_names_every_command():
    named = {line.split()[1] for line in commands(README) if line.startswith("hebbcheck ")}
    assert named == set(cli.commands)


def test_the_claims_of_the_readme_are_claims(tmp_path):
    (block,) = [block for language, block in blocks(README) if "@hc.claim" in block]
    file = tmp_path / "claims_mine.py"
    file.write_text(block)
    welch, coherence = load(file)
    assert coherence.constants == ("C",) and coherence.quantifier == "absolute constants"
    (record,) = Runner(Settings(), folder=tmp_path).verify([welch])
    assert record["verdict"] == "held"


def test_the_paper_is_part_of_the_package():
    for name in ("bounds", "reports"):
        folder = Path(importlib.import_module(f"hebbcheck.{name}").__file__).parent
        assert (folder / "__init__.py").is_file()


def test_the_memory_of_the_readme_stores_its_facts(tmp_path, monkeypatch):
    (block,) = [block for language, block in blocks(README) if "memories.build" in block]
    monkeypatch.chdir(tmp_path)
    names = {}
    exec(block, names)
    again = names["memories"].load("facts.safetensors")
    assert again.stores(names["keys"], names["keys"], names["f"])
    listed = set(re.findall(r"^\| `(\w+)` \| ", README, re.MULTILINE))
    assert set(names["memories"].constructions()) <= listed
