//! No two files of a domain, of a module of the platform or of `db` depend on each other, directly or through others.
//!
//! A file depends on the files whose items it names. A name that a `mod.rs` re-exports leads to the file that declares it, and the re-export
//! itself is no dependency: a module may collect what its files offer.

use super::{Source, assert_no_violations, sources};
use std::collections::{BTreeMap, BTreeSet};

/// Dependency cycles that are allowed, with their reasons. All files of a cycle must be in one row.
const ALLOWED: [&[&str]; 2] = [
    // An ad has its campaign and a campaign has its ads: types of the schema refer to each other.
    &["domains::ads::graphql::ad", "domains::ads::graphql::campaign"],
    // The hub holds its interests weakly, and an interest leaves the hub when its last subscription drops it.
    &[
        "domains::streaming::chat_dispatch",
        "domains::streaming::feed_sources",
        "domains::streaming::hidden_authors",
        "domains::streaming::hub",
        "domains::streaming::interest",
        "domains::streaming::listener",
    ],
];

type Names = Vec<String>;

/// The code of every module, by its path in the crate.
struct Modules {
    code: BTreeMap<String, String>,
    /// By module: the names that it re-exports, with their paths.
    exports: BTreeMap<String, BTreeMap<String, Names>>,
}

impl Modules {
    fn read(sources: &[Source]) -> Self {
        let name = |path: &str| path.trim_end_matches(".rs").trim_end_matches("/mod").replace('/', "::");
        let code: BTreeMap<_, _> = sources.iter().map(|it| (name(&it.path), it.lines.join("\n"))).collect();
        let mut modules = Self { code, exports: BTreeMap::new() };
        for module in modules.code.keys() {
            let (exported, _) = paths(&modules.code[module]);
            let named = exported.into_iter().filter_map(|path| Some((path.last()?.clone(), modules.absolute(module, &path)?)));
            let named = named.collect();
            modules.exports.insert(module.clone(), named);
        }
        modules
    }

    /// Returns a path that `module` names from the root of the crate; `None` for other crates and names that are no paths of modules.
    fn absolute(&self, module: &str, path: &[String]) -> Option<Names> {
        let own: Names = module.split("::").map(str::to_owned).collect();
        let supers = path.iter().take_while(|part| *part == "super").count();
        let (base, rest) = match path.first()?.as_str() {
            "crate" => (&own[..0], &path[1..]),
            "self" => (&own[..], &path[1..]),
            "super" => (&own[..own.len().checked_sub(supers)?], &path[supers..]),
            child => (self.code.contains_key(&format!("{module}::{child}")).then_some(&own[..])?, path),
        };
        Some([base, rest].concat())
    }

    /// Returns the module that declares what a path names, through re-exports.
    fn declares(&self, path: Names) -> Option<String> {
        let mut path = path;
        for _ in 0..8 {
            let length = (1..=path.len()).rev().find(|length| self.code.contains_key(&path[..*length].join("::")))?;
            let module = path[..length].join("::");
            match path.get(length).and_then(|name| self.exports.get(&module)?.get(name)) {
                Some(target) => path = target.clone(),
                None => return Some(module),
            }
        }
        None
    }

    /// Returns the modules that each module depends on.
    fn dependencies(&self) -> BTreeMap<&str, BTreeSet<String>> {
        let of = |module: &str, code: &str| {
            let (_, used) = paths(code);
            let named = used.iter().filter_map(|path| self.declares(self.absolute(module, path)?));
            named.filter(|other| other != module).collect::<BTreeSet<_>>()
        };
        self.code.iter().map(|(module, code)| (module.as_str(), of(module, code))).collect()
    }
}

