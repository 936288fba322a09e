"""Runs the official conformance suites against built binaries.

The binary that ships passes but for the scenarios in ../conformance-baseline.yml, which ask
for a fixture that it lacks. The same program compiled with the suites' fixtures passes
everything, without a baseline. Both do so open to everybody and where a key is asked for.
"""

import argparse
import json
import os
import subprocess
import sys
import tempfile
from dataclasses import dataclass
from pathlib import Path

from report import complaints, read_checks, read_report, shorten, unscored_scenarios
from server import NotServing, serving, serving_with_key

E2E = Path(__file__).resolve().parent.parent
BASELINE = E2E / "conformance-baseline.yml"


@dataclass(frozen=True)
class Suite:
    """One way to run one version of the suite."""

    name: str
    alias: str
    arguments: tuple[str, ...] = ()
    revision: str | None = None
    # Of an extension, which no revision requires: these scenarios, one by one.
    scenarios: tuple[str, ...] = ()

    @property
    def package(self):
        return E2E / "node_modules" / self.alias

    @property
    def version(self):
        return json.loads((self.package / "package.json").read_text())["version"]

    @property
    def unscored(self):
        return unscored_scenarios(self.package, self.revision) if self.revision else set()


def requirements(revision):
    """Exactly what a revision of the protocol requires."""
    return Suite(revision, "conformance-0.2", ("--requirements", revision), revision)


SUITES = (
    requirements("2025-11-25"),
    requirements("2026-07-28"),
    Suite("active suite", "conformance-0.1", ("--suite", "active")),
    Suite(
        "skills extension",
        "conformance-0.2",
        scenarios=("sep-2640-skills-enumeration", "sep-2640-skills-manifest", "sep-2640-skills-directory"),
    ),
)


def main():
    arguments = parse_arguments()
    builds = [("shipped", arguments.binary, BASELINE)]
    if arguments.features_binary:
        builds.append(("with fixtures", arguments.features_binary, None))

    results = Path(tempfile.mkdtemp(prefix="rutter-conformance-results-"))
    passed = [
        run_suite(arguments.node, suite, build, binary, baseline, results, key)
        for build, binary, baseline in builds
        for key in (False, True)
        for suite in SUITES
    ]
    print(f"conformance: {sum(passed)} of {len(passed)} runs passed; results in {results}")
    return 0 if all(passed) else 1


def parse_arguments():
    parser = argparse.ArgumentParser(prog="scripts/conformance", description=__doc__.splitlines()[0])
    parser.add_argument("--node", required=True, help=argparse.SUPPRESS)
    parser.add_argument("binary", type=executable, help="the binary that ships")
    parser.add_argument("--features-binary", type=executable, help="the binary with the suites' fixtures")
    return parser.parse_args()


def executable(path):
    if not os.access(path, os.X_OK):
        raise argparse.ArgumentTypeError(f"{path} is not an executable; build it first")
    return Path(path).resolve()


def run_suite(node, suite, build, binary, baseline, results, key):
    """Runs one suite against a server of its own; prints a line, and why if it failed."""
    build = f"{build} with a key" if key else build
    title = f"{build}, {suite.name} (conformance {suite.version})"
    output = results / f"{build}-{suite.name}".replace(" ", "-")
    output.mkdir()
    command = [node, suite.package / "dist/index.js", "server", "--output-dir", output, *suite.arguments]
    try:
        log = output / "server.log"
        with serving_with_key(node, binary, log) if key else serving(binary, log) as url:
            command += ["--url", url]
            if suite.scenarios:
                return run_scenarios(title, suite, command, output)
            if baseline:
                command += ["--expected-failures", baseline]
            run = call(command, output)
    except NotServing as reason:
        print(f"FAILED {title}: {reason}")
        return False

    (output / "suite.log").write_text(run.stdout)
    report = read_report(run.stdout, suite.unscored)
    # The suite's own verdict counts; a run that named no scenario proves nothing.
    passed = run.returncode == 0 and bool(report.passed)
    print(f"{'ok    ' if passed else 'FAILED'} {title}: {report}")
    if not passed:
        print(*(f"       {line}" for line in complaints(report, output)), sep="\n")
    return passed


def run_scenarios(title, suite, command, output):
    """Runs scenarios one by one. A check that was skipped fails: the extension is there."""
    reasons = []
    count = 0
    for scenario in suite.scenarios:
        run = call([*command, "--scenario", scenario], output)
        (output / f"{scenario}.log").write_text(run.stdout)
        checks = read_checks(scenario, output)
        count += len(checks)
        if run.returncode != 0 or not checks:
            reasons.append(f"{scenario}: ended with {run.returncode} after {len(checks)} checks")
        for check in checks:
            if check["status"] != "SUCCESS":
                reason = check.get("errorMessage") or check["description"]
                reasons.append(f"{scenario}: {check['status'].lower()}: {check['id']}: {shorten(reason)}")
    print(f"{'FAILED' if reasons else 'ok    '} {title}: {len(suite.scenarios)} scenarios, {count} checks")
    print("".join(f"       {reason}\n" for reason in reasons), end="")
    return not reasons


def call(command, folder):
    return subprocess.run(command, cwd=folder, stdout=subprocess.PIPE, stderr=subprocess.STDOUT, text=True)


if __name__ == "__main__":
    sys.exit(main())
