"""A plugin of pytest: one line of JSON for each part of a test, and an end for tests that hang."""

import json
import os
import signal

import pytest

REPORT = os.environ["SUITE_REPORT"]
EACH_SECS = int(os.environ.get("SUITE_EACH_SECS", "60"))


class Hangs(BaseException):
    """No Exception, because drivers catch those and ask again."""


def _ends(_signal, _frame):
    signal.alarm(EACH_SECS)
    raise Hangs(f"hangs: no end within {EACH_SECS} seconds")


@pytest.hookimpl(hookwrapper=True)
def pytest_runtest_protocol(item, nextitem):
    signal.signal(signal.SIGALRM, _ends)
    signal.alarm(EACH_SECS)
    try:
        yield
    finally:
        signal.alarm(0)


def pytest_runtest_logreport(report):
    _write({"test": report.nodeid, "outcome": report.outcome, "said": _said(report)})


def pytest_collectreport(report):
    if report.failed:
        _write({"collection": report.nodeid, "said": _said(report)})


def _said(report):
    if report.outcome == "passed":
        return ""
    crash = getattr(report.longrepr, "reprcrash", None)
    if crash is not None:
        return crash.message
    if isinstance(report.longrepr, tuple):
        return str(report.longrepr[2])
    return str(report.longrepr)


def _write(line):
    with open(REPORT, "a", encoding="utf-8") as file:
        file.write(json.dumps(line) + "\n")
