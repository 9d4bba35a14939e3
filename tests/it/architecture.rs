//! Checks of the sources' layout, by reading them: the dependencies between modules, the length of files and functions, and which modules
//! use Redis and axum.

mod cycles;
mod layers;
mod scripts;

use std::fs;
use std::path::{Path, PathBuf};

/// The domains and the modules of the platform, with their layers: a module depends only on modules in lower layers.
const LAYERS: [(&str, u8); 23] = [
    ("platform/journal", 0),
    ("platform/events", 0),
    ("platform/rates", 0),
    ("platform/mail", 0),
    ("platform/jwt", 0),
    ("domains/server_keys", 1),
    ("domains/users", 1),
    ("domains/entities", 2),
    ("domains/sessions", 2),
    ("platform/idempotency", 2),
    ("domains/graph", 2),
    ("domains/identities", 3),
    ("domains/relations", 3),
    ("domains/tags", 3),
    ("domains/lists", 4),
    ("domains/conversations", 4),
    ("domains/statuses", 5),
    ("domains/comments", 6),
    ("domains/ads", 6),
    ("domains/chats", 6),
    ("domains/timelines", 7),
    ("domains/streaming", 8),
    ("domains/accounts", 9),
];
/// The modules of the ad server, called parts here, from the lowest to the highest: a part depends only on itself and the parts before it.
const AD_PARTS: [&str; 12] = [
    "model",
    "keys",
    "rate_limit",
    "budget",
    "accounts",
    "campaigns",
    "publishers",
    "targeting",
    "tracking",
    "serving",
    "reporting",
    "management",
];
/// The files and folders directly in src.
const TOP: [&str; 10] = ["app.rs", "base", "cli", "db", "domains", "lib.rs", "main.rs", "platform", "schema", "server"];

/// A source file: its path below src, its lines of code (without comments and tests), and its whole text.
struct Source {
    path: String,
    lines: Vec<String>,
    all: String,
}

impl Source {
    /// Returns the first folder or file name of the path: the module at the crate's root.
    fn top(&self) -> &str {
        self.path.split(['/', '.']).next().unwrap_or_default()
    }

    /// Returns the domain, or the module of the platform: `domains/users`.
    fn domain(&self) -> Option<String> {
        let mut parts = self.path.split(['/', '.']);
        let (top, name) = (parts.next()?, parts.next()?);
        ["domains", "platform"].contains(&top).then(|| format!("{top}/{name}")).filter(|_| name != "mod")
    }

    /// Returns the part of the ad server that the file belongs to.
    fn ad_part(&self) -> Option<&str> {
        let part = self.path.strip_prefix("domains/ads/")?.split(['/', '.']).next()?;
        AD_PARTS.contains(&part).then_some(part)
    }

    /// Returns the module of a domain, or of a part of the ad server, that the file belongs to: `store`, `service`, …
    fn module_kind(&self) -> &str {
        let mut modules = self.path.split('/').skip(2).map(|name| name.trim_end_matches(".rs"));
        let first = modules.next().unwrap_or_default();
        match (self.ad_part(), modules.next()) {
            // `mod.rs` of a part is different from `mod.rs` of a domain, which may name keys.
            (Some(_), Some("mod")) | (None, _) => first,
            (Some(_), Some(module)) if !matches!(first, "model" | "keys") => module,
            (Some(_), _) => first,
        }
    }

    /// Returns the number of modules between the file and its part of the ad server: 2 for `budget/store/shares.rs`.
    fn depth_in_ad_part(&self) -> usize {
        let below = self.path.split('/').skip(3).filter(|name| *name != "mod.rs");
        below.count()
    }

    fn layer(&self) -> Option<u8> {
        layer_of(&self.domain()?)
    }

    fn names(&self, path: &str) -> Vec<&String> {
        let at_word = |line: &str, at: usize| !line[..at].ends_with(|before: char| before.is_alphanumeric() || before == '_');
        self.lines.iter().filter(|line| line.match_indices(path).any(|(at, _)| at_word(line, at))).collect()
    }
}

fn layer_of(domain: &str) -> Option<u8> {
    LAYERS.iter().find(|(name, _)| *name == domain).map(|(_, layer)| *layer)
}

fn sources() -> Vec<Source> {
    let root = Path::new(env!("CARGO_MANIFEST_DIR")).join("src");
    let mut found = Vec::new();
    walk(&root, &mut |file| {
        let all = fs::read_to_string(&file).expect("a source");
        let code = all.split("#[cfg(test)]").next().unwrap_or_default();
        let lines = code.lines().filter(|line| !line.trim_start().starts_with("//")).map(str::to_owned).collect();
        let path = file.strip_prefix(&root).expect("below src").display().to_string();
        found.push(Source { path, lines, all });
    });
    assert!(found.len() > 50, "the sources were not found");
    found
}

fn walk(folder: &Path, visit: &mut impl FnMut(PathBuf)) {
    for entry in fs::read_dir(folder).expect("a folder") {
        let path = entry.expect("an entry").path();
        if path.is_dir() {
            walk(&path, visit);
        } else if path.extension().is_some_and(|extension| extension == "rs") {
            visit(path);
        }
    }
}

