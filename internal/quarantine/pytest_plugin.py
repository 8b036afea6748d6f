# Written by: shadowcourt quarantine write --form pytest
import re

import pytest

# Class and name of each test, as --junitxml has them.
QUARANTINED = frozenset([
    # TESTS
])


def _name(nodeid):
    path, bracket, parameters = nodeid.partition("[")
    names = path.split("::")
    names[0] = re.sub(r"\.py$", "", names[0].replace("/", "."))
    names[-1] += bracket + parameters
    return ".".join(names[:-1]), names[-1]


@pytest.hookimpl(trylast=True)
def pytest_collection_modifyitems(items):
    for item in items:
        if _name(item.nodeid) in QUARANTINED:
            item.add_marker(pytest.mark.skip(reason="in quarantine"))
