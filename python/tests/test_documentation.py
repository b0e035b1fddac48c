"""What the documentation shows is true: examples run, and the code of pages and of docstrings does what it says."""

import doctest
import importlib
import pathlib
import re
import runpy

import pytest

import wonbon

TOP = pathlib.Path(__file__).resolve().parents[2]
EXAMPLES = TOP / "python/examples"


@pytest.mark.parametrize("name", ["_texts", "_families", "_passages", "_store"])
def test_docstrings(name):
    done = doctest.testmod(importlib.import_module(f"wonbon.{name}"))
    assert done.failed == 0 and done.attempted > 0


def run(name):
    """Runs an example from its first cell to its last; what its names stand for then."""
    return runpy.run_path(str(EXAMPLES / f"{name}.py"))


def test_a_dataset_is_cleaned(capsys):
    clean = run("clean_a_dataset")["clean"]
    assert type(clean).__name__ == "Dataset" and clean.num_rows == 5
    assert "'another' stands where the original has 'word30'" in capsys.readouterr().out


def test_the_copies_of_a_blog_are_found():
    told = run("who_copied_my_blog")
    assert told["holders"] == ["https://copies.example/123", "https://news.example/island"]
    copies = {one.document.key: [copy.key for copy in one.copies or []] for one in told["found"].results}
    assert copies == {"https://mine.example/ferry": ["https://copies.example/123"], "https://news.example/island": []}


def test_a_benchmark_is_decontaminated():
    assert [text[:6] for text in run("decontaminate_a_benchmark")["clean"]] == ["A loaf", "Fences"]


def test_the_code_of_the_page_runs(tmp_path, monkeypatch):
    """Every block of docs/python.md that is ours, one after another."""
    monkeypatch.chdir(tmp_path)
    page = (TOP / "docs/python.md").read_text()
    blocks = re.findall(r"```python\n(.*?)```", page, re.DOTALL)
    names = {}
    assert len(blocks) >= 8
    for block in blocks:
        exec(compile(block, "docs/python.md", "exec"), names)
    assert names["families"].summary["copies"] > 0


def test_the_code_for_who_comes_from_other_tools_runs(tmp_path, monkeypatch):
    """Every block of ours on the page, one after another; the others' blocks are Python at least."""
    monkeypatch.chdir(tmp_path)
    page = (TOP / "docs/how-to/from-other-tools.md").read_text()
    names, theirs = {}, 0
    for kind, block in re.findall(r"```python(.*?)\n(.*?)```", page, re.DOTALL):
        code = compile(block, "docs/how-to/from-other-tools.md", "exec")
        if kind == " theirs":
            theirs += 1
        else:
            exec(code, names)
    assert theirs == 4 and names["summary"]["documents"] == 4


def test_every_public_name_is_on_the_page():
    page = (TOP / "docs/python.md").read_text()
    missing = [name for name in wonbon.__all__ if f"`{name}" not in page]
    assert missing == []