/// Fails if there are violations of a rule, and lists them.
fn assert_no_violations(rule: &str, broken: impl IntoIterator<Item = String>) {
    let broken: Vec<String> = broken.into_iter().collect();
    assert!(broken.is_empty(), "{rule}:\n{}", broken.join("\n"));
}

#[test]
fn keys_are_built_only_by_their_own_domain() {
    let kinds_with_keys = ["store", "audit", "mod", "keys"];
    let broken = sources()
        .into_iter()
        .filter(|it| it.layer().is_some() && !kinds_with_keys.contains(&it.module_kind()) && !it.names("keys::").is_empty());
    assert_no_violations("keys outside of store.rs", broken.map(|it| it.path));
    let literal =
        |it: &Source| it.layer().is_some() && it.module_kind() != "keys" && it.lines.iter().any(|line| line.contains(":{{{"));
    assert_no_violations("a key written outside of keys.rs", sources().iter().filter(|it| literal(it)).map(|it| it.path.clone()));
}

#[test]
fn the_sources_are_in_their_folders() {
    let root = Path::new(env!("CARGO_MANIFEST_DIR")).join("src");
    let mut found: Vec<String> = fs::read_dir(root)
        .expect("a folder")
        .map(|entry| entry.expect("an entry").file_name().to_string_lossy().into_owned())
        .collect();
    found.sort();
    assert_eq!(found, TOP);
}

#[test]
fn files_are_short_and_documented() {
    let mut broken = Vec::new();
    for source in sources() {
        let lines = source.all.lines().count();
        if lines > 500 {
            broken.push(format!("{} has {lines} lines", source.path));
        }
        if !source.all.starts_with("//! ") {
            broken.push(format!("{} does not begin with a description", source.path));
        }
    }
    walk(&Path::new(env!("CARGO_MANIFEST_DIR")).join("tests"), &mut |file| {
        let lines = fs::read_to_string(&file).expect("a source").lines().count();
        if lines > 500 {
            broken.push(format!("{} has {lines} lines", file.display()));
        }
    });
    assert_no_violations("a file that is too long or lacks a description", broken);
}

#[test]
fn functions_stay_under_eighty_lines() {
    let mut broken = Vec::new();
    for source in sources() {
        let mut began: Option<(usize, String, usize)> = None;
        for (at, line) in source.all.lines().enumerate() {
            let indent = line.len() - line.trim_start().len();
            if began.is_none() && (line.contains("fn ") && !line.trim_start().starts_with("//")) && line.ends_with('{') {
                began = Some((at, line.trim().to_owned(), indent));
            } else if let Some((start, name, deep)) = began.take_if(|(_, _, deep)| indent == *deep && line.trim() == "}") {
                let _ = deep;
                if at - start > 80 {
                    broken.push(format!("{}: {name} has {} lines", source.path, at - start));
                }
            }
        }
    }
    assert_no_violations("a function that is too long", broken);
}

#[test]
fn every_kind_of_key_is_listed() {
    let mut kinds = Vec::new();
    for source in sources().iter().filter(|it| it.path.ends_with("keys.rs")) {
        // A key consists of a kind, a colon and a brace. In a format string the brace is doubled.
        let spelled = source.lines.iter().flat_map(|line| line.split('"').skip(1).step_by(2));
        kinds.extend(spelled.filter_map(|text| text.split_once(":{")).map(|(kind, _)| kind.to_owned()));
    }
    assert!(kinds.len() > 12, "{kinds:?}");
    let listed = waxwing::cli::fsck::key_kinds();
    assert_no_violations(
        "a kind of keys that is not in KINDS",
        kinds.iter().filter(|kind| !listed.contains(&kind.as_str())).cloned(),
    );
    let spelled = |kind: &&str| kinds.iter().any(|other| other == kind);
    assert_no_violations(
        "a kind in KINDS without a key",
        listed.iter().filter(|kind| !spelled(kind)).map(|kind| (*kind).to_owned()),
    );
}

#[test]
fn secrets_are_compared_in_constant_time() {
    // The functions that make tags or keys. If a comparison stops at the first wrong byte, an attacker can guess a secret byte by byte from
    // its time.
    let makers = [".mark(list", ".tag(list", "website_key(", ".finalize()", ".finish128()"];
    let compares =
        |line: &&String| ["==", "!="].iter().any(|by| line.contains(by)) && makers.iter().any(|maker| line.contains(maker));
    let broken = sources().into_iter().filter_map(|it| it.lines.iter().find(compares).map(|line| format!("{}: {line}", it.path)));
    assert_no_violations("a secret that is compared by `==`: use `ct_eq`", broken);
}

