//! Lua scripts and the commands of Redis: the headers of scripts, their origin, and the commands that are checked at start.

use super::{LAYERS, Source, assert_no_violations, quoted, sources};
use std::fs;
use std::path::Path;

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
    let permissions = fs::read_to_string(root.join("db/inspect/permissions.rs")).expect("the permissions");
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
    let is_listed = |name: &String| permissions.contains(&format!("&[\"{name}\""));
    let unlisted = used.into_iter().filter(|name| !own.contains(&name.as_str()) && !is_listed(name));
    assert_no_violations("a command that inspect/permissions.rs does not list", unlisted);
}

#[test]
fn every_command_checked_at_start_is_used() {
    let root = Path::new(env!("CARGO_MANIFEST_DIR")).join("src");
    let permissions = fs::read_to_string(root.join("db/inspect/permissions.rs")).expect("the permissions");
    let listed_commands: Vec<String> = permissions.lines().flat_map(|line| quoted(line, "    &[\"", '"')).collect();
    assert!(listed_commands.len() > 15, "{listed_commands:?}");
    let mut texts: Vec<String> = sources().into_iter().filter(|it| !it.path.starts_with("db/inspect")).map(|it| it.all).collect();
    texts.extend(scripts().into_iter().map(|(_, script)| script));
    let used = |name: &String| {
        [format!("cmd(\"{name}\")"), format!("redis.call('{name}'")].iter().any(|call| texts.iter().any(|it| it.contains(call)))
    };
    assert_no_violations("a right that no code uses", listed_commands.into_iter().filter(|name| !used(name)));
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
