"""What deploy/ and docs/http.md say is what the binary knows, and as strict as they promise."""

import json
import os
import re
import shlex
import shutil
import subprocess
import tempfile
import unittest
from pathlib import Path

import yaml
from jsonschema import Draft202012Validator

ROOT = Path(__file__).resolve().parents[2]
DEPLOY = ROOT / "deploy"

BINARY_PLACE = "/usr/local/bin/rutter"
CONTENT = "/srv/rutter"
STATE = "/var/lib/rutter"
UID = 1001
PORT = 8080


def read(name):
    return (DEPLOY / name).read_text()


def unit(name):
    """A unit as a map of lists: a key may be there more than once."""
    settings = {}
    for line in read(name).splitlines():
        key, equals, value = line.partition("=")
        if equals and not line.startswith("#"):
            settings.setdefault(key, []).append(value)
    return settings


def instructions(stage):
    """What a Dockerfile's last stage says, as a map of lists."""
    text = re.sub(r"^#.*\n", "", read("Dockerfile"), flags=re.MULTILINE).replace("\\\n", " ")
    stages = re.split(r"^(?=FROM )", text, flags=re.MULTILINE)
    found = {}
    for line in stages[stage].splitlines():
        word, _, rest = line.partition(" ")
        if rest:
            found.setdefault(word, []).append(rest.strip())
    return found


def manifests():
    return {(document["kind"], document["metadata"]["name"]): document for document in yaml.safe_load_all(read("kubernetes.yaml"))}


def help_of(*verbs):
    return subprocess.run(
        [os.environ["RUTTER_BIN"], *verbs, "--help"], capture_output=True, text=True, check=True
    ).stdout


def fenced(page, language):
    return re.findall(rf"^```{language}\n(.*?)^```", page, flags=re.MULTILINE | re.DOTALL)


class Words(unittest.TestCase):
    """Flags, variables and settings that the binary knows."""

    def documents(self):
        files = [*DEPLOY.iterdir(), ROOT / "docs/http.md"]
        return {file.name: file.read_text() for file in files if file.is_file()}

    def test_every_flag_is_one_of_the_command_line(self):
        known = set(re.findall(r"--[a-z][a-z-]+", help_of("serve")))
        used = 0
        for name, text in self.documents().items():
            for command in re.findall(r"\brutter serve\b[^\n`|]*", text):
                for flag in re.findall(r"(?<=\s)--[a-z][a-z-]+", command):
                    used += 1
                    self.assertIn(flag, known, f"{name}: {command}")
        self.assertGreater(used, 5)

    def test_every_verb_is_there(self):
        known = set(re.findall(r"^  ([a-z]+) ", help_of(), flags=re.MULTILINE))
        for name, text in self.documents().items():
            for verb in re.findall(r"^(?:rutter|[A-Z_]+=\S+ rutter) ([a-z]+)", text, flags=re.MULTILINE):
                self.assertIn(verb, known, name)
        self.assertIn("health", known)

    def test_every_variable_is_in_the_reference(self):
        known = set(re.findall(r"^\| `([A-Z_]+)`", (ROOT / "docs/settings.md").read_text(), flags=re.MULTILINE))
        # Of the Compose file itself: which folder is mounted.
        known.add("RUTTER_CONTENT")
        for name, text in self.documents().items():
            for variable in re.findall(r"\bRUTTER_[A-Z_]+\b", text):
                self.assertIn(variable, known, name)

    def test_every_configuration_fits_the_schema(self):
        schema = Draft202012Validator(json.loads((ROOT / "docs/rutter.schema.json").read_text()))
        page = (ROOT / "docs/http.md").read_text()
        configurations = [
            read("rutter.yaml"),
            manifests()["ConfigMap", "rutter"]["data"]["rutter.yaml"],
            *(block for block in fenced(page, "yaml") if block.startswith(("http:", "recipes:"))),
        ]
        self.assertGreater(len(configurations), 4)
        for text in configurations:
            mistakes = [f"{error.json_path}: {error.message}" for error in schema.iter_errors(yaml.safe_load(text))]
            self.assertEqual(mistakes, [], text)

    def test_the_binary_takes_the_configuration(self):
        with tempfile.TemporaryDirectory(prefix="rutter-e2e-") as folder:
            content, state = Path(folder, "content"), Path(folder, "state")
            content.mkdir()
            state.mkdir()
            (content / "hello.md").write_text("# Hello\n")
            config = Path(folder, "rutter.yaml")
            config.write_text(read("rutter.yaml").replace(CONTENT, str(content)).replace(STATE, str(state)))
            run = subprocess.run(
                [os.environ["RUTTER_BIN"], "tools", "--config", config],
                cwd=folder,
                env={"PATH": os.environ["PATH"], "HOME": folder},
                capture_output=True,
                text=True,
            )
            self.assertEqual(run.returncode, 0, run.stderr)
            self.assertRegex(run.stdout, r"\bclaim_task\b")


