//! The configuration: file, environment and command line, errors, and output.

use crate::support::{Process, RedisServer, run_command, waxwing};
use std::fs;
use std::os::unix::fs::PermissionsExt;
use std::path::{Path, PathBuf};
use tempfile::TempDir;

/// A temporary configuration file that only its owner can read.
struct File {
    folder: TempDir,
    path: PathBuf,
}

impl File {
    fn new(text: &str) -> Self {
        let folder = tempfile::tempdir().expect("a folder");
        let path = folder.path().join("waxwing.toml");
        fs::write(&path, text).expect("a file");
        let file = Self { folder, path };
        file.permit(0o600);
        file
    }

    fn permit(&self, mode: u32) {
        fs::set_permissions(&self.path, fs::Permissions::from_mode(mode)).expect("one's own file");
    }

    fn path(&self) -> &str {
        self.path.to_str().expect("text")
    }

    /// `config check` on it: the exit code, stdout and stderr.
    fn check(&self, variables: &[(&str, &str)]) -> (i32, String, String) {
        run_command(waxwing(&["config", "check", self.path()]).envs(variables.iter().copied()))
    }
}

/// The value and the source of an option in the output of `config check`.
fn option<'a>(printed: &'a str, name: &str) -> (&'a str, &'a str) {
    let line =
        printed.lines().find(|line| line.starts_with(&format!("{name} = "))).unwrap_or_else(|| panic!("{name}: {printed}"));
    let (setting, source) = line.rsplit_once("# ").expect("a source");
    (setting.split_once(" = ").expect("a value").1.trim(), source)
}

#[test]
fn the_command_line_overrides_the_environment_and_the_environment_overrides_the_file() {
    let file = File::new("data-dir = \"/nowhere/file\"\n");
    // The command fails at once, and its error has the folder.
    let folder = |arguments: &[&str], variables: &[(&str, &str)]| {
        let (code, _, stderr) = run_command(waxwing(&[&["fsck"], arguments].concat()).envs(variables.iter().copied()));
        assert_eq!(code, 1, "{stderr}");
        stderr
            .split("no data folder ")
            .nth(1)
            .and_then(|rest| rest.split(':').next())
            .unwrap_or_else(|| panic!("{stderr}"))
            .to_owned()
    };
    let variable = ("WAXWING_DATA_DIR", "/nowhere/variable");
    assert_eq!(folder(&[], &[]), "waxwing-data");
    assert_eq!(folder(&["--config", file.path()], &[]), "/nowhere/file");
    assert_eq!(folder(&[], &[("WAXWING_CONFIG", file.path())]), "/nowhere/file");
    assert_eq!(folder(&["--config", file.path()], &[variable]), "/nowhere/variable");
    assert_eq!(folder(&["--config", file.path(), "--data-dir", "/nowhere/flag"], &[variable]), "/nowhere/flag");
    assert_eq!(folder(&["--data-dir", "/nowhere/flag", "--config", file.path()], &[]), "/nowhere/flag");
    let other = File::new("data-dir = \"/nowhere/other\"\n");
    assert_eq!(folder(&["--config", other.path()], &[("WAXWING_CONFIG", file.path())]), "/nowhere/other");
}

#[test]
fn a_renamed_option_is_accepted_by_its_former_name() {
    let checked = |file: &File, variables: &[(&str, &str)]| {
        let (code, printed, stderr) = file.check(variables);
        assert_eq!((code, stderr.as_str()), (0, ""));
        let (value, source) = option(&printed, "client-cache-mib");
        (value.to_owned(), source.to_owned())
    };
    let (file, empty) = (File::new("near-cache-mib = 7\n"), File::new(""));
    let (former, current) = (("WAXWING_NEAR_CACHE_MIB", "8"), ("WAXWING_CLIENT_CACHE_MIB", "9"));
    let of = |value: &str, source: &str| (value.to_owned(), source.to_owned());
    assert_eq!(checked(&file, &[]), of("7", &format!("{}:1", file.path())));
    assert_eq!(checked(&empty, &[former]), of("8", former.0));
    assert_eq!(checked(&file, &[former]), of("8", former.0), "a variable overrides the file");
    assert_eq!(checked(&file, &[former, current]), of("9", current.0), "the current name overrides the former name");
    let (code, stdout, _) = run_command(waxwing(&["serve", "--near-cache-mib", "1", "--help"]).env_clear());
    assert!(code == 0 && !stdout.contains("near-cache"), "the former name is accepted, and not shown: {stdout}");
}

