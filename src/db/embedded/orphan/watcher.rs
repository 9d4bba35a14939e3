//! A shell that reads from a pipe which only this process holds open: when this process dies, the read ends and the shell signals the child.

use std::io::{self, Write as _};
use std::os::unix::process::CommandExt as _;
use std::process::{Child, ChildStdin, Command, Stdio};

/// The script of the shell. `$1` is the process id of the child. A word on the pipe means that the child has ended and its id may be reused.
const SCRIPT: &str = r#"read -r word; [ "$word" = released ] || kill -TERM "$1""#;

/// The shell and our end of the pipe.
pub(in super::super) struct ParentDeathGuard {
    shell: Child,
    pipe: Option<ChildStdin>,
}

impl ParentDeathGuard {
    /// Watches the child from now on.
    pub(in super::super) fn new(child: &Child) -> io::Result<Self> {
        let mut shell = Command::new("sh")
            .args(["-c", SCRIPT, "sh", &child.id().to_string()])
            .stdin(Stdio::piped())
            .stdout(Stdio::null())
            .stderr(Stdio::null())
            .process_group(0)
            .spawn()?;
        let pipe = shell.stdin.take();
        Ok(Self { shell, pipe })
    }
}

impl Drop for ParentDeathGuard {
    fn drop(&mut self) {
        if let Some(mut pipe) = self.pipe.take() {
            // Fails only if the shell has ended, which then signals nothing.
            pipe.write_all(b"released\n").ok();
        }
        self.shell.wait().ok();
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::os::unix::process::ExitStatusExt as _;

    fn start_sleep(seconds: &str) -> Child {
        Command::new("sleep").arg(seconds).spawn().expect("sleep is everywhere")
    }

    #[test]
    fn a_closed_pipe_terminates_the_child() {
        let mut child = start_sleep("60");
        let mut guard = ParentDeathGuard::new(&child).expect("a shell is everywhere");
        // The system closes the pipe, too, when this process dies.
        drop(guard.pipe.take());
        assert_eq!(child.wait().expect("it ends").signal(), Some(15));
    }

    #[test]
    fn a_released_child_keeps_running() {
        let mut child = start_sleep("0.3");
        drop(ParentDeathGuard::new(&child).expect("a shell is everywhere"));
        assert!(child.wait().expect("it ends").success());
    }
}
