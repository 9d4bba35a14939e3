//! The real binary as a process of its own, with only those environment variables that the test sets.

use std::io::{BufRead, BufReader};
use std::path::{Path, PathBuf};
use std::process::{Child, ChildStdout, Command, Output, Stdio};
use std::time::{Duration, Instant};
use tempfile::TempDir;

/// A command line of the binary, and the only way to run it. It gets no variable of the tests' environment except the one for the search path, and
/// no data folder except one that the test names: the current folder may contain one.
pub fn waxwing(arguments: &[&str]) -> Command {
    let mut command = Command::new(env!("CARGO_BIN_EXE_waxwing"));
    command
        .args(arguments)
        .current_dir(bare_folder())
        .env_clear()
        .envs(std::env::var_os("PATH").map(|path| ("PATH", path)))
        .stdin(Stdio::null());
    command
}

/// A folder in which the default data folder neither exists nor can be created: a dangling link is in its place.
fn bare_folder() -> PathBuf {
    let folder = Path::new(env!("CARGO_TARGET_TMPDIR")).join("bare");
    std::fs::create_dir_all(&folder).expect("a folder");
    if let Err(error) = std::os::unix::fs::symlink("/nonexistent/waxwing-data", folder.join("waxwing-data")) {
        assert_eq!(error.kind(), std::io::ErrorKind::AlreadyExists, "{error}");
    }
    folder
}

/// The result of a run: exit code, stdout and stderr.
pub fn run_command(command: &mut Command) -> (i32, String, String) {
    let Output { status, stdout, stderr } = command.output().expect("it is built");
    let text = |bytes: Vec<u8>| String::from_utf8(bytes).expect("text");
    (status.code().expect("no signal"), text(stdout), text(stderr))
}

/// A running `waxwing serve`.
pub struct Process {
    child: Child,
    /// Its address, as it was reported.
    pub url: String,
    folder: TempDir,
    /// Open while it runs.
    stdout: Option<BufReader<ChildStdout>>,
}

impl Process {
    /// Starts the process, and waits until it reports that it is ready.
    pub fn start(command: &mut Command) -> Self {
        Self::try_start(command).unwrap_or_else(|log| panic!("it did not start: {log}"))
    }

    /// Like [`Self::start`]; returns the log if the process ends before it is ready.
    pub fn try_start(command: &mut Command) -> Result<Self, String> {
        let mut process = Self::spawn(command.stdout(Stdio::piped()));
        let stdout = process.stdout.as_mut().expect("it is piped");
        let mut lines = stdout.lines().map_while(Result::ok);
        let url = lines.find_map(|line| api(&line)).map(|url| url.trim_end_matches("/graphql").to_owned());
        process.url = url.ok_or_else(|| process.log())?;
        Ok(process)
    }

    /// Starts the process with a closed stdout, and waits until its log has the address.
    pub fn start_with_closed_stdout(command: &mut Command) -> Self {
        let (reader, stdout) = std::io::pipe().expect("a pipe");
        drop(reader);
        let mut process = Self::spawn(command.stdout(stdout));
        let began = Instant::now();
        while process.url.is_empty() {
            assert!(began.elapsed() < Duration::from_secs(10), "it did not start: {}", process.log());
            std::thread::sleep(Duration::from_millis(5));
            let log = process.log();
            let ready = log.lines().filter(|line| line.contains(" ready ")).find_map(|line| line.split("address=").nth(1));
            process.url = ready.and_then(|rest| rest.split(' ').next()).map(|at| format!("http://{at}")).unwrap_or_default();
        }
        process
    }

    /// Starts a command that does not report an address.
    pub fn start_in_background(command: &mut Command) -> Self {
        Self::spawn(command.stdout(Stdio::null()))
    }

    fn spawn(command: &mut Command) -> Self {
        let folder = tempfile::tempdir().expect("a folder");
        let log = std::fs::File::create(folder.path().join("stderr")).expect("a file");
        let mut child = command.stderr(log).spawn().expect("it is built");
        let stdout = child.stdout.take().map(BufReader::new);
        Self { child, url: String::new(), folder, stdout }
    }

    /// Its log so far.
    pub fn log(&self) -> String {
        std::fs::read_to_string(self.folder.path().join("stderr")).expect("text")
    }

    /// Stops the process with SIGTERM; returns its whole log.
    pub fn stop(mut self) -> String {
        let pid = self.child.id().to_string();
        assert!(Command::new("kill").args(["-TERM", &pid]).status().expect("`kill` exists on every system").success());
        assert!(self.child.wait().expect("it ran").success());
        self.log()
    }
}

impl Process {
    /// Waits until the process exits; returns its exit code and its whole log.
    pub fn wait(mut self) -> (i32, String) {
        let code = self.child.wait().expect("it ran").code().expect("no signal");
        (code, self.log())
    }

    /// Sends it a signal.
    pub fn signal(&self, name: &str) {
        let status = Command::new("kill").args([&format!("-{name}"), &self.child.id().to_string()]).status();
        assert!(status.expect("`kill` exists on every system").success());
    }

    /// Kills it (-9); returns its log.
    pub fn kill(mut self) -> String {
        self.child.kill().expect("it runs");
        self.child.wait().expect("it ends");
        self.log()
    }
}

/// The address in a line of the banner, as text or as JSON.
fn api(line: &str) -> Option<String> {
    let json = || serde_json::from_str::<serde_json::Value>(line).ok()?["api"].as_str().map(str::to_owned);
    line.trim().strip_prefix("API").map(|url| url.trim().to_owned()).or_else(json)
}

/// A failed test leaves no server behind.
impl Drop for Process {
    fn drop(&mut self) {
        self.child.kill().and_then(|()| self.child.wait()).ok();
    }
}