#[tokio::test]
async fn a_server_starts_from_a_file_alone() {
    let redis = RedisServer::start();
    let text = format!(
        "# An option of another command is allowed.\nstatuses-per-user = 3\nlisten = \"127.0.0.1:0\"\nredis = \"{}\"\nallow-volatile = true\ndemo = true\n",
        redis.url()
    );
    let server = Process::start(&mut waxwing(&["serve", "--config", File::new(&text).path()]));
    let settings = reqwest::get(format!("{}/playground.json", server.url)).await.expect("a response").text().await.expect("text");
    assert!(settings.contains("waxwing-demo"), "{settings}");
    server.stop();
    // A switch can be switched off by its variable, not by the command line.
    let server = Process::start(waxwing(&["serve", "--config", File::new(&text).path()]).env("WAXWING_DEMO", "false"));
    let settings = reqwest::get(format!("{}/playground.json", server.url)).await.expect("a response").text().await.expect("text");
    assert_eq!(settings, "{}");
    server.stop();
}

#[test]
fn a_named_file_must_exist_and_no_file_is_required() {
    for arguments in [&["schema", "--config", "/nowhere/x.toml"][..], &["--config", "/nowhere/x.toml", "schema"]] {
        let (code, stdout, stderr) = run_command(&mut waxwing(arguments));
        assert!((code, stdout.as_str()) == (1, "") && stderr.contains("/nowhere/x.toml: No such file"), "{stderr}");
    }
    assert_eq!(run_command(waxwing(&["schema"]).env("WAXWING_CONFIG", "/nowhere/x.toml")).0, 1);
    let (code, _, stderr) = run_command(&mut waxwing(&["config", "check", "/nowhere/x.toml"]));
    assert!(code == 1 && stderr.contains("/nowhere/x.toml: No such file"), "{stderr}");
    // Without a name no file is read.
    let file = File::new("home-window = 5");
    let at = |directory: &Path| run_command(waxwing(&["config", "check"]).current_dir(directory));
    assert_eq!(at(file.folder.path()), at(Path::new("/")));
    assert_eq!(at(Path::new("/")).0, 0);
}

#[test]
fn all_errors_are_reported_together_with_valid_values() {
    let file = File::new(
        "home-windw = 500\nhome_window = 500\nlisten = \"nowhere\"\nredis = 5\ndemo = \"yes\"\nlog-format = \"jsno\"\n\
         hashes-at-once = 65\nsession-idle-days = \"30\"\ndata-dir = [\"x\"]\nconfig = \"y\"\nlog-filter = \"waxwing=loud\"\n\
         session-absolute-days = 1.5\nallow-volatile = 1\nxyzzy = 1\n[limits]\nx = 1\n",
    );
    let (code, stdout, stderr) = file.check(&[("WAXWING_HASHES_AT_ONCE", "many"), ("WAXWING_HOME_WINDOW", "99")]);
    assert_eq!((code, stdout.as_str()), (1, ""));
    let expected = [
        (1, "`home-windw` is not an option. Did you mean `home-window`?"),
        (2, "`home_window` is not an option. Did you mean `home-window`?"),
        (3, "`listen`: `nowhere`: invalid socket address syntax (the default is 127.0.0.1:4000)"),
        (4, "`redis` is a whole number, where a text in quotes is expected"),
        (5, "`demo` is a text, where true or false is expected"),
        (6, "`log-format`: `jsno` is not one of: text, json. Did you mean `json`? (the default is text)"),
        (7, "`hashes-at-once`: 65 is not in 1..=64 (the default is 2)"),
        (8, "`session-idle-days` is a text, where a whole number without quotes is expected (the default is 30)"),
        (9, "`data-dir` is a list, where a text in quotes is expected (the default is waxwing-data)"),
        (10, "`config` cannot be set in a file"),
        (
            11,
            "`log-filter`: `waxwing=loud`: error parsing level filter: expected one of \"off\", \"error\", \"warn\", \"info\", \"debug\", \"trace\", or a number 0-5 (the default is info)",
        ),
        (12, "`session-absolute-days` is a number, where a whole number without quotes is expected (the default is 90)"),
        (13, "`allow-volatile` is a whole number, where true or false is expected"),
        (14, "`xyzzy` is not an option"),
        (15, "`limits` is a table: options are set at the top level of the file"),
    ];
    let file_lines = expected.map(|(line, text)| format!("{}:{line}: {text}", file.path()));
    let variables =
        ["WAXWING_HOME_WINDOW: 99 is not in 100..=10000", "WAXWING_HASHES_AT_ONCE: `many`: invalid digit found in string"];
    let expected: Vec<String> =
        file_lines.into_iter().chain(variables.map(str::to_owned)).map(|text| format!("error: {text}")).collect();
    assert_eq!(stderr.lines().collect::<Vec<_>>(), expected);
    // A command reports the same errors before it does anything.
    let (code, stdout, stderr) = run_command(&mut waxwing(&["schema", "--config", file.path()]));
    assert_eq!((code, stdout.as_str()), (1, ""));
    assert!(expected[..15].iter().all(|line| stderr.contains(line.trim_start_matches("error: "))), "{stderr}");
}

