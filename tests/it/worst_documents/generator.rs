//! Generates queries from the schema: every field with its arguments at their bounds, with the maximum of aliases, and nested pages.

use super::types::{Argument, Field, Types};
use super::world::{POSTER, TAG, World, login};
use rand::rngs::StdRng;
use rand::seq::IndexedRandom;
use rand::{Rng, SeedableRng};
use serde_json::Value;
use std::collections::{BTreeMap, BTreeSet, VecDeque};
use waxwing::domains::ads::MAX_DAYS;

/// The seed: the documents are the same in each run.
const SEED: u64 = 18;
/// The number of aliases of one field: the maximum of root fields.
const ALIASES: usize = 20;
/// The number of nested pages: a uniform sample of all pairs.
const NESTED: usize = 200;

/// A generated document.
pub(super) struct Document {
    pub text: String,
    /// A document whose response has the cursor for `$cursor`.
    pub finds_cursor: Option<String>,
}

/// All generated queries.
pub(super) struct Queries {
    /// Every field, alone.
    pub fields: Vec<Document>,
    /// Pages in each item of a page.
    pub nested: Vec<Document>,
}

/// Returns a cursor in the middle of the list of a response.
pub(super) fn cursor_in(response: &Value) -> Option<String> {
    fn collect<'a>(response: &'a Value, found: &mut Vec<&'a str>) {
        match response {
            Value::Object(members) => {
                found.extend(members.get("cursor").and_then(Value::as_str));
                members.values().for_each(|value| collect(value, found));
            }
            Value::Array(items) => items.iter().for_each(|item| collect(item, found)),
            _ => {}
        }
    }
    let mut found = Vec::new();
    collect(response, &mut found);
    found.get(found.len() / 2).map(|cursor| (*cursor).to_owned())
}

/// Returns an operation that declares the variables of its body.
fn operation(body: &str) -> String {
    let variables = [("$cursor", "String"), ("$ids", "[ID!]!"), ("$words", "[String!]!")];
    let used: Vec<String> =
        variables.iter().filter(|(name, _)| body.contains(name)).map(|(name, ty)| format!("{name}: {ty}")).collect();
    if used.is_empty() { format!("{{ {body} }}") } else { format!("query({}) {{ {body} }}", used.join(", ")) }
}

/// The path to an object of a type: the text before and after its selection.
#[derive(Clone, Default)]
struct Route {
    before: String,
    after: String,
}

/// The route to an account with as many friends as the viewer. The viewer has no friends in common with itself.
fn other_account() -> Route {
    Route { before: format!("user(login: {:?}) {{ ", login(POSTER)), after: " }".to_owned() }
}

/// The route to the deepest reply: the root of a conversation has no ancestors.
fn reply(world: &World) -> Route {
    Route { before: format!("node(id: {:?}) {{ ... on Status {{ ", world.reply), after: " } }".to_owned() }
}

/// Returns the paths to timelines that read in different ways: a home, a profile with reposts, a tag, and mentions.
fn timelines() -> [Route; 4] {
    let route = |before: &str, after: &str| Route { before: before.to_owned(), after: after.to_owned() };
    [
        route("homeTimeline { ", " }"),
        route("viewer { profileTimeline(includeReposts: true) { ", " } }"),
        route(&format!("tag(name: {TAG:?}) {{ timeline {{ "), " } }"),
        route("viewerMentions { ", " }"),
    ]
}

pub(super) struct Generator<'a> {
    world: &'a World,
    types: &'a Types,
    /// The enum value of each argument: always the same, so that a cursor has the order of the page after it.
    enum_values: BTreeMap<String, String>,
    dice: StdRng,
}

impl<'a> Generator<'a> {
    pub(super) fn new(world: &'a World, types: &'a Types) -> Self {
        Self { world, types, enum_values: BTreeMap::new(), dice: StdRng::seed_from_u64(SEED) }
    }