#[test]
fn every_domain_is_registered_everywhere() {
    let root = Path::new(env!("CARGO_MANIFEST_DIR")).join("src");
    let text = |file: &str| fs::read_to_string(root.join(file)).expect("a source");
    let (page, fsck, request, schema) = (text("lib.rs"), text("cli/fsck/mod.rs"), text("base/request.rs"), text("schema/mod.rs"));
    let mut broken = Vec::new();
    for top in ["domains", "platform"] {
        for entry in fs::read_dir(root.join(top)).expect("a folder") {
            let folder = entry.expect("an entry").path();
            if folder.is_dir() {
                let name = folder.file_name().expect("a name").to_string_lossy().into_owned();
                broken.extend(missing(&folder, top, &name, [&page, &fsck, &request, &schema]));
            }
        }
    }
    assert_no_violations("a domain that is missing somewhere (see CONTRIBUTING.md)", broken);
}

/// Returns the places where a domain is missing, given the texts of lib.rs, fsck, request.rs and the schema.
fn missing(folder: &Path, top: &str, name: &str, [page, fsck, request, schema]: [&String; 4]) -> Vec<String> {
    let is_in = |folder: &Path, module: &str| folder.join(format!("{module}.rs")).is_file() || folder.join(module).is_dir();
    // The parts of the ad server have modules of their own.
    let parts = AD_PARTS.map(|part| folder.join(part));
    let has = |module: &str| is_in(folder, module) || parts.iter().any(|part| is_in(part, module));
    let mut broken = Vec::new();
    let mut need = |fulfilled: bool, what: &str| {
        if !fulfilled {
            broken.push(format!("{top}/{name}: {what}"));
        }
    };
    need(layer_of(&format!("{top}/{name}")).is_some(), "LAYERS of this test does not contain its layer");
    need(page.contains(&format!("[`{name}`]")), "the table in lib.rs does not name it");
    if has("keys") {
        need(has("audit"), "it has keys but no audit.rs");
        for part in ["audit::KINDS", "audit::owns", "audit::check("] {
            need(fsck.contains(&format!("{name}::{part}")), &format!("fsck does not name {name}::{part}"));
        }
    }
    if has("load") {
        need(request.contains(&format!("crate::{top}::{name}::")), "base/request.rs does not bundle its loaders");
    }
    if has("graphql") {
        need(schema.contains(&format!("crate::{top}::{name}::")), "schema/mod.rs does not merge its roots");
    }
    broken
}

#[test]
fn every_root_is_merged() {
    let merged = fs::read_to_string(Path::new(env!("CARGO_MANIFEST_DIR")).join("src/schema/mod.rs")).expect("a source");
    let is_merged = |name: &str| merged.split(|letter: char| !letter.is_alphanumeric()).filter(|word| *word == name).count() > 1;
    let mut roots = Vec::new();
    for source in sources().iter().filter(|it| it.path.contains("graphql")) {
        let structs = source.lines.iter().filter_map(|line| line.strip_prefix("pub struct ")?.strip_suffix(';'));
        let is_root = |name: &&str| ["Query", "Mutation", "Subscription"].iter().any(|root| name.ends_with(root));
        roots.extend(structs.filter(is_root).map(str::to_owned));
    }
    assert!(roots.len() > 12, "{roots:?}");
    assert_no_violations("a root that schema/mod.rs does not merge", roots.into_iter().filter(|name| !is_merged(name)));
}

#[test]
fn the_tests_excluded_on_a_cluster_exist() {
    let root = Path::new(env!("CARGO_MANIFEST_DIR"));
    let settings = fs::read_to_string(root.join(".config/nextest.toml")).expect("the settings of nextest");
    let filter = settings.split("default-filter").nth(1).expect("a filter");
    let mut sources = fs::read_to_string(root.join("tests/it/main.rs")).expect("the tests");
    let modules = filter.split("test(/^(").skip(1).filter_map(|rest| rest.split(')').next()).flat_map(|names| names.split('|'));
    let modules: Vec<&str> = modules.collect();
    assert!(modules.len() > 30, "{modules:?}");
    assert_no_violations(
        "a module of tests that does not exist",
        modules.into_iter().filter(|name| !sources.contains(&format!("mod {name};"))).map(str::to_owned),
    );
    walk(&root.join("tests/it"), &mut |file| sources += &fs::read_to_string(&file).expect("a source"));
    let parts: Vec<&str> =
        filter.split(|part: char| !part.is_ascii_lowercase() && part != '_').filter(|it| it.len() > 4).collect();
    assert!(parts.len() > 40, "{parts:?}");
    assert_no_violations(
        "a part of a name of a test that does not exist",
        parts.into_iter().filter(|part| !sources.contains(part)).map(str::to_owned),
    );
}

#[test]
fn tests_start_the_binary_in_one_place() {
    let root = Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/it");
    // Split in two, so that this file does not contain the name itself.
    let (variable, mut broken) = (concat!("CARGO_BIN_EXE", "_waxwing"), Vec::new());
    walk(&root, &mut |file| {
        let runs_it = fs::read_to_string(&file).expect("a source").contains(variable);
        if runs_it && !file.ends_with("support/process.rs") {
            broken.push(file.display().to_string());
        }
    });
    assert_no_violations("a test that starts the binary itself: use support::waxwing", broken);
}

/// Returns each text between `open` and `close` on a line.
fn quoted(line: &str, open: &str, close: char) -> Vec<String> {
    line.split(open).skip(1).filter_map(|rest| rest.split(close).next()).map(str::to_owned).collect()
}