class SystemdUnit(unittest.TestCase):
    def test_is_hardened(self):
        service = unit("rutter.service")
        for key in (
            "DynamicUser",
            "NoNewPrivileges",
            "PrivateDevices",
            "PrivateTmp",
            "PrivateUsers",
            "ProtectHome",
            "ProtectKernelModules",
            "ProtectKernelTunables",
            "RestrictNamespaces",
            "LockPersonality",
            "MemoryDenyWriteExecute",
        ):
            self.assertEqual(service[key], ["yes"], key)
        self.assertEqual(service["ProtectSystem"], ["strict"])
        self.assertEqual(service["CapabilityBoundingSet"], [""])
        self.assertEqual(service["SystemCallFilter"], ["@system-service", "~@privileged @resources"])
        self.assertEqual(service["RestrictAddressFamilies"], ["AF_INET AF_INET6 AF_UNIX"])
        for key in ("LimitNOFILE", "MemoryMax", "TasksMax"):
            self.assertIn(key, service)

    def test_tells_when_it_is_ready_and_is_told_to_reload(self):
        service = unit("rutter.service")
        self.assertEqual(service["Type"], ["notify"])
        self.assertEqual(service["ExecReload"], ["/bin/kill -HUP $MAINPID"])
        self.assertEqual(service["Restart"], ["on-failure"])
        self.assertGreater(int(service["TimeoutStopSec"][0]), 5)

    def test_gets_its_keys_as_a_credential(self):
        service = unit("rutter.service")
        name, _, file = service["LoadCredential"][0].partition(":")
        self.assertEqual(file, "/etc/rutter/api-keys")
        self.assertIn(f"RUTTER_AUTH_API_KEYS_FILE=%d/{name}", service["Environment"])

    def test_listens_where_the_socket_does(self):
        command = shlex.split(unit("rutter.service")["ExecStart"][0])
        self.assertEqual(command[:2], [BINARY_PLACE, "serve"])
        option = dict(zip(command, command[1:]))
        self.assertEqual(option["--auth-type"], "apikey")
        self.assertEqual(unit("rutter.socket")["ListenStream"], [f"{option['--host']}:{option['--port']}"])
        self.assertEqual(option["--port"], str(PORT))

    def test_writes_where_the_configuration_says(self):
        self.assertEqual(f"/var/lib/{unit('rutter.service')['StateDirectory'][0]}", STATE)
        config = yaml.safe_load(read("rutter.yaml"))
        self.assertEqual(config["board"]["path"], STATE)
        self.assertEqual(config["workflow"]["workspace"], STATE)
        self.assertEqual(config["content"][0]["path"], CONTENT)

    @unittest.skipUnless(shutil.which("systemd-analyze"), "systemd is not on this machine")
    def test_is_what_systemd_takes(self):
        with tempfile.TemporaryDirectory(prefix="rutter-e2e-") as folder:
            text = read("rutter.service").replace(BINARY_PLACE, os.environ["RUTTER_BIN"])
            Path(folder, "rutter.service").write_text(text)
            shutil.copy(DEPLOY / "rutter.socket", folder)
            files = [f"{folder}/rutter.service", f"{folder}/rutter.socket"]
            run = subprocess.run(["systemd-analyze", "verify", "--man=no", *files], capture_output=True, text=True)
            self.assertEqual((run.returncode, run.stderr), (0, ""))
            rating = subprocess.run(
                ["systemd-analyze", "security", "--offline=true", "--threshold=15", files[0]],
                capture_output=True,
                text=True,
            )
            self.assertEqual(rating.returncode, 0, rating.stdout)