/// Returns the paths that code re-exports, and all others that it names.
fn paths(code: &str) -> (Vec<Names>, Vec<Names>) {
    let (mut exported, mut used, mut rest) = (Vec::new(), Vec::new(), String::new());
    let mut statement: Option<(bool, String)> = None;
    for line in code.lines() {
        let text = line.trim_start();
        let begins = || {
            let (visibility, tree) = text.split_once("use ")?;
            let is_use = visibility.is_empty() || visibility.starts_with("pub") && visibility.ends_with(' ');
            is_use.then(|| (!visibility.is_empty(), String::new())).filter(|_| !tree.is_empty())
        };
        let Some((is_export, mut tree)) = statement.take().or_else(begins) else {
            rest.push_str(&without_visibility(line));
            rest.push('\n');
            continue;
        };
        tree.push_str(if tree.is_empty() { text.split_once("use ").map_or(text, |it| it.1) } else { text });
        if let Some(tree) = tree.strip_suffix(';') {
            expand(&[], tree, if is_export { &mut exported } else { &mut used });
        } else {
            statement = Some((is_export, tree));
        }
    }
    let is_part = |letter: char| letter.is_alphanumeric() || letter == '_' || letter == ':';
    let chains = rest.split(|letter| !is_part(letter)).filter(|chain| chain.contains("::") && !chain.starts_with(':'));
    used.extend(chains.map(|chain| chain.split("::").map(str::to_owned).collect()));
    (exported, used)
}

/// Returns a line without `pub(in PATH)`, which is no dependency.
fn without_visibility(line: &str) -> String {
    let Some((before, after)) = line.split_once("pub(in ") else { return line.to_owned() };
    format!("{before}{}", after.split_once(')').map_or("", |it| it.1))
}

/// Adds the paths of a tree of `use`.
fn expand(prefix: &[String], tree: &str, paths: &mut Vec<Names>) {
    let mut depth = 0;
    let parts = tree.split(|letter: char| {
        depth += i32::from(letter == '{') - i32::from(letter == '}');
        letter == ',' && depth == 0
    });
    for part in parts.map(str::trim).filter(|part| !part.is_empty()) {
        let (path, inner) = part.split_once('{').map_or((part, None), |(path, inner)| (path, inner.strip_suffix('}')));
        let path = path.split(" as ").next().unwrap_or_default();
        // `self` at the end of a tree is the path before it.
        let names = path.split("::").map(str::trim).filter(|name| !name.is_empty() && (*name != "self" || prefix.is_empty()));
        let path: Names = prefix.iter().cloned().chain(names.map(str::to_owned)).collect();
        match inner {
            Some(inner) => expand(&path, inner, paths),
            None => paths.push(path),
        }
    }
}

/// Returns the part of the crate in which cycles are forbidden that a module belongs to.
fn part_of(module: &str) -> Option<String> {
    let mut names = module.split("::");
    match (names.next()?, names.next()) {
        ("db", _) => Some("db".to_owned()),
        (top @ ("domains" | "platform"), Some(name)) => Some(format!("{top}::{name}")),
        _ => None,
    }
}

/// Returns the modules that one module reaches inside of its part.
fn reached<'a>(from: &'a str, dependencies: &'a BTreeMap<&str, BTreeSet<String>>) -> BTreeSet<&'a str> {
    let (part, mut found, mut open) = (part_of(from), BTreeSet::new(), vec![from]);
    while let Some(module) = open.pop() {
        let next = dependencies.get(module).into_iter().flatten().map(String::as_str);
        open.extend(next.filter(|other| part_of(other) == part && found.insert(*other)));
    }
    found
}

#[test]
fn no_files_form_a_dependency_cycle() {
    let modules = Modules::read(&sources());
    let dependencies = modules.dependencies();
    assert!(dependencies.values().map(BTreeSet::len).sum::<usize>() > 1_000, "the dependencies were not found");
    let reaches: BTreeMap<&str, BTreeSet<&str>> = dependencies
        .keys()
        .filter(|module| part_of(module).is_some())
        .map(|module| (*module, reached(module, &dependencies)))
        .collect();
    let mut cycles = BTreeSet::new();
    for (module, others) in reaches.iter().filter(|(module, others)| others.contains(*module)) {
        cycles.insert(others.iter().filter(|other| reaches[*other].contains(module)).copied().collect::<Vec<_>>());
    }
    let is_allowed = |cycle: &Vec<&str>| ALLOWED.iter().any(|allowed| cycle == allowed);
    assert_no_violations("a dependency cycle of files", cycles.iter().filter(|it| !is_allowed(it)).map(|it| it.join(", ")));
    assert_no_violations(
        "a row of ALLOWED that is not a dependency cycle",
        ALLOWED.iter().filter(|it| !cycles.contains(**it)).map(|it| it.join(", ")),
    );
}
