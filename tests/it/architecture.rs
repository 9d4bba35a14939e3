//! Checks of the sources' layout, by reading them: the dependencies between modules, the length of files and functions, and which modules
//! use Redis and axum.

mod cycles;

use std::collections::BTreeSet;
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
/// The modules of `domains/ads` outside of this order. They may depend on all parts.
const AD_SURFACE: [&str; 5] = ["audit", "graphql", "lua", "mod", "service"];
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

/// Returns the crate's modules that a source names (`server`, or `domains/users`), each with the named item.
fn named(source: &Source) -> Vec<(String, String)> {
    let mut pairs = Vec::new();
    for line in &source.lines {
        for (at, _) in line.match_indices("crate::") {
            let mut parts = line[at + 7..]
                .split("::")
                .map(|part| part.split(|end: char| !end.is_alphanumeric() && end != '_').next().unwrap_or_default());
            let mut module = parts.next().unwrap_or_default().to_owned();
            let mut item = parts.next().unwrap_or_default().to_owned();
            if ["domains", "platform"].contains(&module.as_str()) {
                module = format!("{module}/{item}");
                item = parts.next().unwrap_or_default().to_owned();
            }
            pairs.push((module, item));
        }
    }
    pairs
}

#[test]
fn only_the_server_uses_axum() {
    assert_no_violations(
        "axum outside of server/",
        sources().iter().filter(|it| it.top() != "server" && !it.names("axum").is_empty()).map(|it| it.path.clone()),
    );
}

#[test]
fn only_db_and_the_stores_use_redis() {
    let allowed = |it: &Source| it.top() == "db" || (it.layer().is_some() && matches!(it.module_kind(), "store" | "audit"));
    assert_no_violations(
        "Redis outside of db/, store.rs and audit.rs",
        sources().iter().filter(|it| !allowed(it) && !it.names("redis::").is_empty()).map(|it| it.path.clone()),
    );
}

#[test]
fn only_the_edge_uses_async_graphql() {
    let allowed = |it: &Source| matches!(it.top(), "schema" | "server") || it.module_kind() == "graphql";
    assert_no_violations(
        "async-graphql outside of schema/, server/ and graphql.rs",
        sources().iter().filter(|it| !allowed(it) && !it.names("async_graphql").is_empty()).map(|it| it.path.clone()),
    );
}

