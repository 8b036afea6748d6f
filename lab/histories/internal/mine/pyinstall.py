"""Write what a tree needs to be tested into OUT/needs, one requirement a line, and its metadata as OUT/NAME.dist-info.

Usage: pyinstall.py TREE OUT VERSION, that of Python. What backends print goes nowhere. Nothing here knows a repository: only names that many projects use.
"""

import configparser
import pathlib
import re
import sys
import tomllib

import build
import build.env
from packaging.requirements import InvalidRequirement, Requirement
from packaging.utils import canonicalize_name

# Of extras, groups and files each the first of these lists counts of which a tree has any.
NAMES = (("test", "tests", "testing", "socks"), ("dev", "develop", "all"))
FILES = (
    (
        "requirements/tests.in", "requirements/test.in", "requirements/tests.txt", "requirements/test.txt", "requirements-tests.txt",
        "requirements-test.txt", "test-requirements.txt", "test_requirements.txt",
    ),
    ("requirements-dev.txt", "dev-requirements.txt", "requirements_dev.txt", "requirements/dev.in", "requirements/dev.txt"),
    ("requirements.txt",),
)
# Tools that no test needs, and that take long to install.
TOOLS = re.compile(r"(?i)(sphinx|mkdocs|furo|tox|pre-commit|twine|uv$|ruff|pyright|pip-tools|coveralls|codecov|towncrier|zensical)")
# What of a configuration tells of which plugin.
PLUGINS = {
    r"--cov\b": "pytest-cov", r"addopts.*-n[ =a\d]|--numprocesses": "pytest-xdist", r"^\s*asyncio_mode|--asyncio-mode": "pytest-asyncio",
    r"^\s*timeout *=|--timeout": "pytest-timeout", r"^\s*trio_mode": "pytest-trio", r"--benchmark": "pytest-benchmark",
    r"^\s*mock_use_standalone": "pytest-mock", r"--reruns": "pytest-rerunfailures",
}

tree, out, python = pathlib.Path(sys.argv[1]), pathlib.Path(sys.argv[2]), sys.argv[3]
wanted = {}
extras, declared = [], []


def first(lists, has):
    """Give those of the first list of which there are any."""
    return next((found for names in lists if (found := [n for n in names if has(n)])), [])


def want(text):
    """Want a requirement. A version that is pinned counts more than what others say."""
    try:
        r = Requirement(re.split(r"\s(?:#|--)", text)[0].strip(" \\"))
    except InvalidRequirement:
        return
    if r.url or TOOLS.match(r.name) or r.marker and not any(r.marker.evaluate({"extra": e, "python_version": python, "python_full_version": python + ".0"}) for e in ("", *extras)):
        return
    name = canonicalize_name(r.name)
    known = wanted.setdefault(name, r)
    known.extras |= r.extras
    if "==" not in str(known.specifier):
        known.specifier = r.specifier if "==" in str(r.specifier) else known.specifier & r.specifier


def written(r):
    r.marker = None
    return str(r)


def read(file):
    for line in file.read_text(errors="replace").splitlines():
        if m := re.match(r"\s*(?:-r|--requirement)[ =]*(\S+)", line):
            if (other := file.parent / m[1]).is_file() and other != file:
                read(other)
        elif m := re.match(r"\s*(?:(?:-e|--editable)[ =]*)?\.\[([\w, -]+)\]", line):
            own(re.findall(r"[\w-]+", m[1]))
        else:
            want(line)


def own(names):
    """Want what the project declares, with some of its extras."""
    extras.extend(names)
    for line in declared:
        want(line)


def group(groups, name):
    for item in groups.get(name, ()):
        if isinstance(item, str):
            want(item)
        elif isinstance(item, dict) and item.get("include-group") != name:
            group(groups, item.get("include-group"))


def metadata():
    with build.env.DefaultIsolatedEnv() as env:
        project = build.ProjectBuilder.from_isolated_env(env, tree)
        env.install(project.build_system_requires)
        env.install(project.get_requires_for_build("wheel"))
        folder = pathlib.Path(project.metadata_path(out))
    lines = (folder / "METADATA").read_text(errors="replace").split("\n\n")[0].splitlines()
    declared.extend(line.removeprefix("Requires-Dist: ") for line in lines if line.startswith("Requires-Dist: "))
    own(first(NAMES, lambda name: f"Provides-Extra: {name}" in lines))


try:
    metadata()
except Exception as e:  # what the backend raises: the tree is tested without metadata
    print("no metadata:", e, file=sys.stderr)
config = ""
for name in ("pyproject.toml", "setup.cfg", "tox.ini", "pytest.ini"):
    if (tree / name).is_file():
        config += (tree / name).read_text(errors="replace") + "\n"
try:
    project = tomllib.loads((tree / "pyproject.toml").read_text())
except (OSError, ValueError):
    project = {}
groups = project.get("dependency-groups", {})
for name in first(NAMES, groups.__contains__):
    group(groups, name)
for name in first(FILES, lambda name: (tree / name).is_file())[:1]:
    if name != "requirements.txt" or "pytest" not in wanted:
        read(tree / name)
tox = configparser.ConfigParser(interpolation=None, strict=False)
try:
    tox.read(tree / "tox.ini")
    for line in tox.get("testenv", "deps", fallback="").splitlines():
        want(re.sub(r"^[\w,.!{}-]+:", "", line.strip()))
except configparser.Error:
    pass
for pattern, plugin in PLUGINS.items():
    if re.search(pattern, config, re.MULTILINE):
        want(plugin)
want("pytest")
(out / "needs").write_text("\n".join(written(wanted[name]) for name in sorted(wanted)))
