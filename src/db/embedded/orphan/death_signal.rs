//! `PR_SET_PDEATHSIG`: the kernel sends SIGTERM to the child when the thread that started it ends.
#![allow(unsafe_code, reason = "only the child can ask for the signal, between fork and exec; std has no safe way there")]

use std::io;
use std::os::unix::process::CommandExt as _;
use std::process::Command;

use rustix::process::{Signal, getpid, getppid, set_parent_process_death_signal};

/// Makes the kernel send SIGTERM to the child when its parent dies: Redis then writes its data and shuts down.
pub(super) fn set_death_signal(command: &mut Command) {
    let parent = getpid();
    let ask_for_signal = move || {
        set_parent_process_death_signal(Some(Signal::TERM))?;
        // If this process died before the line above, no signal will come, and the child has another parent.
        if getppid() == Some(parent) { Ok(()) } else { Err(io::Error::from(rustix::io::Errno::SRCH)) }
    };
    // SAFETY: between fork and exec only async-signal-safe work is allowed. The closure makes two system calls, takes
    // no lock and allocates nothing (an error from an errno is a plain number).
    unsafe {
        command.pre_exec(ask_for_signal);
    }
}
