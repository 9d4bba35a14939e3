//! The dependencies of the server: their licences, sources and versions; and the files with `unsafe` code. Needs no download.

use serde_json::Value;
use std::fs;
use std::path::{Path, PathBuf};
use std::process::Command;

fn root() -> PathBuf {
    PathBuf::from(env!("CARGO_MANIFEST_DIR"))
}

/// Every package of the build on this platform, from `cargo metadata`.
fn packages() -> Vec<Value> {
    let output = |program: String, arguments: &[&str]| {
        let output = Command::new(program).args(arguments).current_dir(root()).output().expect("it runs");
        assert!(output.status.success(), "{}", String::from_utf8_lossy(&output.stderr));
        String::from_utf8(output.stdout).expect("text")
    };
    let program = |variable: &str, name: &str| std::env::var(variable).unwrap_or_else(|_| name.to_owned());
    let version = output(program("RUSTC", "rustc"), &["-vV"]);
    let platform = version.lines().find_map(|line| line.strip_prefix("host: ")).expect("a platform");
    let arguments = ["metadata", "--locked", "--offline", "--format-version", "1", "--filter-platform", platform];
    let mut metadata: Value = serde_json::from_str(&output(program("CARGO", "cargo"), &arguments)).expect("JSON");
    let Value::Array(packages) = metadata["packages"].take() else { panic!("no packages") };
    assert!(packages.len() > 150, "{} packages", packages.len());
    packages
}

/// The licences that `.deny.toml` allows.
fn allowed() -> Vec<String> {
    let settings = fs::read_to_string(root().join(".deny.toml")).expect("the settings");
    let list = settings.split_once("\nallow = [").and_then(|(_, rest)| rest.split_once(']')).expect("a list").0;
    list.split('"').skip(1).step_by(2).map(str::to_owned).collect()
}

/// Whether the allowed licences satisfy an expression. Old expressions separate alternatives by a slash.
fn is_allowed(expression: &str, allowed: &[String]) -> bool {
    let parsed = spdx::Expression::parse_mode(expression, spdx::ParseMode::LAX);
    parsed.is_ok_and(|expression| expression.evaluate(|wanted| allowed.contains(&wanted.to_string())))
}

#[test]
fn every_dependency_has_an_allowed_licence() {
    let allowed = allowed();
    assert!(allowed.contains(&"MIT".to_owned()) && allowed.len() > 5, "{allowed:?}");
    for package in packages() {
        let licence = package["license"].as_str().unwrap_or("(none)");
        assert!(is_allowed(licence, &allowed), "{} is under {licence}", package["name"]);
    }
    let mit = ["MIT".to_owned()];
    for (expression, expected) in [
        ("MIT", true),
        ("MIT OR GPL-3.0-only", true),
        ("MIT/Apache-2.0", true),
        ("MIT AND GPL-3.0-only", false),
        ("GPL-3.0-only", false),
        ("AGPL-3.0", false),
        ("MIT WITH LLVM-exception", false),
        ("a licence of our own", false),
        ("(none)", false),
    ] {
        assert_eq!(is_allowed(expression, &mit), expected, "{expression}");
    }
}

/// A package of a lock file.
#[derive(Debug, Default)]
struct Locked {
    name: String,
    version: String,
    source: Option<String>,
    checksum: bool,
}

fn locked(file: &str) -> Vec<Locked> {
    let value = |line: &str, name: &str| line.strip_prefix(name)?.strip_prefix(" = \"")?.strip_suffix('"').map(str::to_owned);
    let package = |lines: &str| {
        let mut package = Locked::default();
        for line in lines.lines() {
            package.name = value(line, "name").unwrap_or(package.name);
            package.version = value(line, "version").unwrap_or(package.version);
            package.source = value(line, "source").or(package.source);
            package.checksum |= value(line, "checksum").is_some();
        }
        package
    };
    file.split("[[package]]").skip(1).map(package).collect()
}

/// The first fixed versions of crates with vulnerabilities that concern servers like this one. RustSec does not have all of them.
const FIXED: [(&str, &[&str], &str); 7] = [
    ("async-graphql", &["7.0.10"], "GHSA-5gc2-7c65-8fq8: directives without a limit"),
    ("h2", &["0.4.16"], "RUSTSEC-2026-0258"),
    ("axum-core", &["0.3.0"], "RUSTSEC-2022-0055: bodies without a limit"),
    // Each long-term line has its own fix.
    ("tokio", &["1.38.2", "1.42.1", "1.43.1", "1.44.2"], "RUSTSEC-2025-0023: broadcast channels"),
    ("time", &["0.3.47"], "times that nest without bound"),
    ("tungstenite", &["0.20.1"], "RUSTSEC-2023-0065: headers without a limit"),
    ("async-tungstenite", &["0.24.0"], "RUSTSEC-2023-0065, through an old tungstenite"),
];

