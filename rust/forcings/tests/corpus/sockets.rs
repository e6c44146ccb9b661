//! That nothing opens a socket: whoever tries is killed by the kernel.

/// Runs `f` on a thread that may open no socket, nor may the threads it starts; the process is killed at the attempt.
pub(crate) fn without_sockets<R: Send>(f: impl FnOnce() -> R + Send) -> R {
    std::thread::scope(|scope| {
        let guarded = scope.spawn(|| {
            forbid_sockets();
            f()
        });
        guarded.join().unwrap_or_else(|panic| std::panic::resume_unwind(panic))
    })
}

#[cfg(target_os = "linux")]
fn forbid_sockets() {
    use libc::{sock_filter, BPF_ABS, BPF_JEQ, BPF_JMP, BPF_K, BPF_LD, BPF_RET, BPF_W};
    let line = |code: u32, jt, jf, k| sock_filter { code: code as u16, jt, jf, k };
    // The number of the system call stands first in what a filter sees.
    let mut program = [
        line(BPF_LD | BPF_W | BPF_ABS, 0, 0, 0),
        line(BPF_JMP | BPF_JEQ | BPF_K, 0, 1, libc::SYS_socket as u32),
        line(BPF_RET | BPF_K, 0, 0, libc::SECCOMP_RET_KILL_PROCESS),
        line(BPF_RET | BPF_K, 0, 0, libc::SECCOMP_RET_ALLOW),
    ];
    let filter = libc::sock_fprog { len: program.len() as u16, filter: program.as_mut_ptr() };
    // SAFETY: the kernel copies the program, which lives until both calls have returned; the unused arguments are zero.
    let status = unsafe {
        libc::prctl(libc::PR_SET_NO_NEW_PRIVS, 1, 0, 0, 0)
            | libc::prctl(libc::PR_SET_SECCOMP, libc::SECCOMP_MODE_FILTER, &raw const filter)
    };
    assert_eq!(status, 0, "{}", std::io::Error::last_os_error());
}

/// Elsewhere an offline cache, which makes no transport at all, is the only guard.
#[cfg(not(target_os = "linux"))]
fn forbid_sockets() {}

#[cfg(target_os = "linux")]
#[test]
fn whoever_opens_a_socket_is_killed() {
    use std::os::unix::process::ExitStatusExt;
    const CHILD: &str = "FORCINGS_TEST_OPEN_A_SOCKET";
    if std::env::var_os(CHILD).is_some() {
        without_sockets(|| {
            let opened = std::thread::spawn(|| std::net::TcpListener::bind("127.0.0.1:0").is_ok());
            panic!("still here: {:?}", opened.join());
        })
    }
    let child = std::process::Command::new(std::env::current_exe().unwrap())
        .args(["--exact", "sockets::whoever_opens_a_socket_is_killed"])
        .env(CHILD, "1")
        .output()
        .unwrap();
    assert_eq!(child.status.signal(), Some(libc::SIGSYS), "{child:?}");
}
