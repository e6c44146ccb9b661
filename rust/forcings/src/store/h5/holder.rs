//! Who holds an array file: a sidecar `X.lock` with the writer's process and host. It is only for error texts; the lock
//! itself is the kernel's, and a sidecar that a killed process left behind does no harm.

use std::path::{Path, PathBuf};

/// Writes the sidecar of `path`. A folder that takes no new file only costs the name in an error text.
pub(super) fn announce(path: &Path) {
    let _ = std::fs::write(sidecar(path), format!("{} {}\n", std::process::id(), host()));
}

/// Removes the sidecar of `path`.
pub(super) fn withdraw(path: &Path) {
    let _ = std::fs::remove_file(sidecar(path));
}

/// The text of an error about a lock that was not to be had.
pub(super) fn in_use(path: &Path, writable: bool) -> String {
    let path_text = path.display();
    match read(path) {
        Some((pid, machine)) if machine == host() && !alive(pid) => readers_hold(path, writable),
        Some((pid, machine)) => {
            let whose = if pid == std::process::id() && machine == host() { " (this process)" } else { "" };
            format!("{path_text} is open for writing in process {pid}{whose} on {machine}; close it there first")
        }
        None => readers_hold(path, writable),
    }
}

fn readers_hold(path: &Path, writable: bool) -> String {
    if writable {
        format!("{} is open for reading elsewhere; close it there first, or open it with read_only", path.display())
    } else {
        format!("{} is open for writing elsewhere; close it there first", path.display())
    }
}

fn read(path: &Path) -> Option<(u32, String)> {
    let text = std::fs::read_to_string(sidecar(path)).ok()?;
    let (pid, host) = text.trim_end().split_once(' ')?;
    Some((pid.parse().ok()?, host.to_string()))
}

fn sidecar(path: &Path) -> PathBuf {
    let mut name = path.as_os_str().to_os_string();
    name.push(".lock");
    name.into()
}

fn alive(pid: u32) -> bool {
    let Ok(pid) = libc::pid_t::try_from(pid) else { return false };
    // SAFETY: signal 0 only asks whether the process exists.
    let answer = unsafe { libc::kill(pid, 0) };
    answer == 0 || std::io::Error::last_os_error().raw_os_error() == Some(libc::EPERM)
}

fn host() -> String {
    let mut name = [0u8; 256];
    // SAFETY: the buffer is writable for its whole length; the last byte stays zero.
    let answer = unsafe { libc::gethostname(name.as_mut_ptr().cast(), name.len() - 1) };
    let end = name.iter().position(|&b| b == 0).unwrap_or(0);
    match String::from_utf8_lossy(&name[..end]) {
        name if answer == 0 && !name.is_empty() => name.into_owned(),
        _ => "an unnamed host".into(),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_stale_sidecar_blames_nobody() {
        let dir = tempfile::tempdir().unwrap();
        let path = dir.path().join("a.nc");
        std::fs::write(sidecar(&path), format!("{} {}\n", i32::MAX, host())).unwrap();
        assert!(in_use(&path, true).contains("open for reading elsewhere"));
        std::fs::write(sidecar(&path), "12 another-host\n").unwrap();
        assert!(in_use(&path, true).contains("process 12 on another-host"));
        std::fs::write(sidecar(&path), "nonsense").unwrap();
        assert!(in_use(&path, false).contains("open for writing elsewhere"));
    }
}
