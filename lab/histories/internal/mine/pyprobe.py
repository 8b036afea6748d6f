"""A plugin of pytest that reverses the order of tests, or writes which files the modules of a tree were loaded from."""

import os
import sys


def pytest_collection_modifyitems(items):
    if os.environ.get("HISTORIES_REVERSE"):
        items.reverse()


def pytest_sessionfinish(session):
    if out := os.environ.get("HISTORIES_LOADED"):
        with open(out, "a") as f:
            for name, module in sorted(sys.modules.items()):  # of this process: there may be workers
                if getattr(module, "__name__", "") == name:  # others are further names of it
                    f.write(f"{name}\t{getattr(module, '__file__', None) or ''}\n")