#[test]
fn metrics_and_traces_have_one_module_each() {
    let outside = |place: &str, library: &str| {
        let named = |it: &Source| !it.path.starts_with(place) && !it.names(library).is_empty();
        sources().iter().filter(|it| named(it)).map(|it| format!("{} names {library}", it.path)).collect::<Vec<_>>()
    };
    assert_no_violations("Prometheus outside of base/metrics/", outside("base/metrics/", "prometheus_client"));
    assert_no_violations("OpenTelemetry outside of server/traces.rs", outside("server/traces.rs", "opentelemetry"));
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
fn the_base_depends_on_no_domain() {
    let mut broken = Vec::new();
    for source in sources().iter().filter(|it| it.top() == "base") {
        for (module, item) in named(source) {
            // The bundle of all batch loaders, which belongs to a request.
            let loader = source.path == "base/request.rs" && item.ends_with("Fetcher");
            if layer_of(&module).is_some() && !loader || ["server", "schema", "cli"].contains(&module.as_str()) {
                broken.push(format!("{} names {module}::{item}", source.path));
            }
        }
    }
    assert_no_violations("base depends on a domain", broken);
}

#[test]
fn domains_depend_on_lower_layers_only() {
    let mut broken = Vec::new();
    for source in sources() {
        let Some(layer) = source.layer().filter(|_| source.module_kind() != "graphql") else { continue };
        for (module, item) in named(&source) {
            let own = source.domain().is_some_and(|own| own == module);
            let is_higher = layer_of(&module).is_some_and(|other| !own && other >= layer);
            if is_higher || ["server", "schema", "cli"].contains(&module.as_str()) {
                broken.push(format!("{} names {module}::{item}", source.path));
            }
        }
    }
    assert_no_violations("a domain depends on its own layer or a higher one", broken);
}

#[test]
fn the_page_of_the_crate_has_every_module_in_its_layer() {
    let page = sources().into_iter().find(|source| source.path == "lib.rs").expect("the root").all;
    let rows = page.lines().filter_map(|line| line.strip_prefix("//! | ")?.split_once(" | "));
    let rows = rows.filter_map(|(layer, rest)| Some((layer.parse::<u8>().ok()?, rest)));
    let documented: BTreeSet<(String, u8)> =
        rows.flat_map(|(layer, rest)| quoted(rest, "[`", '`').into_iter().map(move |name| (name, layer))).collect();
    let layers = LAYERS.iter().map(|(module, layer)| (module.rsplit('/').next().unwrap_or(module).to_owned(), *layer));
    assert_eq!(documented, layers.collect::<BTreeSet<_>>());
}

#[test]
fn modules_of_the_ad_server_depend_on_lower_modules_only() {
    let place = |name: &str| AD_PARTS.iter().position(|part| *part == name);
    let (mut broken, mut found) = (Vec::new(), std::collections::BTreeSet::new());
    for source in sources().iter().filter(|it| it.path.starts_with("domains/ads/")) {
        let Some(part) = source.ad_part() else { continue };
        found.insert(part.to_owned());
        for line in source.lines.iter().map(|line| line.replace("(in crate::domains::ads)", "")) {
            for named in line.split("crate::domains::ads").skip(1) {
                let name = named.trim_start_matches("::").split(|end: char| !end.is_alphanumeric() && end != '_').next();
                if name.and_then(place).is_none_or(|other| Some(other) > place(part)) {
                    broken.push(format!("{}: {}", source.path, line.trim()));
                }
            }
            // This many `super::` lead outside of the part: to another part, by a path that the loop above does not see.
            if line.contains(&"super::".repeat(source.depth_in_ad_part() + 1)) {
                broken.push(format!("{}: {}", source.path, line.trim()));
            }
        }
    }
    assert_no_violations(
        "a part of the ad server that depends on a higher part, or on a part by another path than `crate::domains::ads::PART`",
        broken,
    );
    assert_eq!(found.len(), AD_PARTS.len(), "{found:?}");
    let root = Path::new(env!("CARGO_MANIFEST_DIR")).join("src/domains/ads");
    let names = fs::read_dir(root).expect("a folder").map(|entry| entry.expect("an entry").file_name());
    let names = names.map(|name| name.to_string_lossy().trim_end_matches(".rs").to_owned());
    let is_known = |name: &String| [&AD_PARTS[..], &AD_SURFACE].concat().contains(&name.as_str());
    assert_no_violations("a module of the ad server that AD_PARTS does not list", names.filter(|name| !is_known(name)));
}

#[test]
fn stores_and_loaders_call_no_service() {
    let low = |it: &Source| it.layer().is_some() && matches!(it.module_kind(), "store" | "load" | "model" | "keys" | "audit");
    assert_no_violations(
        "a module below the service layer names a service",
        sources().iter().filter(|it| low(it) && !it.names("service").is_empty()).map(|it| it.path.clone()),
    );
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
fn scripts_document_their_arguments_and_use_one_hash_tag() {
    let root = Path::new(env!("CARGO_MANIFEST_DIR")).join("src");
    let mut broken = Vec::new();
    for (domain, _) in LAYERS.iter().chain(&[("db", 0)]) {
        for entry in fs::read_dir(root.join(domain).join("lua")).into_iter().flatten() {
            let path = entry.expect("a script").path();
            let (name, script) =
                (path.file_name().expect("a name").to_string_lossy().into_owned(), fs::read_to_string(&path).expect("a script"));
            let header: Vec<&str> = script.lines().take_while(|line| line.starts_with("--")).collect();
            let says = |word: &str| header.iter().any(|line| line.contains(word));
            if !header.first().is_some_and(|line| line.starts_with(&format!("-- {name} - ")))
                || !says("KEYS")
                || !says("ARGV")
                || !says("Returns")
            {
                broken.push(format!("{domain}/{name}: the header is incomplete"));
            }
            if ["forget_", "erase_", "drop_", "wipe_"].iter().any(|verb| name.starts_with(verb)) {
                broken.push(format!("{domain}/{name}: CONTRIBUTING.md lists the verbs of removal"));
            }
            let tags: std::collections::HashSet<&str> = header
                .iter()
                .filter(|line| line.contains("KEYS"))
                .flat_map(|line| line.split('{').skip(1))
                .filter_map(|rest| rest.split('}').next())
                .collect();
            if tags.len() != 1 && !(tags.is_empty() && says("KEYS none")) {
                broken.push(format!("{domain}/{name}: keys of {} hash tags: {tags:?}", tags.len()));
            }
        }
    }
    assert_no_violations("a script with an incomplete header, several hash tags or another verb of removal", broken);
}

#[test]
fn every_used_command_is_checked_at_start() {
    let root = Path::new(env!("CARGO_MANIFEST_DIR")).join("src");
    let rights = fs::read_to_string(root.join("db/inspect/rights.rs")).expect("the rights");
    // Each connection of the client library requests these commands, or the inspection itself does.
    let own = ["CONFIG", "INFO", "CLUSTER", "ASKING", "PING", "HELLO", "MULTI", "EXEC", "DISCARD", "SCRIPT", "ACL", "ROLE"];
    let mut used = std::collections::BTreeSet::new();
    // Only operators run audits: a server does not need the commands of audits.
    let audit = |it: &Source| it.path.contains("audit") || it.path == "db/audit_reader.rs";
    let apart = |it: &Source| ["db/inspect", "db/embedded", "db/snapshot"].iter().any(|place| it.path.starts_with(place));
    for source in sources().iter().filter(|it| !audit(it) && !apart(it)) {
        used.extend(source.lines.iter().flat_map(|line| quoted(line, "cmd(\"", '"')));
    }
    used.extend(scripts().iter().flat_map(|(_, script)| quoted(script, "redis.call('", '\'')));
    assert!(used.len() > 15, "{used:?}");
    let unlisted = used.into_iter().filter(|name| !own.contains(&name.as_str()) && !rights.contains(&format!("&[\"{name}\"")));
    assert_no_violations("a command that inspect/rights.rs does not list", unlisted);
}

#[test]
fn every_command_checked_at_start_is_used() {
    let root = Path::new(env!("CARGO_MANIFEST_DIR")).join("src");
    let rights = fs::read_to_string(root.join("db/inspect/rights.rs")).expect("the rights");
    let listed_commands: Vec<String> = rights.lines().flat_map(|line| quoted(line, "    &[\"", '"')).collect();
    assert!(listed_commands.len() > 15, "{listed_commands:?}");
    let mut texts: Vec<String> = sources().into_iter().filter(|it| !it.path.starts_with("db/inspect")).map(|it| it.all).collect();
    texts.extend(scripts().into_iter().map(|(_, script)| script));
    let used = |name: &String| {
        [format!("cmd(\"{name}\")"), format!("redis.call('{name}'")].iter().any(|call| texts.iter().any(|it| it.contains(call)))
    };
    assert_no_violations("a right that no code uses", listed_commands.into_iter().filter(|name| !used(name)));
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
fn no_script_and_no_pattern_is_built_from_strings() {
    for word in ["EVAL", "MATCH", "KEYS", "PSUBSCRIBE", "SORT"] {
        let word = format!("\"{word}\"");
        let broken = sources().into_iter().filter(|it| it.lines.iter().any(|line| line.contains(&word)));
        assert_no_violations(
            "a command whose argument is a script or a pattern",
            broken.map(|it| format!("{}: {word}", it.path)),
        );
    }
    let made = |line: &String| {
        let new = |by: &str| line.contains(&format!("Script::{by}(")) && !line.contains(&format!("Script::{by}(include_str!("));
        // The prefix of such a script is a constant, which is a file too.
        let after = |by: &str| {
            let begun = |it: &&str| line.contains(&format!("Script::{by}({it}, include_str!("));
            line.contains(&format!("Script::{by}("))
                && ![
                    "THREAD_PRELUDE",
                    "SUMS_PRELUDE",
                    "SHARE_PRELUDE",
                    "FRIENDS_PRELUDE",
                    "CONVERSATION_PRELUDE",
                    "CHAT_PRELUDE",
                    "LOG_PRELUDE",
                    "LOGIN_PRELUDE",
                    "EMAIL_NOTICE_PRELUDE",
                    "DEAD_LETTER_PRELUDE",
                ]
                .iter()
                .any(begun)
        };
        ["new", "allow_oom", "refusable"].into_iter().any(new) || ["after", "allow_oom_after"].into_iter().any(after)
    };
    let broken = sources().into_iter().filter(|it| it.path != "db/script.rs" && it.lines.iter().any(made));
    assert_no_violations("a script that is not a file", broken.map(|it| it.path));
    for (path, script) in scripts() {
        let code = script.lines().filter(|line| !line.starts_with("--"));
        let makes_code = |line: &&str| ["load(", "loadstring(", "pcall("].iter().any(|word| line.contains(word));
        let touches_others = |line: &&str| {
            let calls = line.matches("redis.call(").count();
            calls
                != line
                    .replace("'PUBSUB', 'SHARDNUMSUB', KEYS[", "'PUBSUB', KEYS[")
                    .split("redis.call('")
                    .skip(1)
                    .filter(|call| call.split_once("', ").is_some_and(|it| it.1.starts_with("KEYS[")))
                    .count()
        };
        assert_no_violations(&path, code.filter(|line| makes_code(line) || touches_others(line)).map(str::to_owned));
    }
}

/// Returns every Lua script: its path below src, and its text.
fn scripts() -> Vec<(String, String)> {
    let root = Path::new(env!("CARGO_MANIFEST_DIR")).join("src");
    let mut found = Vec::new();
    for (domain, _) in LAYERS.iter().chain(&[("db", 0)]) {
        for entry in fs::read_dir(root.join(domain).join("lua")).into_iter().flatten() {
            let path = entry.expect("a script").path();
            let script = fs::read_to_string(&path).expect("a script");
            found.push((path.strip_prefix(&root).expect("below src").display().to_string(), script));
        }
    }
    assert!(found.len() > 15, "the scripts were not found");
    found
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
