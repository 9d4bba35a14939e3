//! Starts Redis so that it does not outlive this process.
//!
//! On Linux the kernel signals Redis (`death_signal`). Elsewhere (macOS, the BSDs) a waiting shell does (`watcher`), which is weaker: nothing ends
//! Redis if the shell is killed first.

#[cfg(target_os = "linux")]
mod death_signal;
#[cfg(any(test, not(target_os = "linux")))]
mod watcher;

use std::io;
use std::os::unix::process::CommandExt as _;
use std::process::{Child, Command};

/// A guard that is kept while the child runs, and dropped after the child has ended.
#[cfg(target_os = "linux")]
pub(super) struct ParentDeathGuard;
#[cfg(not(target_os = "linux"))]
pub(super) use watcher::ParentDeathGuard;

/// Spawns the command. The calling thread must live as long as the child, since the kernel treats it as the parent.
pub(super) fn spawn(command: &mut Command) -> io::Result<(Child, ParentDeathGuard)> {
    // A process group of its own: Ctrl-C in a terminal is for the server, which then stops Redis.
    command.process_group(0);
    #[cfg(target_os = "linux")]
    {
        death_signal::set_death_signal(command);
        Ok((command.spawn()?, ParentDeathGuard))
    }
    #[cfg(not(target_os = "linux"))]
    {
        let mut child = command.spawn()?;
        match ParentDeathGuard::new(&child) {
            Ok(guard) => Ok((child, guard)),
            Err(error) => {
                child.kill().and_then(|()| child.wait()).ok();
                Err(error)
            }
        }
    }
}