/// Packages older than the fix: of their own line if there is one, otherwise of the last line.
fn vulnerabilities(packages: &[Locked]) -> Vec<String> {
    let mut found = Vec::new();
    for (name, fixes, vulnerability) in FIXED {
        for package in packages.iter().filter(|package| package.name == name) {
            let version = numbers(&package.version);
            let own = fixes.iter().map(|fix| numbers(fix)).find(|fix| fix[..2] == version[..2]);
            let fix = own.unwrap_or_else(|| numbers(fixes.last().expect("a version")));
            // A pre-release is older than the release.
            let early = version == fix && package.version.contains('-');
            if version < fix || early {
                found.push(format!("{name} {}: {vulnerability}", package.version));
            }
        }
    }
    found
}

fn numbers(version: &str) -> [u64; 3] {
    let release = version.split(['-', '+']).next().unwrap_or_default();
    let mut parts = release.split('.').map(|part| part.parse().expect("a number"));
    [(); 3].map(|()| parts.next().expect("three numbers"))
}

#[test]
fn no_dependency_has_a_known_vulnerability() {
    let ours = locked(&fs::read_to_string(root().join("Cargo.lock")).expect("the lock file"));
    for name in ["async-graphql", "h2", "axum-core", "tokio"] {
        assert!(ours.iter().any(|package| package.name == name), "{name} is not among {}", ours.len());
    }
    assert_eq!(vulnerabilities(&ours), [""; 0]);
}

#[test]
fn every_vulnerable_package_of_a_lock_file_is_found() {
    for (name, version, expected) in [
        ("async-graphql", "7.0.9", true),
        ("async-graphql", "7.0.10", false),
        ("async-graphql", "7.0.10-rc.1", true),
        ("async-graphql", "8.0.0-rc.5", false),
        ("h2", "0.3.26", true),
        ("h2", "0.4.15", true),
        ("h2", "0.4.16", false),
        ("axum-core", "0.2.9", true),
        ("tokio", "1.37.0", true),
        ("tokio", "1.38.1", true),
        ("tokio", "1.38.2", false),
        ("tokio", "1.41.0", true),
        ("tokio", "1.43.0", true),
        ("tokio", "1.43.1", false),
        ("tokio", "1.44.1", true),
        ("tokio", "1.45.0", false),
        ("time", "0.3.46", true),
        ("tungstenite", "0.20.0", true),
        ("serde", "0.0.1", false),
    ] {
        let file = format!("version = 4\n\n[[package]]\nname = \"{name}\"\nversion = \"{version}\"\nsource = \"registry+x\"\n");
        assert_eq!(vulnerabilities(&locked(&file)).len(), usize::from(expected), "{name} {version}");
    }
}

/// Packages that are not from the registry, or have no checksum.
fn foreign(packages: &[Locked]) -> Vec<&str> {
    let from_registry =
        |package: &&Locked| package.checksum && package.source.as_deref().is_some_and(|source| source.starts_with("registry+"));
    packages.iter().filter(|package| !from_registry(package)).map(|package| package.name.as_str()).collect()
}

#[test]
fn all_dependencies_come_from_the_registry_with_a_checksum() {
    assert_eq!(foreign(&locked(&fs::read_to_string(root().join("Cargo.lock")).expect("the lock file"))), ["waxwing"]);
    let planted = "[[package]]\nname = \"a\"\nsource = \"registry+x\"\nchecksum = \"1\"\n[[package]]\nname = \"b\"\nsource = \"git+x\"\n\
        checksum = \"1\"\n[[package]]\nname = \"c\"\nsource = \"registry+x\"\n[[package]]\nname = \"d\"\n";
    assert_eq!(foreign(&locked(planted)), ["b", "c", "d"]);
}

/// The only file with `unsafe` code.
const UNSAFE: &str = "src/db/embedded/orphan/death_signal.rs";

#[test]
fn unsafe_code_is_in_one_file() {
    let mut found = Vec::new();
    for folder in ["src", "tests", "playground"] {
        walk(&root().join(folder), &mut |file| {
            let text = fs::read_to_string(&file).expect("a source");
            // Not in comments and texts.
            let code = text.lines().map(|line| line.split("//").next().unwrap_or_default());
            let mut code = code.flat_map(|line| line.split('"').step_by(2));
            if code.any(|code| words(code).any(|word| word == "unsafe") || code.contains("(unsafe_code")) {
                found.push(file.strip_prefix(root()).expect("below the root").display().to_string());
            }
        });
    }
    assert_eq!(found, [UNSAFE]);
    let text = fs::read_to_string(root().join(UNSAFE)).expect("a source");
    assert_eq!(text.matches("unsafe {").count(), 1, "one unsafe block, after a comment with its conditions");
    assert!(text.contains("// SAFETY: ") && text.lines().count() < 40);
    let manifest = fs::read_to_string(root().join("Cargo.toml")).expect("the manifest");
    assert!(manifest.contains("\nunsafe_code = \"deny\""));
}

fn words(line: &str) -> impl Iterator<Item = &str> {
    line.split(|letter: char| !letter.is_alphanumeric() && letter != '_')
}

fn walk(folder: &Path, visit: &mut impl FnMut(PathBuf)) {
    for entry in fs::read_dir(folder).expect("a folder") {
        let path = entry.expect("an entry").path();
        let name = path.file_name().expect("a name");
        if path.is_dir() {
            if name != "node_modules" && name != "target" {
                walk(&path, visit);
            }
        } else if path.extension().is_some_and(|extension| extension == "rs") {
            visit(path);
        }
    }
}
