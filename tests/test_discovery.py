"""Finding claims by id, pattern, tag, file and folder; importing users' files; what is said where that fails."""

import sys
from pathlib import Path

import pytest

from hebbcheck import HebbcheckError
from hebbcheck.discovery import load, load_module, nearest, paper_claims, paper_modules, select
from hebbcheck.sources import sources

HEAD = "import hebbcheck as hc\nfrom hebbcheck import geometry as geo\n"
CLAIM = '@hc.claim("{id}", over=geo.kernels())\ndef f(k):\n    return hc.at_least(k.E_K, 0)\n'


def write(path: Path, *ids, head="", tail=""):
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_text(HEAD + head + "\n" + "".join(CLAIM.format(id=id) for id in ids) + tail)
    return path


def ids(claims):
    return [c.id for c in claims]


# --- selecting


def test_ids_patterns_tags_files_and_the_whole_paper(tmp_path):
    everything = ids(paper_claims())
    assert ids(select()) == everything and len(set(everything)) == len(everything) > 30
    assert ids(select(["B.16"])) == ["B.16"]
    assert set(ids(select(["B.2*"]))) == {i for i in everything if i.startswith("B.2")}
    assert {c.theme for c in select(["margin"])} == {"margin"} and "B.25.absorbed" in ids(select(["margin"]))
    assert all(c.erratum for c in select(["erratum"]))
    assert ids(select(["B.16", "B.1*", "B.16"])).count("B.16") == 1
    file = write(tmp_path / "mine.py", "one", "two")
    assert ids(select([str(file)])) == ["one", "two"]
    assert ids(select([f"{file}::two", "B.16"])) == ["two", "B.16"]
    assert ids(select([f"{file}::t*"])) == ["two"]


def test_folders(tmp_path):
    write(tmp_path / "b.py", "b")
    write(tmp_path / "sub" / "a.py", "a")
    write(tmp_path / ".hidden" / "c.py", "c")
    write(tmp_path / "sub" / "node_modules" / "d.py", "d")
    (tmp_path / "helper.py").write_text(
        '"""hebbcheck knows nothing of @hc.claim("x") in here"""\nraise RuntimeError'
    )
    (tmp_path / "other.py").write_text("raise RuntimeError('not a claims file')")
    assert ids(select([str(tmp_path)])) == ["b", "a"]
    assert ids(select([str(tmp_path / ".hidden")])) == ["c"]


@pytest.mark.parametrize(
    ("word", "said"),
    [
        ("B.166", "did you mean B.16"),
        ("marginn", "did you mean margin"),
        ("zzzzzz", "hebbcheck list shows all"),
        ("nothing.py", "nothing.py does not exist"),
        ("no/such/folder", "does not exist"),
        ("x" * 5000, "no claim has the id"),
        ("bad\0name", "no claim has the id"),
        ("bad\0name.py", "does not exist"),
    ],
)
def test_words_that_name_nothing(word, said):
    with pytest.raises(HebbcheckError, match=said):
        select([word])


def test_files_that_declare_nothing(tmp_path):
    (tmp_path / "empty.py").write_text("")
    (tmp_path / "notes.txt").write_text("hebbcheck claim(")
    for path, said in (
        (tmp_path / "empty.py", "declares no claim"),
        (tmp_path / "notes.txt", "rename it"),
        (tmp_path, "declares no claim"),
    ):
        with pytest.raises(HebbcheckError, match=said):
            select([str(path)])
    with pytest.raises(HebbcheckError, match="has the id, pattern or tag 'two'"):
        select([str(write(tmp_path / "one.py", "one")) + "::two"])


def test_nearest_names():
    assert nearest("gama", ["gamma", "delta"]) == "did you mean gamma?" and nearest("x", ["gamma"]) == ""


# --- one id, one claim


def test_one_id_twice_in_a_file_and_in_two_files(tmp_path):
    twice = write(tmp_path / "twice.py", "same", "other", "same")
    with pytest.raises(HebbcheckError, match=r"'same' stands for two claims, .*twice.py:4 and .*twice.py:10"):
        load(twice)
    one, two = write(tmp_path / "one.py", "same"), write(tmp_path / "two.py", "same")
    assert ids(select([str(one)])) == ids(select([str(two)])) == ["same"]
    with pytest.raises(HebbcheckError, match=r"one.py:4 and .*two.py:4"):
        select([str(one), str(two)])
    like_the_papers = write(tmp_path / "paper.py", "B.16")
    with pytest.raises(HebbcheckError, match=r"'B.16' stands for two claims"):
        select(["B.16", str(like_the_papers)])