#[test]
fn a_check_prints_every_option_with_its_source() {
    let file = File::new("home-window = 0x200\nlisten = \"127.0.0.1:1\"\nlog-format = \"json\"\n");
    let (code, stdout, stderr) = file.check(&[("WAXWING_LISTEN", "127.0.0.1:2"), ("WAXWING_DEMO", "1")]);
    assert_eq!((code, stderr.as_str()), (0, ""));
    assert_eq!(option(&stdout, "home-window"), ("512", format!("{}:1", file.path()).as_str()));
    assert_eq!(option(&stdout, "listen"), ("\"127.0.0.1:2\"", "WAXWING_LISTEN"));
    assert_eq!(option(&stdout, "log-format"), ("\"json\"", format!("{}:3", file.path()).as_str()));
    assert_eq!(option(&stdout, "demo"), ("true", "WAXWING_DEMO"));
    assert_eq!(option(&stdout, "session-idle-days"), ("30", "default"));
    assert!(stdout.contains("# redis is not set"), "{stdout}");
    let named = run_command(waxwing(&["config", "check"]).env("WAXWING_CONFIG", file.path()).env("WAXWING_DEMO", "1"));
    assert_eq!(option(&named.1, "home-window").0, "512");
    // Errors that the start would report without opening anything are reported, too.
    let (code, stdout, stderr) = File::new("redis = \"http://h\"").check(&[]);
    assert!((code, stdout.as_str()) == (1, "") && stderr.contains("redis: Unknown scheme `http`"), "{stderr}");
    let (code, _, stderr) = File::new("trusted-documents = \"/nowhere.json\"").check(&[]);
    assert!(code == 1 && stderr.contains("--trusted-documents /nowhere.json: No such file"), "{stderr}");
    let folder = tempfile::tempdir().expect("a folder");
    let documents = folder.path().join("documents.json");
    let text = r#"{"good": "{ viewer { id } }", "bad": "{ viewer { nam } }"}"#;
    std::fs::write(&documents, text).expect("it is written");
    let (code, _, stderr) = File::new(&format!("trusted-documents = \"{}\"", documents.display())).check(&[]);
    let expected = "  bad: Cannot query field \"nam\" on type \"User\".";
    assert!(code == 1 && stderr.contains(expected) && !stderr.contains("good"), "{stderr}");
    let (code, _, stderr) = File::new("").check(&[("WAXWING_HOME_WINDW", "1"), ("WAXWING_SERVICE_HOST", "10.0.0.1")]);
    assert_eq!(code, 0);
    assert_eq!(
        stderr.lines().collect::<Vec<_>>(),
        ["HOME_WINDW", "SERVICE_HOST"].map(|name| format!("warning: no option reads the variable WAXWING_{name}"))
    );
}

#[test]
fn a_check_prints_what_the_profile_sets() {
    let switches = ["introspection", "suggestions", "playground", "simple-get"];
    let (_, stdout, _) = File::new("").check(&[]);
    for name in switches {
        assert_eq!(option(&stdout, name), ("\"on\"", "the profile, development"), "{name}");
    }
    let file = File::new("profile = \"production\"\nplayground = \"on\"\n");
    let (_, stdout, _) = file.check(&[("WAXWING_SUGGESTIONS", "on")]);
    assert_eq!(option(&stdout, "introspection"), ("\"off\"", "the profile, production"));
    assert_eq!(option(&stdout, "simple-get"), ("\"off\"", "the profile, production"));
    assert_eq!(option(&stdout, "suggestions"), ("\"on\"", "WAXWING_SUGGESTIONS"));
    assert_eq!(option(&stdout, "playground"), ("\"on\"", format!("{}:2", file.path()).as_str()));
    // Every switch whose default depends on the profile is in the list: the help names no default of it.
    let (_, help, _) = run_command(&mut waxwing(&["serve", "--help"]));
    let left_to_it = help.matches("=]\n          [possible values: on, off]").count();
    assert_eq!(left_to_it, switches.len(), "{help}");
}

#[test]
fn a_list_is_an_array() {
    let file = File::new("cors-origins = [\"https://a.example\", \"https://b.example\"]");
    let (code, stdout, stderr) = file.check(&[]);
    let origins = option(&stdout, "cors-origins");
    assert_eq!((code, origins.0), (0, "[\"https://a.example\", \"https://b.example\"]"), "{stderr}");
    let (_, stdout, _) = file.check(&[("WAXWING_CORS_ORIGINS", "https://c.example,https://d.example")]);
    assert_eq!(option(&stdout, "cors-origins"), ("[\"https://c.example\", \"https://d.example\"]", "WAXWING_CORS_ORIGINS"));
    let (code, _, stderr) = File::new("cors-origins = [\"https://a.example\", \"b.example/path\"]").check(&[]);
    assert!(code == 1 && stderr.contains(":1: `cors-origins`: `b.example/path`: an origin is a scheme and a host"), "{stderr}");
}

