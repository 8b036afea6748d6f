"""A plugin of pytest: writes which files modules were loaded from and, where changed.json names lines, whether the tests executed them.

Each process appends one line to the files "loaded" and "executed" in the folder of this file.
"""
import json
import os
import sys
import threading

import pytest

FOLDER = os.path.dirname(os.path.abspath(__file__))
CO_OPTIMIZED = 1  # of functions; the code of modules and classes runs when they are defined

try:
    with open(os.path.join(FOLDER, "changed.json")) as f:
        CHANGED = json.load(f)  # pieces by file: first line, last line, and whether code was removed there
except (OSError, IOError, ValueError):
    CHANGED = {}

ran = dict((name, set()) for name in CHANGED)  # lines within functions by file
names = {}  # of changed files by the names that code has for them
watched = {"test": False, "processes": False}


def changed_file(code):
    """The changed file that has the code of a function, or None."""
    if not code.co_flags & CO_OPTIMIZED:
        return None
    name = code.co_filename
    if name not in names:
        found = [n for n in (os.path.abspath(name), os.path.realpath(name)) if n in ran]
        names[name] = found[0] if found else None
    return names[name]


def tracer(frame, event, arg):
    name = changed_file(frame.f_code)
    if name is None:
        return None
    lines = ran[name]

    def line(frame, event, arg):
        lines.add(frame.f_lineno)
        return line

    return line


def monitor(monitoring):
    for tool in (4, 3, 1, 2):
        if monitoring.get_tool(tool) is None:
            monitoring.use_tool_id(tool, "shadowcourt")
            break
    else:
        return False

    def start(code, offset):
        if changed_file(code):
            monitoring.set_local_events(tool, code, monitoring.events.LINE)
        return monitoring.DISABLE

    def line(code, number):
        ran[changed_file(code)].add(number)
        return monitoring.DISABLE

    monitoring.register_callback(tool, monitoring.events.PY_START, start)
    monitoring.register_callback(tool, monitoring.events.LINE, line)
    monitoring.set_events(tool, monitoring.events.PY_START)
    return True


def audit(event, args):
    if watched["test"] and event in ("subprocess.Popen", "os.fork", "os.forkpty", "os.posix_spawn", "os.spawn", "os.exec", "os.system"):
        watched["processes"] = True


tracing = monitored = False
if CHANGED and sys.version_info >= (3, 8):  # ast tells where statements end, and hooks tell of processes
    sys.addaudithook(audit)
    monitored = hasattr(sys, "monitoring") and monitor(sys.monitoring)
    tracing = True
    if not monitored:
        threading.settrace(tracer)
        sys.settrace(tracer)


@pytest.hookimpl(hookwrapper=True)
def pytest_runtest_protocol(item):
    watched["test"] = True
    yield
    watched["test"] = False


@pytest.hookimpl(trylast=True)
def pytest_sessionfinish(session):
    append("loaded", json.dumps(modules()))
    if tracing and (monitored or sys.gettrace() is tracer):  # another tool may have taken its place
        if not monitored:
            sys.settrace(None)
        append("executed", json.dumps(executed()))


def append(name, line):
    with open(os.path.join(FOLDER, name), "a") as f:
        f.write(line + "\n")


def modules():
    """The files of modules by their names, without the standard library."""
    library, found = os.path.dirname(os.path.abspath(os.__file__)) + os.sep, {}
    for name, module in list(sys.modules.items()):
        path = getattr(module, "__file__", None)
        if getattr(module, "__name__", None) != name or not isinstance(path, str) or name == __name__:  # others are further names of it
            continue
        path = os.path.abspath(path)
        if not path.startswith(library) or "-packages" + os.sep in path:
            found[name] = path
    return found


def executed():
    """How many changed pieces were executed, how many were not, and of how many that is not known."""
    counts = {"executed": 0, "missed": 0, "unknown": 0, "processes": watched["processes"]}
    imported = set(os.path.realpath(path) for path in modules().values())
    for name, pieces in CHANGED.items():
        if os.path.realpath(name) not in imported and not ran[name]:
            counts["missed"] += len(pieces)
            continue
        try:
            with open(name, "rb") as f:
                text = f.read()
            file = File(text)
        except (OSError, SyntaxError, ValueError):
            counts["unknown"] += len(pieces)
            continue
        for first, last, removed in pieces:
            kind = file.piece(first, last, ran[name])
            if kind is None and removed:
                kind = file.piece(first - 1, last + 1, ran[name]) or ("executed" if ran[name] else "unknown")
            if kind is not None:
                counts[kind] += 1
    return counts


class File:
    """The statements of a file by their lines."""

    def __init__(self, text):
        import ast

        self.functions, self.statements, self.silent = [], [], set()  # silent lines do nothing that could be seen
        for node in ast.walk(ast.parse(text)):
            first, last = getattr(node, "lineno", 0), getattr(node, "end_lineno", 0)
            if isinstance(node, (ast.FunctionDef, ast.AsyncFunctionDef)):
                first = min([first] + [d.lineno for d in node.decorator_list])
                self.functions.append((first, last))
            elif isinstance(node, (ast.Import, ast.ImportFrom, ast.Global, ast.Nonlocal)) or (
                isinstance(node, ast.Expr) and isinstance(node.value, ast.Constant)
            ):
                self.silent.update(range(first, last + 1))
            elif isinstance(node, ast.stmt):
                body = getattr(node, "body", None)
                header = max(first, body[0].lineno - 1) if isinstance(body, list) and body else last
                self.statements.append((first, header))
        lines = text.splitlines()
        self.silent.update(i + 1 for i, line in enumerate(lines) if not line.strip() or line.strip().startswith(b"#"))
        self.length = len(lines)

    def piece(self, first, last, ran):
        """What is known of some lines together; None if nothing in them could be seen."""
        known = set(self.line(n, ran) for n in range(max(first, 1), min(last, self.length) + 1))
        for kind in ("executed", "unknown", "missed"):
            if kind in known:
                return kind
        return None

    def line(self, number, ran):
        if number in self.silent:
            return None
        around = [f for f in self.functions if f[0] <= number <= f[1]]
        if not around:  # it runs when the module is loaded: what uses it is not known
            return "executed" if ran else "unknown"
        first, last = max(around)
        own = [s for s in self.statements if s[0] <= number <= s[1] and s[0] > first]
        if own:
            first, last = max(own)
        return "executed" if any(first <= n <= last for n in ran) else "missed"
