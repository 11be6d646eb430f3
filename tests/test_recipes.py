"""The recipes of `packaging/`: their options for CMake and pip build and install here, without Spack and conda."""

import os
import re
import subprocess
import sys
import tomllib
from pathlib import Path
from types import ModuleType, SimpleNamespace

import pytest
import yaml

from tests.documents import ROOT
from tests.patience import patience

BUILD_S = 600
PYPROJECT = tomllib.loads((ROOT / "pyproject.toml").read_text("utf-8"))["project"]


def execute(*command, **settings):
    done = subprocess.run([str(word) for word in command], capture_output=True, text=True,
                          timeout=patience(BUILD_S), **settings)
    assert done.returncode == 0, done.stdout + done.stderr
    return done.stdout


@pytest.fixture
def spack(monkeypatch):
    """The recipe's class with the used part of Spack: variants are recorded, definitions are CMake's."""
    variants, needs = {}, []

    class CMakePackage:
        def __init__(self):
            self.spec = {"mpi": SimpleNamespace(mpicc="mpicc")}

        define = staticmethod(lambda name, value: f"-D{name}={value}")

        def define_from_variant(self, name, variant):
            return self.define(name, self.chosen[variant])

    for name in ("spack", "spack.package", "spack_repo", "spack_repo.builtin", "spack_repo.builtin.build_systems",
                 "spack_repo.builtin.build_systems.cmake"):
        monkeypatch.setitem(sys.modules, name, ModuleType(name))
    sys.modules["spack_repo.builtin.build_systems.cmake"].CMakePackage = CMakePackage
    package = sys.modules["spack.package"]
    package.license = package.version = package.conflicts = lambda *words, **more: None
    package.variant = lambda name, default, description: variants.update({name: default})
    package.depends_on = lambda spec, **more: needs.append((spec, more.get("when")))
    path = ROOT / "packaging" / "spack" / "packages" / "pencilfft" / "package.py"
    names = {"__file__": str(path)}
    exec(compile(path.read_text("utf-8"), path, "exec"), names)
    return SimpleNamespace(recipe=names["Pencilfft"], variants=variants, needs=needs)


def test_spack_recipe_names_its_checkout_and_what_cmake_asks_for(spack):
    assert Path(spack.recipe.git.removeprefix("file://")) == ROOT.resolve()
    asked = re.findall(r"pkg_check_modules\((\w+) REQUIRED", (ROOT / "fft_runner" / "CMakeLists.txt").read_text("utf-8"))
    told = " ".join(spec for spec, _ in spack.needs)
    assert asked and all(name.lower().rstrip("3") in told for name in asked)
    assert {when for spec, when in spack.needs if spec.startswith(("hwloc", "jansson"))} == {"+runner"}


@pytest.mark.slow
@pytest.mark.parametrize("others", [{}, {"shared": False, "fortran": False, "runner": False, "fftw_mpi": False}])
def test_spack_recipe_builds(spack, others, tmp_path):
    spack.recipe.chosen = {**spack.variants, **others}
    source = ROOT / spack.recipe.root_cmakelists_dir
    told = execute("cmake", "-S", source, "-B", tmp_path / "build", *spack.recipe().cmake_args())
    assert "not used by the project" not in told
    execute("cmake", "--build", tmp_path / "build")
    execute("cmake", "--install", tmp_path / "build", "--prefix", tmp_path / "prefix")
    found = {path.name for path in (tmp_path / "prefix").rglob("*")}
    assert ("libpencilfft.so" in found, "fft_runner" in found) == ((False, False) if others else (True, True))


@pytest.mark.slow
def test_conda_recipe_builds(tmp_path):
    (tmp_path / "fft_runner").symlink_to(ROOT / "fft_runner")
    execute("bash", ROOT / "packaging" / "conda" / "pencilfft.sh", cwd=tmp_path,
            env=os.environ | {"PREFIX": str(tmp_path / "prefix")})
    assert (tmp_path / "prefix" / "bin" / "fft_runner").exists()
    assert (tmp_path / "prefix" / "lib" / "libpencilfft.so").exists()


def test_conda_recipe_asks_for_what_the_package_asks_for():
    recipe = yaml.safe_load((ROOT / "packaging" / "conda" / "recipe.yaml").read_text("utf-8"))
    mapper = next(one for one in recipe["outputs"] if one["package"]["name"] == "pencilmap")
    asked = {need.replace(" ", "") for need in mapper["requirements"]["run"]}
    assert asked == {*PYPROJECT["dependencies"], f"python{PYPROJECT['requires-python']}"}


def test_the_citation_names_the_licence_and_the_day_of_the_release():
    cited = yaml.safe_load((ROOT / "CITATION.cff").read_text("utf-8"))
    assert cited["license"] == PYPROJECT["license"]
    assert f"## [{cited['version']}] - {cited['date-released']}\n" in (ROOT / "CHANGELOG.md").read_text("utf-8")