    pub(super) const fn types(&self) -> &'a Types {
        self.types
    }

    /// Returns all queries.
    pub(super) fn queries(&mut self) -> Queries {
        let (routes, of_other, of_reply) = (self.routes(), other_account(), reply(self.world));
        let (mut documents, mut nested) = (BTreeMap::new(), Vec::new());
        for (of, route) in &routes {
            for field in self.types.fields(of) {
                if !self.types.is_selected(&field.of) {
                    self.leaf(&mut documents, route, field);
                } else {
                    let route = match field.name.as_str() {
                        "mutualFriends" => &of_other,
                        "ancestors" => &of_reply,
                        _ => route,
                    };
                    self.object(&mut documents, route, field);
                    if of == "Timeline" && field.name == "entries" {
                        for route in timelines() {
                            self.object(&mut documents, &route, field);
                        }
                    }
                    self.nest(&mut nested, route, field);
                }
            }
        }
        let mut drawn = BTreeSet::new();
        for _ in 0..NESTED.min(nested.len()) {
            let at = self.dice.random_range(0..nested.len());
            drawn.insert(nested.swap_remove(at));
        }
        Queries {
            fields: documents.into_iter().map(|(text, finds_cursor)| Document { text, finds_cursor }).collect(),
            nested: drawn.into_iter().map(|text| Document { text, finds_cursor: None }).collect(),
        }
    }

    /// Returns the shortest path to each object type.
    fn routes(&mut self) -> BTreeMap<String, Route> {
        let (mut routes, mut next) = (BTreeMap::new(), VecDeque::from([("Query".to_owned(), Route::default())]));
        while let Some((of, route)) = next.pop_front() {
            if routes.contains_key(&of) {
                continue;
            }
            for field in self.types.fields(&of) {
                for (member, selects) in self.members(&field.of) {
                    let arguments = self.arguments(field, "first: 1", Some(&member));
                    let before = format!("{}{}{arguments} {{ {selects}", route.before, field.name);
                    let after = format!("{} }}{}", if selects.is_empty() { "" } else { " }" }, route.after);
                    next.push_back((member, Route { before, after }));
                }
            }
            routes.insert(of, route);
        }
        routes
    }

    /// Returns the object types of a type, each with the beginning of a selection of it.
    fn members(&self, of: &str) -> Vec<(String, String)> {
        match self.types.members(of) {
            Some(members) => {
                let known = members.iter().filter(|member| of != "Node" || self.world.ids.contains_key(member.as_str()));
                known.map(|member| (member.clone(), format!("... on {member} {{ "))).collect()
            }
            None if self.types.is_selected(of) => vec![(of.to_owned(), String::new())],
            None => Vec::new(),
        }
    }

    /// Returns all arguments of a field, with `page` for those that select a page.
    fn arguments(&mut self, field: &Field, page: &str, of: Option<&str>) -> String {
        let mut passed = Vec::new();
        for argument in &field.arguments {
            let (name, ty) = (&argument.name, &argument.of);
            if matches!(name.as_str(), "first" | "last" | "after" | "before") {
                continue;
            }
            // `around` can be combined with `first` only.
            if name == "around" && (page.starts_with("last") || page.contains("$cursor")) {
                continue;
            }
            let value = self.value(&field.name, argument, of);
            assert!(value.is_some() || !argument.is_required, "no value for {name}: {ty} of {}", field.name);
            passed.extend(value.map(|value| format!("{name}: {value}")));
        }
        if field.pages() {
            passed.push(page.to_owned());
        }
        if passed.is_empty() { String::new() } else { format!("({})", passed.join(", ")) }
    }

    fn value(&mut self, field: &str, argument: &Argument, of: Option<&str>) -> Option<String> {
        let (name, ty) = (argument.name.as_str(), argument.of.as_str());
        if argument.is_list {
            // Lists are variables: in the document the limit of tokens would bound them.
            return Some(if ty == "ID" { "$ids" } else { "$words" }.to_owned());
        }
        let id = |of: &str| self.world.ids.get(of).map(|id| format!("{id:?}"));
        match (ty, name) {
            ("ID", "campaignId") => id("Campaign"),
            ("ID", "listId") => id("UserList"),
            ("ID", "statusId") => id("Status"),
            ("ID", _) => id(of.unwrap_or("User")),
            ("String", "login") => Some(format!("{:?}", self.world.heavy.login)),
            ("String", "name") => Some(format!("{TAG:?}")),
            ("String", _) => Some("\"x\"".into()),
            ("Int", "days") => Some(MAX_DAYS.to_string()),
            // `first` times `perChat` is at most 1,000.
            ("Int", "perChat") => Some("10".into()),
            ("Int", _) => Some("64".into()),
            ("Boolean", _) => Some("true".into()),
            _ => {
                let values = self.types.values(ty)?;
                // The slot that has ads; for other enums any value.
                if values.iter().any(|value| value == "BANNER") {
                    return Some("BANNER".into());
                }
                let enum_values = values.choose(&mut self.dice).cloned().unwrap_or_default();
                Some(self.enum_values.entry(format!("{field}.{name}: {ty}")).or_insert(enum_values).clone())
            }
        }
    }

    /// Returns a selection of all fields of an object, this many levels deep, without nested pages.
    pub(super) fn selection(&mut self, of: &str, levels: usize, page: &str) -> String {
        let mut parts = Vec::new();
        // Fields of two member types may not merge, so only one member type is selected.
        for (member, selects) in self.members(of).into_iter().take(1) {
            let mut inner = vec!["__typename".to_owned()];
            for field in self.types.fields(&member) {
                let is_object = !self.members(&field.of).is_empty();
                if is_object && (levels == 0 || field.pages() && page.is_empty()) {
                    continue;
                }
                let arguments = self.arguments(field, page, None);
                let below =
                    if is_object { format!(" {{ {} }}", self.selection(&field.of, levels - 1, "")) } else { String::new() };
                inner.push(format!("{}{arguments}{below}", field.name));
            }
            parts.push(format!("{selects}{}{}", inner.join(" "), if selects.is_empty() { "" } else { " }" }));
        }
        parts.join(" ")
    }

    /// Adds a document for a field that is no object, with all its aliases.
    fn leaf(&mut self, documents: &mut BTreeMap<String, Option<String>>, route: &Route, field: &Field) {
        let arguments = self.arguments(field, "", None);
        let many: String = (0..ALIASES).map(|at| format!("a{at}: {}{arguments} ", field.name)).collect();
        documents.insert(operation(&format!("{}{many}{}", route.before, route.after)), None);
    }

    /// Adds documents for a field that is an object or a list of objects: the largest and the smallest page at both ends and in the middle, once and with
    /// the maximum of aliases.
    fn object(&mut self, documents: &mut BTreeMap<String, Option<String>>, route: &Route, field: &Field) {
        let pages: &[&str] = match (field.pages(), field.has("last")) {
            (true, true) => &[
                "first: 100",
                "first: 1",
                "last: 100",
                "last: 1",
                "first: 100, after: $cursor",
                "first: 1, after: $cursor",
                "last: 100, before: $cursor",
                "last: 1, before: $cursor",
            ],
            (true, false) => &["first: 100", "first: 1", "first: 100, after: $cursor", "first: 1, after: $cursor"],
            (false, _) => &[""],
        };
        for page in pages {
            let has_cursor = page.contains("$cursor");
            let finds = has_cursor.then(|| {
                // The middle of the list, or the end of the first page if the list can only be read from its beginning.
                let near = if field.has("last") { "last: 100" } else { "first: 100" };
                let arguments = self.arguments(field, near, None);
                operation(&format!("{}{}{arguments} {{ edges {{ cursor }} }}{}", route.before, field.name, route.after))
            });
            let ofs: Vec<Option<String>> = match self.types.members(&field.of) {
                Some(_) => self.members(&field.of).into_iter().map(|(member, _)| Some(member)).collect(),
                None => vec![None],
            };
            for of in ofs {
                let arguments = self.arguments(field, page, of.as_deref());
                let least: String =
                    (0..ALIASES).map(|at| format!("a{at}: {}{arguments} {{ __typename }} ", field.name)).collect();
                let complete = match &of {
                    Some(member) => format!("... on {member} {{ {} }}", self.selection(member, 4, "")),
                    None => self.selection(&field.of, 4, ""),
                };
                for inner in [least, format!("{}{arguments} {{ {complete} }}", field.name)] {
                    documents.insert(operation(&format!("{}{inner}{}", route.before, route.after)), finds.clone());
                }
            }
        }
    }

    /// Adds documents with a page in each item of a page: every field below it, with the smallest and the largest page.
    fn nest(&mut self, nested: &mut Vec<String>, route: &Route, field: &Field) {
        let mut seen = BTreeSet::new();
        let mut below = vec![(field.of.clone(), String::new(), String::new())];
        while let Some((of, before, after)) = below.pop() {
            if !seen.insert(of.clone()) || seen.len() > 8 {
                continue;
            }
            for (member, selects) in self.members(&of) {
                let close = if selects.is_empty() { "" } else { " }" };
                for inner in self.types.fields(&member) {
                    if self.members(&inner.of).is_empty() {
                        continue;
                    }
                    if !inner.pages() {
                        let arguments = self.arguments(inner, "", None);
                        let open = format!("{before}{selects}{}{arguments} {{ ", inner.name);
                        below.push((inner.of.clone(), open, format!(" }}{close}{after}")));
                        continue;
                    }
                    for (outer, page) in [("first: 100", "first: 1"), ("first: 100", "last: 1"), ("first: 15", "first: 100")] {
                        if page.starts_with("last") && !inner.has("last") {
                            continue;
                        }
                        let (outer, page) = (self.arguments(field, outer, None), self.arguments(inner, page, None));
                        let selected = format!("{before}{selects}{}{page} {{ __typename }}{close}{after}", inner.name);
                        let body = format!("{}{}{outer} {{ {selected} }}{}", route.before, field.name, route.after);
                        nested.push(operation(&body));
                    }
                }
            }
        }
    }
}