class Image(unittest.TestCase):
    def test_has_nothing_but_the_binary_and_no_shell_to_start_it(self):
        last = instructions(-1)
        self.assertEqual(last["FROM"], ["scratch"])
        self.assertNotIn("RUN", last)
        self.assertEqual(last["USER"], [f"{UID}:{UID}"])
        self.assertEqual(last["EXPOSE"], [str(PORT)])
        self.assertEqual(json.loads(last["ENTRYPOINT"][0]), [BINARY_PLACE])
        self.assertEqual(json.loads(last["CMD"][0]), ["serve"])
        self.assertEqual(json.loads(last["HEALTHCHECK"][0].partition("CMD ")[2]), [BINARY_PLACE, "health"])
        self.assertEqual(json.loads(last["VOLUME"][0]), [CONTENT, STATE])

    def test_asks_for_keys_unless_told_otherwise(self):
        variables = dict(word.split("=") for word in instructions(-1)["ENV"][0].split())
        self.assertEqual(variables["RUTTER_AUTH_TYPE"], "apikey")
        self.assertEqual(variables["RUTTER_TRANSPORT"], "http")
        self.assertEqual(variables["RUTTER_PORT"], str(PORT))

    def test_is_built_with_the_compiler_and_the_packages_of_the_project(self):
        text = read("Dockerfile")
        needed = re.search(r'^rust-version = "(.*)"', (ROOT / "Cargo.toml").read_text(), flags=re.MULTILINE)[1]
        self.assertIn(f"ARG RUST_VERSION={needed}\n", text)
        self.assertIn("cargo build --release --locked --package rutter", text)

    def test_leaves_out_what_could_hold_secrets(self):
        ignored = (ROOT / ".dockerignore").read_text().splitlines()
        for name in (".git", "target", "**/.env", "deploy/secrets"):
            self.assertIn(name, ignored)
        # What is embedded in the binary has to be there.
        for name in ("crates", "pack", "skills", "Cargo.lock", "deploy"):
            self.assertNotIn(name, ignored)


class Compose(unittest.TestCase):
    def setUp(self):
        self.service = yaml.safe_load(read("compose.yaml"))["services"]["rutter"]

    def test_can_write_to_its_state_alone(self):
        self.assertIs(self.service["read_only"], True)
        self.assertEqual(self.service["cap_drop"], ["ALL"])
        self.assertEqual(self.service["security_opt"], ["no-new-privileges:true"])
        self.assertEqual(self.service["user"], f"{UID}:{UID}")
        places = {volume.rsplit(":", 2 if volume.endswith(":ro") else 1)[1]: volume for volume in self.service["volumes"]}
        self.assertTrue(places[CONTENT].endswith(":ro"))
        self.assertFalse(places[STATE].endswith(":ro"))
        self.assertEqual([place for place, volume in places.items() if not volume.endswith(":ro")], [STATE])

    def test_reads_its_keys_from_a_file(self):
        self.assertEqual(self.service["environment"]["RUTTER_AUTH_API_KEYS_FILE"], "/run/secrets/api-keys")
        self.assertEqual(self.service["secrets"], ["api-keys"])
        self.assertIn("/deploy/secrets/", (ROOT / ".gitignore").read_text().splitlines())

    def test_is_looked_after(self):
        self.assertEqual(self.service["healthcheck"]["test"], ["CMD", BINARY_PLACE, "health"])
        self.assertEqual(self.service["ports"], [f"127.0.0.1:{PORT}:{PORT}"])
        self.assertEqual(self.service["stop_grace_period"], "10s")


