"""pytest plugin of `cargo xtask numba-suite`: writes what happens to each test, one JSON object a line.

Every row is written when it happens, by the process that runs the test, so that the record is complete up to
the point where a process dies. Rows: {"planned": [tests], "worker": n}, {"begin": test},
{"end": test, "outcome": "...", "seconds": n, "message": "..."}.

Run as a script it lists the modules of a package.
"""

import faulthandler
import json
import os
import sys

PACKAGE = "numba.cuda.tests"


def write(row):
    line = (json.dumps(row) + "\n").encode()
    # One write of an appending descriptor: the rows of several processes do not mix.
    fd = os.open(os.environ["NUMBA_SUITE_RECORD"], os.O_WRONLY | os.O_APPEND | os.O_CREAT)
    try:
        os.write(fd, line)
    finally:
        os.close(fd)


def name_of(item):
    """`cudapy.test_sync::TestSync::test_x`: by module, which does not depend on where it is installed."""
    module = item.module.__name__.removeprefix(PACKAGE + ".")
    parents = [node.name for node in item.listchain() if type(node).__name__ in ("UnitTestCase", "Class")]
    return "::".join([module, *parents, item.name])


def context_is_lost():
    """Whether a kernel's fault ended this process's use of the device: every later test would fail with it."""
    try:
        from cuda.bindings import driver
    except ImportError:
        return False
    (result,) = driver.cuCtxSynchronize()
    return 700 <= int(result) < 800 or int(result) in (214, 220)


class Recorder:
    def __init__(self):
        self.limit = float(os.environ["NUMBA_SUITE_LIMIT"])
        with open(os.environ["NUMBA_SUITE_DONE"]) as file:
            self.done = set(file.read().split("\n"))
        self.reports = []
        # A C thread's watchdog: it works while the library holds Python's lock.
        self.watch()

    def watch(self):
        faulthandler.dump_traceback_later(self.limit, exit=True)

    def pytest_collection_modifyitems(self, items):
        items[:] = [item for item in items if name_of(item) not in self.done]
        write({"planned": [name_of(item) for item in items], "worker": int(os.environ.get("NUMBA_SUITE_WORKER", 0))})

    def pytest_collectreport(self, report):
        if report.failed:
            module = os.path.splitext(report.nodeid)[0].replace("/", ".")
            name = module.removeprefix(PACKAGE + ".") + "::(module)"
            row = {"end": name, "outcome": "error", "seconds": 0, "message": str(report.longrepr)[-2000:]}
            write(row)

    def run(self, item):
        self.reports = []
        name = name_of(item)
        write({"begin": name})
        self.watch()
        yield
        self.watch()
        outcome, message, seconds = "passed", "", 0.0
        for report in self.reports:
            seconds += report.duration
            state = self.state(report)
            if state != "passed" and outcome in ("passed", "xfailed", "skipped"):
                outcome, message = state, self.message(report)
        write({"end": name, "outcome": outcome, "seconds": round(seconds, 2), "message": message[:2000]})
        if outcome in ("failed", "error") and context_is_lost():
            os._exit(77)

    def state(self, report):
        if hasattr(report, "wasxfail"):
            return "xfailed" if report.skipped else "xpassed" if report.passed else "failed"
        if report.failed and report.when != "call":
            return "error"
        return report.outcome

    def message(self, report):
        if report.skipped and isinstance(report.longrepr, tuple):
            return report.longrepr[2].removeprefix("Skipped: ")
        crash = getattr(report.longrepr, "reprcrash", None)
        return crash.message if crash is not None else str(report.longrepr or "")


def pytest_configure(config):
    import pytest

    recorder = Recorder()

    class Hooks:
        @pytest.hookimpl(trylast=True)
        def pytest_collection_modifyitems(self, items):
            recorder.pytest_collection_modifyitems(items)

        def pytest_collectreport(self, report):
            recorder.pytest_collectreport(report)

        @pytest.hookimpl(hookwrapper=True)
        def pytest_runtest_protocol(self, item):
            yield from recorder.run(item)

        def pytest_runtest_logreport(self, report):
            recorder.reports.append(report)

        def pytest_sessionfinish(self):
            faulthandler.cancel_dump_traceback_later()

    class Fixtures:
        # The suite's conftest.py, which the wheel leaves out, has this one.
        @pytest.fixture(scope="class")
        def initialize_from_pytest_config(self, request):
            request.cls._dump_failed_filechecks = False

    config.pluginmanager.register(Hooks(), "numba-suite-hooks")
    config.pluginmanager.register(Fixtures(), "numba-suite-fixtures")


if __name__ == "__main__":
    import importlib
    import pathlib

    (folder, *_) = importlib.import_module(PACKAGE).__path__
    for path in sorted(pathlib.Path(folder).rglob("test_*.py")):
        parts = path.relative_to(folder).with_suffix("").parts
        sys.stdout.write(".".join((PACKAGE, *parts)) + "\n")