def test_files_of_equal_text_stay_apart(tmp_path):
    one, two = write(tmp_path / "a" / "c.py", "same"), write(tmp_path / "b" / "c.py", "same")
    assert load(one)[0] is not load(two)[0] and load(one)[0].file == str(one)


def test_one_file_through_several_paths(tmp_path, monkeypatch):
    file = write(tmp_path / "real.py", "r")
    (tmp_path / "link.py").symlink_to(file)
    (tmp_path / "folder").symlink_to(tmp_path, target_is_directory=True)
    monkeypatch.chdir(tmp_path)
    ways = [
        "real.py",
        "./real.py",
        str(file),
        "link.py",
        "folder/real.py",
        "../" + tmp_path.name + "/real.py",
    ]
    assert ids(select(ways)) == ["r"]
    assert len({id(load(way)[0]) for way in ways}) == 1


def test_a_file_of_the_paper_is_that_module():
    import importlib

    module = importlib.import_module("hebbcheck.bounds.margin")
    claims = load(module.__file__)
    assert load_module(module.__file__) is module and claims[0].module == "hebbcheck.bounds.margin"
    assert set(map(id, claims)) <= set(map(id, paper_claims()))
    assert select([module.__file__, "margin"]) == claims
    assert module in paper_modules()
    package = Path(module.__file__).parent
    assert "B.16" in ids(select([str(package)]))


def test_a_changed_file_is_loaded_again(tmp_path):
    file = write(tmp_path / "c.py", "before")
    first = load(file)
    assert load(file)[0] is first[0]
    write(file, "after", "more")
    assert ids(load(file)) == ["after", "more"]
    write(file, "before")
    assert load(file)[0] is first[0]


# --- imports of users' files


def test_siblings_and_relative_imports_in_a_plain_folder(tmp_path):
    (tmp_path / "mate_of_c.py").write_text("LIMIT = 5\n")
    head = "import mate_of_c\nfrom . import mate_of_c as again\nfrom .mate_of_c import LIMIT\nassert LIMIT == 5\n"
    file = write(tmp_path / "c.v2 (copy).py", "siblings", head=head)
    assert ids(load(file)) == ["siblings"]
    assert load_module(file).again.LIMIT == 5


def test_packages(tmp_path):
    root = tmp_path / "pkg_for_tests"
    write(
        root / "sub" / "c.py",
        "deep",
        head="from .. import TOP\nfrom ..mate import M\nimport pkg_for_tests.mate as absolute\n",
    )
    (root / "__init__.py").write_text("TOP = 1\n")
    (root / "sub" / "__init__.py").write_text("")
    (root / "mate.py").write_text("M = 2\n")
    module = load_module(root / "sub" / "c.py")
    assert (module.TOP, module.M, module.absolute.M) == (1, 2, 2)
    write(root / "__init__.py", "of the package", head="TOP = 1")
    assert ids(load(root / "sub" / "c.py")) == ["deep"]


def test_a_file_is_run_as_python_would_run_it(tmp_path):
    head = "def g(x: int): ...\nassert g.__annotations__ == {'x': int}\nassert __name__ != '__main__' and __file__\n"
    module = load_module(write(tmp_path / "c.py", "as_python", head=head))
    assert module.__file__ == str(tmp_path / "c.py") and module.__package__.startswith("hebbcheck_user_")
    assert not (tmp_path / "__pycache__").exists()


def test_one_claims_file_may_import_another(tmp_path):
    write(tmp_path / "base_claims.py", "base")
    write(tmp_path / "uses.py", "uses", head="from .base_claims import f as earlier\n")
    assert ids(select([str(tmp_path / "uses.py")])) == ["uses"]
    assert ids(select([str(tmp_path)])) == ["base", "uses"]


def test_siblings_of_one_name_in_two_folders_are_not_mixed_up(tmp_path):
    for folder in ("one", "two"):
        (tmp_path / folder).mkdir()
        (tmp_path / folder / "namesake.py").write_text(f"NAME = {folder!r}\n")
        write(tmp_path / folder / "c.py", folder, head="from namesake import NAME\n")
    assert [load_module(tmp_path / folder / "c.py").NAME for folder in ("one", "two")] == ["one", "two"]