class Kubernetes(unittest.TestCase):
    def setUp(self):
        self.manifests = manifests()
        self.deployment = self.manifests["Deployment", "rutter"]["spec"]
        self.pod = self.deployment["template"]["spec"]
        [self.container] = self.pod["containers"]

    def test_runs_without_privileges(self):
        self.assertEqual(
            self.pod["securityContext"]
            | {"runAsNonRoot": True, "runAsUser": UID, "runAsGroup": UID, "seccompProfile": {"type": "RuntimeDefault"}},
            self.pod["securityContext"],
        )
        self.assertEqual(
            self.container["securityContext"],
            {"allowPrivilegeEscalation": False, "readOnlyRootFilesystem": True, "capabilities": {"drop": ["ALL"]}},
        )
        self.assertIs(self.pod["automountServiceAccountToken"], False)

    def test_is_not_configured_by_the_name_of_its_service(self):
        # A service called rutter would set RUTTER_PORT to tcp://….
        self.assertIs(self.pod["enableServiceLinks"], False)

    def test_is_one(self):
        self.assertEqual(self.deployment["replicas"], 1)
        self.assertEqual(self.deployment["strategy"], {"type": "Recreate"})

    def test_is_probed(self):
        for probe in ("startupProbe", "readinessProbe", "livenessProbe"):
            self.assertEqual(self.container[probe]["httpGet"]["path"], "/health")
        self.assertEqual(self.container["ports"], [{"name": "http", "containerPort": PORT}])
        self.assertIn("memory", self.container["resources"]["limits"])

    def test_mounts_what_the_configuration_names(self):
        mounts = {mount["mountPath"]: mount for mount in self.container["volumeMounts"]}
        self.assertIs(mounts[CONTENT]["readOnly"], True)
        self.assertNotIn("readOnly", mounts[STATE])
        [keys] = [entry["value"] for entry in self.container["env"] if entry["name"] == "RUTTER_AUTH_API_KEYS_FILE"]
        self.assertIn(str(Path(keys).parent), mounts)
        names = {volume["name"] for volume in self.pod["volumes"]}
        self.assertEqual({mount["name"] for mount in mounts.values()}, names)

    def test_is_configured_as_elsewhere(self):
        here = yaml.safe_load(self.manifests["ConfigMap", "rutter"]["data"]["rutter.yaml"])
        there = yaml.safe_load(read("rutter.yaml"))
        self.assertLessEqual(set(there["http"].pop("public_names")), set(here["http"].pop("public_names")))
        # A proxy on the same machine is there, and not in a pod.
        there["http"].pop("trusted_proxies")
        self.assertEqual(here, there)

    def test_holds_no_secret(self):
        self.assertNotIn("Secret", {kind for kind, _ in self.manifests})


class Proxies(unittest.TestCase):
    def test_nginx_passes_event_streams_on(self):
        text = read("nginx.conf")
        for directive in (
            "proxy_buffering off;",
            "proxy_http_version 1.1;",
            "proxy_set_header Host $host;",
            "proxy_read_timeout 1h;",
            "proxy_next_upstream off;",
        ):
            self.assertIn(directive, text)

    def test_both_proxies_and_the_configuration_agree_on_the_name(self):
        [name] = yaml.safe_load(read("rutter.yaml"))["http"]["public_names"]
        self.assertIn(f"server_name {name};", read("nginx.conf"))
        self.assertRegex(read("Caddyfile"), rf"(?m)^{re.escape(name)} {{$")
        for file in ("nginx.conf", "Caddyfile"):
            self.assertIn(f"127.0.0.1:{PORT}", read(file))


if __name__ == "__main__":
    unittest.main()