#[test]
fn no_secret_is_printed() {
    let texts = [
        "redis = \"redis://:hunter2@h:1\"",
        "redis = \"http://:hunter2@h:1\"",
        "redis = \"redis://:hunter2@h:1",
        "redis = [\"redis://:hunter2@h:1\"]",
        "redis = \"redis://:hunter2@h:1\"\nhome-window = 1",
    ];
    for text in texts {
        let file = File::new(text);
        let runs = [
            file.check(&[]),
            run_command(&mut waxwing(&["schema", "--config", file.path()])),
            run_command(&mut waxwing(&["serve", "--help", "--config", file.path()])),
        ];
        for (_, stdout, stderr) in runs {
            assert!(!stdout.contains("hunter2") && !stderr.contains("hunter2"), "{text}: {stdout}{stderr}");
        }
    }
    let (code, stdout, stderr) = File::new("").check(&[("WAXWING_REDIS", "redis://:hunter2@h:1")]);
    assert_eq!((code, option(&stdout, "redis")), (0, ("\"(hidden)\"", "WAXWING_REDIS")), "{stderr}");
    assert!(!stdout.contains("hunter2") && !stderr.contains("hunter2"));
}

#[test]
fn a_secret_in_a_file_that_every_user_can_read_is_a_warning() {
    for (text, mode, warned) in [
        ("redis = \"redis://:hunter2@h:1\"", 0o644, true),
        ("redis = \"redis://:hunter2@h:1\"", 0o640, false),
        ("redis = \"redis://h:1\"", 0o644, false),
        ("home-window = 100", 0o644, false),
    ] {
        let file = File::new(text);
        file.permit(mode);
        let (code, _, stderr) = file.check(&[]);
        assert_eq!((code, stderr.contains("every user may read")), (0, warned), "{text} {mode:o}: {stderr}");
        let (code, _, stderr) = run_command(&mut waxwing(&["schema", "--config", file.path()]));
        assert_eq!((code, stderr.contains("every user may read")), (0, warned), "{text} {mode:o}: {stderr}");
    }
}

#[test]
fn the_example_names_every_option_and_its_default() {
    let (code, example, _) = run_command(&mut waxwing(&["config", "example"]));
    assert_eq!(code, 0);
    // The example sets nothing; with every default uncommented, it sets the defaults.
    let lines: Vec<&str> = example.lines().collect();
    let unset = |at: usize| at > 0 && lines[at - 1] == "# Not set by default.";
    let setting = |line: &&str| {
        line.strip_prefix('#').filter(|rest| rest.starts_with(|first: char| first.is_ascii_lowercase())).map(str::to_owned)
    };
    let uncommented: Vec<String> = (0..lines.len()).filter(|at| !unset(*at)).filter_map(|at| setting(&lines[at])).collect();
    let (_, without, _) = File::new("").check(&[]);
    assert_eq!(File::new(&example).check(&[]), (0, without.clone(), String::new()));
    let (code, with, stderr) = File::new(&uncommented.join("\n")).check(&[]);
    assert_eq!(code, 0, "{stderr}");
    let settings = |printed: &str| {
        printed.lines().map(|line| line.split("# ").next().unwrap_or_default().trim().to_owned()).collect::<Vec<_>>()
    };
    assert_eq!(settings(&with), settings(&without));
    let sources = with.lines().filter(|line| line.ends_with("# default")).count();
    assert_eq!(sources, with.lines().filter(|line| line.contains("is not set")).count(), "{with}");
    // Every option of `serve` is in it, once.
    let (_, help, _) = run_command(&mut waxwing(&["serve", "--help"]));
    let words = help
        .split_whitespace()
        .filter_map(|word| word.strip_prefix("--"))
        .filter(|word| !["help", "version", "config"].contains(word));
    let mut options: Vec<&str> =
        words.filter(|word| word.chars().all(|letter| letter.is_ascii_lowercase() || letter == '-')).collect();
    options.sort_unstable();
    options.dedup();
    assert!(options.len() > 10, "{options:?}");
    for name in options {
        let count = lines.iter().filter(|line| line.starts_with(&format!("#{name} = "))).count();
        assert_eq!(count, 1, "{name}: {example}");
    }
}

#[test]
fn help_texts_show_the_defaults_that_are_built_in() {
    let file = File::new("home-window = 500");
    let with = run_command(&mut waxwing(&["serve", "--help", "--config", file.path()]));
    assert_eq!(with, run_command(&mut waxwing(&["serve", "--help"])));
    assert!(with.1.contains("[default: 1000]"));
}
