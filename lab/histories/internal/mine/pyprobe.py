"""A plugin of pytest that reverses the order of tests."""

import os


def pytest_collection_modifyitems(items):
    if os.environ.get("HISTORIES_REVERSE"):
        items.reverse()
