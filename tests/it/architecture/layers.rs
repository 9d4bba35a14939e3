//! Dependencies between modules: which modules use Redis, axum, async-graphql and the libraries of metrics and traces, and that modules depend on lower
//! layers only.

use super::{AD_PARTS, LAYERS, Source, assert_no_violations, layer_of, quoted, sources};
use std::collections::BTreeSet;
use std::fs;
use std::path::Path;

/// The modules of `domains/ads` outside of the order of [`AD_PARTS`]. They may depend on all parts.
const AD_SURFACE: [&str; 5] = ["audit", "graphql", "lua", "mod", "service"];

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
