"""A plugin of pytest: each process appends a line with the files that modules were loaded from to the file "loaded" beside this one."""
import json
import os
import sys

import pytest


@pytest.hookimpl(trylast=True)
def pytest_sessionfinish(session):
    library, found = os.path.dirname(os.path.abspath(os.__file__)) + os.sep, {}
    for name, module in list(sys.modules.items()):
        path = getattr(module, "__file__", None)
        if getattr(module, "__name__", None) != name or not isinstance(path, str) or name == __name__:  # others are further names of it
            continue
        path = os.path.abspath(path)
        if not path.startswith(library) or "-packages" + os.sep in path:  # not of the standard library
            found[name] = path
    with open(os.path.join(os.path.dirname(os.path.abspath(__file__)), "loaded"), "a") as f:
        f.write(json.dumps(found) + "\n")