def test_the_search_path_keeps_what_it_had(tmp_path):
    before = list(sys.path)
    load(write(tmp_path / "c.py", "p", head="import sys\nsys.path.append('/added/by/the/file')\n"))
    assert sys.path[: len(before)] == before
    assert set(sys.path) - set(before) == {str(tmp_path), "/added/by/the/file"}
    sys.path[:] = before


@pytest.mark.parametrize(
    ("text", "said"),
    [
        ("def f(:\n", r"SyntaxError: .*\(c.py, line 1\)"),
        ("import no_such_package\n", r"ModuleNotFoundError: No module named 'no_such_package' \(line 1\)"),
        ("\n\n1 / 0\n", r"ZeroDivisionError: division by zero \(line 3\)"),
        ("import sys\nsys.exit(3)\n", r"SystemExit: 3 \(line 2\)"),
        ("exit()\n", "SystemExit"),
        ("import pytest\npytest.skip('no', allow_module_level=True)\n", "Skipped: no"),
        ("raise ValueError('one\\ntwo')\n", "ValueError: one two"),
        ("raise Exception\n", r"import: Exception \(line 1\)"),
        ("x = '\x00'\n", "(SyntaxError|ValueError)"),
        ("from .broken_mate import x\n", r"NameError: .*\(broken_mate.py, line 1\)"),
        ("def deep(n):\n    return deep(n + 1)\ndeep(0)\n", "RecursionError"),
        (HEAD + '@hc.claim("no family")\ndef f(k): ...\n', r"TypeError: .*'over'.*\(line 3\)"),
        (HEAD + '@hc.claim("typo", over=geo.kernels(), expct="holds")\ndef f(k): ...\n', "expct"),
        (HEAD + "@hc.claim\ndef f(k): ...\n", "TypeError"),
        (HEAD + '@hc.claim("a b", over=geo.kernels())\ndef f(k): ...\n', "claim 'a b' .*: the id is no word"),
        (HEAD + '@hc.claim("x", over=geo.facts(F=0))\ndef f(k): ...\n', "F=0 is no size"),
        (HEAD + "geo.shere\n", "AttributeError: .*shere"),
    ],
)
def test_files_that_do_not_import(tmp_path, text, said):
    (tmp_path / "broken_mate.py").write_text("nonsense\n")
    file = tmp_path / "c.py"
    file.write_text(text)
    for _ in range(2):  # a failed import leaves nothing behind
        with pytest.raises(HebbcheckError, match=said) as error:
            load(file)
        assert "\n" not in str(error.value) and str(file) in str(error.value)
    write(file, "repaired")
    assert ids(load(file)) == ["repaired"]


def test_a_broken_file_in_a_folder_is_not_passed_by(tmp_path):
    write(tmp_path / "good.py", "g")
    write(tmp_path / "bad.py", "b", tail="def f(:\n")
    with pytest.raises(HebbcheckError, match=r"bad.py does not import: SyntaxError"):
        select([str(tmp_path)])


def test_files_that_cannot_be_read(tmp_path):
    with pytest.raises(HebbcheckError, match="No such file"):
        load(tmp_path / "none.py")
    with pytest.raises(HebbcheckError, match="directory"):
        load(tmp_path)
    (tmp_path / "loop.py").symlink_to(tmp_path / "loop.py")
    with pytest.raises(HebbcheckError, match="cannot be read"):
        load(tmp_path / "loop.py")


# --- what a file is made of


def test_sources(tmp_path):
    (tmp_path / "sub").mkdir()
    texts = {
        "c.py": "import numpy\nfrom .a import x\nimport b as bb\nfrom . import sub\n",
        "a.py": "from . import b\n",
        "b.py": "",
        "sub/__init__.py": "from .d import y\nfrom ..e import z\n",
        "sub/d.py": "def f(:",
        "e.py": "import c\n",
        "unused.py": "",
    }
    for name, text in texts.items():
        (tmp_path / name).write_text(text)
    found = {str(p.relative_to(tmp_path)) for p in sources(tmp_path / "c.py")}
    assert found == set(texts) - {"unused.py"}
    assert sources(tmp_path / "unused.py") == [tmp_path / "unused.py"]
