"""Makes a few lines of what a suite printed and saved."""

import json
import re
from dataclasses import dataclass, field
from pathlib import Path

SCENARIO = re.compile(r"^([✓✗]) (\S+): \d+ passed, \d+ failed$", re.MULTILINE)
BASELINED = re.compile(r"^  ~ (\S+)$", re.MULTILINE)
ENTRY = re.compile(r"^  [✓✗] (\S+)$", re.MULTILINE)
NOT_SCORED = re.compile(r"^  - scenario: (\S+)$", re.MULTILINE)


@dataclass
class Report:
    passed: list[str] = field(default_factory=list)
    failed: list[str] = field(default_factory=list)
    expected: list[str] = field(default_factory=list)
    stale: list[str] = field(default_factory=list)
    # Run for information: extensions, and what came after the revision was released.
    unscored: int = 0
    unscored_passed: int = 0

    def __str__(self):
        parts = [f"{len(self.passed)} scenarios passed", f"{len(self.failed)} failed"]
        if self.expected:
            parts.append(f"{len(self.expected)} in the baseline")
        if self.stale:
            parts.append(f"{len(self.stale)} stale in the baseline")
        if self.unscored:
            parts.append(f"{self.unscored_passed} of {self.unscored} unscored ones passed")
        return ", ".join(parts)


def read_report(printed, unscored):
    """Sorts the scenarios that the suite's summary names."""
    report = Report(expected=BASELINED.findall(printed), stale=stale_entries(printed))
    baselined = {entry.partition(":")[0] for entry in report.expected}
    unexpected = unexpected_entries(printed)
    for mark, scenario in SCENARIO.findall(printed):
        if scenario in unscored:
            report.unscored += 1
            report.unscored_passed += mark == "✓"
        elif scenario in unexpected or (mark == "✗" and scenario not in baselined):
            report.failed.append(scenario)
        elif scenario not in baselined:
            report.passed.append(scenario)
    return report


def stale_entries(printed):
    return ENTRY.findall(section(printed, "Stale baseline entries"))


def unexpected_entries(printed):
    """Scenarios that the baseline check refuses: it takes a warning for a failure."""
    return {entry.partition(":")[0] for entry in ENTRY.findall(section(printed, "Unexpected failures (not in baseline)"))}


def section(printed, heading):
    """The lines below a heading, up to the next blank one."""
    return printed.partition(heading)[2].partition("\n\n")[0]


def unscored_scenarios(package, revision):
    """What a requirement set runs without counting it."""
    requirements = Path(package, "requirements", f"{revision}.yaml")
    return set(NOT_SCORED.findall(requirements.read_text()))


def complaints(report, output):
    """One line for each check that a failed scenario did not pass, and for each stale entry."""
    for scenario in report.failed:
        checks = read_checks(scenario, output)
        if not checks:
            yield f"{scenario}: did not run"
        for check in checks:
            if check["status"] in ("FAILURE", "WARNING"):
                reason = check.get("errorMessage") or check["description"]
                yield f"{scenario}: {check['status'].lower()}: {check['id']}: {shorten(reason)}"
    for entry in report.stale:
        yield f"{entry}: passes now; remove it from the baseline"


def read_checks(scenario, output):
    # The date in the folder's name keeps `a` from matching what belongs to `a-b`.
    files = output.glob(f"server-{scenario}-[0-9][0-9][0-9][0-9]-*/checks.json")
    return [check for file in files for check in json.loads(file.read_text())]


def shorten(text, limit=300):
    """A reason may quote a whole message; all of it is in checks.json."""
    line = " ".join(text.split())
    return line if len(line) <= limit else f"{line[:limit]}…"
