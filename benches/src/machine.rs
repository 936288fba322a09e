//! Where the figures come from, without anything that names the machine.

use std::io;
use std::path::Path;
use std::process::Command;

use serde_json::Value;

/// Processors, memory, system, and how busy it is.
pub(crate) fn describe() -> String {
    let cores = std::thread::available_parallelism().map_or(1, usize::from);
    let processor = field("/proc/cpuinfo", "model name\t:").unwrap_or("unknown processor".into());
    let memory = field("/proc/meminfo", "MemTotal:")
        .and_then(|value| value.split_whitespace().next()?.parse::<u64>().ok())
        .map_or("unknown".into(), |kib| format!("{} GiB", (kib + (1 << 19)) >> 20));
    let system = field("/etc/os-release", "PRETTY_NAME=").unwrap_or("an unknown system".into());
    let kernel = read("/proc/sys/kernel/osrelease");
    // What follows the version names the build, and sometimes the host.
    let kernel = kernel.split(['-', '+']).next().unwrap_or_default().trim();
    let load = load().map_or("unknown".into(), |load| load.to_string());
    format!(
        "{cores} cores ({processor}), {memory} of memory, {}, Linux {kernel}, {}; load before the run: {load}",
        system.trim_matches('"'),
        std::env::consts::ARCH
    )
}

/// The load of the last minute, if it would disturb a measurement.
pub(crate) fn busy() -> Option<f64> {
    load().filter(|load| *load > 0.5)
}

fn load() -> Option<f64> {
    read("/proc/loadavg").split_whitespace().next()?.parse().ok()
}

/// Keeps this process, and every one that it starts from now on, on one core. Whether a client
/// and its server share a core is the scheduler's mood otherwise, and decides a round trip of
/// microseconds more than any server does. Returns whether it worked.
pub(crate) fn take_one_core() -> bool {
    let Some(allowed) = field("/proc/self/status", "Cpus_allowed_list:") else { return false };
    let Some(last) = allowed.rsplit([',', '-']).next() else { return false };
    let process = std::process::id().to_string();
    // There is no safe call for it in the standard library.
    let taskset = Command::new("taskset").args(["--cpu-list", "--pid", last, &process]).output();
    taskset.is_ok_and(|output| output.status.success())
}

/// The versions of the SDK and of Node.js: the server itself does not know them.
pub(crate) fn typescript_version(node: &Path, folder: &Path) -> io::Result<String> {
    let package = std::fs::read(folder.join("package.json"))?;
    let package: Value = serde_json::from_slice(&package)?;
    let sdk = package.pointer("/dependencies/@modelcontextprotocol~1server");
    let sdk = sdk.and_then(Value::as_str).unwrap_or("unknown");
    let node = Command::new(node).arg("--version").output()?.stdout;
    let node = String::from_utf8_lossy(&node);
    Ok(format!("{sdk} on Node.js {}", node.trim().trim_start_matches('v')))
}

fn field(path: &str, name: &str) -> Option<String> {
    let text = read(path);
    text.lines().find_map(|line| line.strip_prefix(name)).map(|value| value.trim().to_owned())
}

fn read(path: &str) -> String {
    std::fs::read_to_string(path).unwrap_or_default()
}
