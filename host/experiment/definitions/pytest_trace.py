"""A plugin of pytest. Each process appends a line with the files that modules were loaded from to the file "loaded" beside this one, and one to "missed" for each
variable and place of a module that was asked for and is not there, and where all variables or a folder are listed, with the file of the code that asked."""
import json
import os
import sys

import pytest

HERE = os.path.dirname(os.path.abspath(__file__))
LIBRARY = os.path.dirname(os.path.abspath(os.__file__)) + os.sep
asked, write = set(), open
# They list for a child, to restore or clear them, to import, or to find a proxy or the version of a package.
PASSING = ("subprocess.py", "mock.py", "<frozen importlib._bootstrap_external>", "popitem", "getproxies_environment", "children")


def library(path):
    return path.startswith(LIBRARY) and "-packages" + os.sep not in path


def tell(**what):
    frame = sys._getframe(2)
    while frame and (frame.f_code.co_filename[:1] == "<" or library(frame.f_code.co_filename)):
        if what.keys() & {"listed", "folder"} and {os.path.basename(frame.f_code.co_filename), frame.f_code.co_name} & {*PASSING}:
            return
        frame = frame.f_back
    line = json.dumps({**what, "by": frame and os.path.abspath(frame.f_code.co_filename)})
    if line not in asked and len(asked) < 10000:
        asked.add(line)
        with write(os.path.join(HERE, "missed"), "a") as f:
            f.write(line + "\n")


class Variables(dict):
    def __missing__(self, name):
        tell(variable=os.fsdecode(name))
        raise KeyError(name)

    def __iter__(self):
        tell(listed=True)
        return super().__iter__()


def listens(event, args):
    if event in ("os.listdir", "os.scandir") and not isinstance(args[0], int):
        tell(folder=os.path.abspath(os.fsdecode(args[0] or ".")))


class Modules:
    @staticmethod
    def find_spec(name, path=None, target=None):
        for folder in sys.path if path is None else path:
            tell(module=os.path.join(os.path.abspath(str(folder)), name.rpartition(".")[2]))


try:
    os.environ._data = os.environb._data = Variables(os.environ._data)
    sys.meta_path.append(Modules)
    sys.addaudithook(listens)
except AttributeError:  # another implementation of Python
    pass


@pytest.hookimpl(trylast=True)
def pytest_sessionfinish(session):
    found = {}
    for name, module in list(sys.modules.items()):
        path = getattr(module, "__file__", None)
        if getattr(module, "__name__", None) != name or not isinstance(path, str) or name == __name__:  # others are further names of it
            continue
        path = os.path.abspath(path)
        if not library(path):
            found[name] = path
    with write(os.path.join(HERE, "loaded"), "a") as f:
        f.write(json.dumps(found) + "\n")
