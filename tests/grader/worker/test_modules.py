"""Modules served from memory, held against the interpreter's own rules of importing."""

import importlib
import importlib.util
import sys
from collections.abc import Iterator, Mapping

import pytest

from grader.worker.modules import MemoryFinder, origin, serve
from grader.worker.wire import Module

NAMES = ("zoo", "zoo.inner", "zoo.inner.leaf", "zoo.broken", "shelf")


def module(source: str, *, package: bool = False) -> Module:
    """Return a module to serve."""
    return Module(source=source, package=package)


TREE: Mapping[str, Module] = {
    "zoo": module("KIND = 'package'\n", package=True),
    "zoo.inner": module("from . import leaf\nfrom .. import KIND\n", package=True),
    "zoo.inner.leaf": module("from zoo import KIND\nWHERE = __name__\nDEEP = ...\n"),
    "zoo.broken": module("def f(:\n"),
}


@pytest.fixture(autouse=True)
def clean() -> Iterator[None]:
    """Leave the interpreter as it was."""
    path, caches = list(sys.meta_path), dict(sys.path_importer_cache)
    yield
    sys.meta_path[:] = path
    sys.path_importer_cache.clear()
    sys.path_importer_cache.update(caches)
    for name in [name for name in sys.modules if name.partition(".")[0] in ("zoo", "shelf")]:
        del sys.modules[name]


@pytest.fixture
def served() -> None:
    """Serve a small tree."""
    serve(TREE)


@pytest.mark.usefixtures("served")
class TestServedModules:
    """What an import finds."""

    def test_a_module_is_found_by_its_whole_name(self) -> None:
        """Its packages are imported on the way, and relative imports work."""
        leaf = importlib.import_module("zoo.inner.leaf")
        assert (leaf.WHERE, leaf.KIND) == ("zoo.inner.leaf", "package")
        assert sys.modules["zoo"].inner.leaf is leaf

    def test_packages_are_packages_and_modules_are_not(self) -> None:
        """Nothing on disk is searched below them."""
        package, leaf = importlib.import_module("zoo"), importlib.import_module("zoo.inner.leaf")
        assert package.__path__ == []
        assert package.__package__ == "zoo"
        assert not hasattr(leaf, "__path__")
        assert leaf.__package__ == "zoo.inner"

    def test_each_has_one_path_below_a_site_packages(self) -> None:
        """Whatever its text."""
        package, leaf = importlib.import_module("zoo"), importlib.import_module("zoo.inner.leaf")
        assert package.__file__ == "/opt/course/lib/site-packages/zoo/__init__.py"
        assert leaf.__file__ == "/opt/course/lib/site-packages/zoo/inner/leaf.py"
        assert leaf.__spec__ is not None
        assert leaf.__spec__.origin == leaf.__file__
        assert leaf.__cached__ is None or leaf.__cached__.endswith(".pyc")

    def test_a_traceback_names_the_path_and_the_line(self) -> None:
        """Though there is no such file."""
        serve({"shelf": module("\n\ndef f():\n    raise ValueError\n")})
        with pytest.raises(ValueError) as caught:  # noqa: PT011 — raised without a text
            importlib.import_module("shelf").f()
        last = caught.traceback[-1]
        assert str(last.path).endswith("site-packages/shelf.py")
        assert last.lineno == 3

    def test_a_module_that_is_not_there_is_an_ordinary_import_error(self) -> None:
        """Also inside a package that is."""
        for name in ("zoo.nothing", "zoo.inner.leaf.more", "shelf"):
            with pytest.raises(ModuleNotFoundError):
                importlib.import_module(name)

    def test_what_does_not_compile_raises_at_each_import(self) -> None:
        """And not before; its package is importable."""
        assert importlib.import_module("zoo").KIND
        for _ in range(2):
            with pytest.raises(SyntaxError) as caught:
                importlib.import_module("zoo.broken")
            assert caught.value.lineno == 1
            assert "zoo.broken" not in sys.modules

    def test_a_module_can_be_reloaded(self) -> None:
        """From its code; its text is gone."""
        leaf = importlib.import_module("zoo.inner.leaf")
        leaf.WHERE = "changed"
        assert importlib.reload(leaf).WHERE == "zoo.inner.leaf"

    def test_no_text_is_kept(self) -> None:
        """Neither the finder nor a loader has one."""
        leaf = importlib.import_module("zoo.inner.leaf")
        assert leaf.__spec__ is not None
        finder = sys.meta_path[0]
        kept = [
            *vars(finder).values(),
            *vars(leaf.__spec__.loader).values(),
            *(
                value
                for loader in vars(finder)["_loaders"].values()
                for value in vars(loader).values()
            ),
        ]
        assert not any(isinstance(value, str) and "KIND" in value for value in kept)
        assert not hasattr(leaf.__spec__.loader, "get_source")


def test_a_served_module_comes_before_one_on_disk(
    tmp_path_factory: pytest.TempPathFactory, monkeypatch: pytest.MonkeyPatch
) -> None:
    """A student's folder of that name does not take effect."""
    folder = tmp_path_factory.mktemp("disk")
    (folder / "shelf.py").write_text("WHERE = 'disk'\n")
    monkeypatch.syspath_prepend(folder)
    serve({"shelf": module("WHERE = 'memory'\n")})
    assert importlib.import_module("shelf").WHERE == "memory"


def test_what_is_served_later_comes_first() -> None:
    """A cell's variant, in the place of what all cells share."""
    serve({"shelf": module("WHERE = 1\n")})
    serve({"shelf": module("WHERE = 2\n")})
    assert importlib.import_module("shelf").WHERE == 2


def test_code_inherits_no_features_of_the_worker() -> None:
    """A future statement here would change what a student's annotations are."""
    serve({"shelf": module("def f(x: 1 + 1): pass\n")})
    assert importlib.import_module("shelf").f.__annotations__ == {"x": 2}


@pytest.mark.parametrize(
    ("source", "exception"),
    [
        ("x = '\0'\n", (SyntaxError, ValueError)),
        ("x = '\udcff'\n", ValueError),
        ("(" * 300 + ")" * 300, (SyntaxError, MemoryError, RecursionError)),
    ],
)
def test_no_text_stops_serving(
    source: str, exception: type[Exception] | tuple[type[Exception], ...]
) -> None:
    """Whatever it is, it is raised where it is imported."""
    serve({"shelf": module(source), "zoo": module("FINE = 1\n")})
    assert importlib.import_module("zoo").FINE
    with pytest.raises(exception):
        importlib.import_module("shelf")


def test_a_finder_answers_only_for_its_own() -> None:
    """Everything else is somebody else's business."""
    finder = MemoryFinder(TREE)
    assert finder.find_spec("os") is None
    assert finder.find_spec("zoo.nothing") is None
    spec = finder.find_spec("zoo.inner")
    assert spec is not None
    assert spec.submodule_search_locations == []


def test_a_path_is_made_from_a_name() -> None:
    """With and without ``__init__``."""
    home = "/opt/course/lib/site-packages"
    assert origin("a.b", package=False) == f"{home}/a/b.py"
    assert origin("a.b", package=True) == f"{home}/a/b/__init__.py"


def test_all_names_of_these_tests_are_free() -> None:
    """Or they would test something installed."""
    assert [name for name in NAMES if name in sys.modules] == []
