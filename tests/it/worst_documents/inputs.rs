//! Arguments of mutations and subscriptions: every field of an input at its bound, and ids and tokens of existing objects.

use super::types::{Argument, Field, Types};
use super::world::{BACKEND_USER, POSTER, TAG, WORD, World, keyword, login};
use serde_json::{Map, Value, json};
use std::cell::Cell;

/// Inputs with several groups of fields, of which exactly one group is used.
const EITHER: [(&str, &[&[&str]]); 5] = [
    ("AddCommentInput", &[&["statusId"], &["parentId"]]),
    ("CreateAdInput", &[&["snippet", "targetUrl"], &["statusId"]]),
    ("EndSessionsInput", &[&["sessionId"], &["allOthers"]]),
    ("RevokeSessionsInput", &[&["externalId"], &["jwtId"], &["jwtSessionId"]]),
    ("StatusFilter", &[&["sample"], &["track"], &["follow"], &["locations"]]),
];
/// One grapheme cluster, with the maximum average of bytes in a long text.
pub(super) const FLAG: &str = "🇩🇪";

/// Values for inputs from a world.
pub(super) struct Inputs<'a> {
    world: &'a World,
    types: &'a Types,
    /// The number of used texts: it makes logins and idempotency keys unique.
    used: Cell<usize>,
}

/// The call of a root field: the declared variables, the arguments, and the values of the variables.
pub(super) struct Call {
    pub declared: String,
    pub passed: String,
    pub variables: Value,
}

impl<'a> Inputs<'a> {
    pub(super) fn new(world: &'a World, types: &'a Types) -> Self {
        Self { world, types, used: Cell::new(0) }
    }

    /// Returns the calls of a field: one for each exclusive group of fields.
    pub(super) fn calls(&self, field: &Field) -> Vec<Call> {
        let mut calls = vec![Map::new()];
        for argument in &field.arguments {
            let values = self.alternatives(&field.name, argument);
            assert!(!values.is_empty() || !argument.is_required, "no value for {} of {}", argument.name, field.name);
            if values.is_empty() {
                continue;
            }
            let with = |variables: &Map<String, Value>, value: &Value| {
                let mut variables = variables.clone();
                variables.insert(argument.name.clone(), value.clone());
                variables
            };
            calls = calls
                .iter()
                .flat_map(|variables| values.iter().map(|value| with(variables, value)).collect::<Vec<_>>())
                .collect();
        }
        for variables in &mut calls {
            // `identifier` is only valid with a sample.
            if variables.get("filter").is_some_and(|filter| filter["sample"].is_null()) {
                variables.remove("identifier");
            }
        }
        calls.into_iter().map(|variables| Self::call(field, variables)).collect()
    }

    fn call(field: &Field, variables: Map<String, Value>) -> Call {
        let passed_arguments: Vec<&Argument> = field.arguments.iter().filter(|it| variables.contains_key(&it.name)).collect();
        let all = |each: &dyn Fn(&&Argument) -> String| match passed_arguments.is_empty() {
            true => String::new(),
            false => format!("({})", passed_arguments.iter().map(each).collect::<Vec<_>>().join(", ")),
        };
        let declared = all(&|it| format!("${}: {}", it.name, it.declared));
        let passed = all(&|it| format!("{}: ${}", it.name, it.name));
        Call { declared, passed, variables: Value::Object(variables) }
    }

    /// Returns the alternative values of an argument or a field: several for exclusive groups, none if it is optional and has no known value.
    fn alternatives(&self, owner: &str, argument: &Argument) -> Vec<Value> {
        if self.types.inputs(&argument.of).is_none() || argument.is_list {
            return self.value(owner, argument).into_iter().collect();
        }
        let groups = EITHER.iter().find(|(of, _)| *of == argument.of).map_or(&[][..], |(_, groups)| *groups);
        if groups.is_empty() {
            return vec![self.object(&argument.of, &[])];
        }
        groups.iter().map(|group| self.object(&argument.of, &without(groups, group))).collect()
    }

    /// Returns an input object with all its fields except `left_out`.
    fn object(&self, of: &str, left_out: &[&str]) -> Value {
        let mut fields = Map::new();
        for field in self.types.inputs(of).unwrap_or_default() {
            if left_out.contains(&field.name.as_str()) {
                continue;
            }
            let value = self.alternatives(of, field).into_iter().next();
            assert!(value.is_some() || !field.is_required, "no value for {} of {of}", field.name);
            fields.extend(value.map(|value| (field.name.clone(), value)));
        }
        if fields.contains_key("slot") && fields.contains_key("statusId") {
            fields.insert("slot".into(), json!("IN_FEED"));
        }
        Value::Object(fields)
    }

    /// Returns an existing object's value, or a value at the bound of the field's type.
    fn value(&self, owner: &str, field: &Argument) -> Option<Value> {
        if let Some(value) = self.of_world(owner, &field.name) {
            return Some(value);
        }
        let bounds = self.bounds(field);
        let text = |number: usize| text(&field.description, number, bounds.last().copied());
        match field.of.as_str() {
            "String" if field.is_list => Some((0..*bounds.first()?).map(|at| json!(keyword(at))).collect()),
            "String" if !bounds.is_empty() || field.is_required => Some(json!(text(self.next()))),
            "Boolean" => Some(json!(true)),
            "Int" => Some(json!(bounds.last().copied().unwrap_or(1))),
            "Float" => Some(json!(edge(&field.name).unwrap_or(bounds.last().copied().unwrap_or(1) as f64))),
            "Decimal" => Some(json!("1000")),
            of if field.is_list && self.types.inputs(of).is_some() => {
                Some((0..*bounds.first()?).map(|_| self.object(of, &[])).collect())
            }
            of => {
                let values = self.types.values(of)?;
                let preferred = ["BANNER", "UP", "ADMIN"];
                Some(json!(values.iter().find(|value| preferred.contains(&value.as_str())).or(values.first())?))
            }
        }
    }

    fn next(&self) -> usize {
        self.used.set(self.used.get() + 1);
        self.used.get()
    }

    /// Returns the bounds in a field's description, or else in the description of another field with the same name.
    fn bounds(&self, field: &Argument) -> Vec<usize> {
        let own = bounds_in(&field.description);
        let others = || self.types.inputs_named(&field.name).map(|it| bounds_in(&it.description)).find(|it| !it.is_empty());
        if own.is_empty() { others().unwrap_or_default() } else { own }
    }

    /// Returns a value that must refer to an existing object, or must have a certain form.
    fn of_world(&self, owner: &str, name: &str) -> Option<Value> {
        let world = self.world;
        let id = |of: &str| world.ids.get(of).map(|id| json!(id));
        match name {
            "campaignId" => Some(json!(world.campaign)),
            "adId" => id("Ad"),
            // Statuses of a private account cannot be promoted.
            "isPrivate" => Some(json!(false)),
            "listId" => id("UserList"),
            "replyToId" if owner == "SendMessageInput" => id("ChatMessage"),
            "statusId" | "replyToId" | "quotedStatusId" => id("Status"),
            "commentId" | "parentId" => id("Comment"),
            "sessionId" => id("Session"),
            "userId" if owner == "RemoveChatMemberInput" => {
                Some(json!(world.chats.members[self.next() % world.chats.members.len()]))
            }
            "userId" if owner == "SetChatMemberRoleInput" => Some(json!(world.poster.id)),
            // The stranger's chat is a request.
            "userId" if owner == "StartDirectChatInput" => Some(json!(world.poster.id)),
            "userId" => Some(json!(world.stranger)),
            "userIds" => Some(json!(world.chats.others)),
            "chatId" if owner == "AcceptChatRequestInput" => Some(json!(world.chats.requests[0])),
            "chatId" if owner == "DeclineChatRequestInput" => Some(json!(world.chats.requests[1])),
            "chatId" => id("Chat"),
            "messageId" if owner == "DeleteMessageInput" => Some(json!(world.chats.texts[self.next() % world.chats.texts.len()])),
            "messageId" => id("ChatMessage"),
            "emoji" => Some(json!("👍")),
            "until" => Some(json!("2026-12-01T00:00:00Z")),
            "after" => world.cursors.get(owner).map(|cursor| json!(cursor)),
            "websiteId" => id("Website"),
            "websiteKey" => Some(json!(world.website_key)),
            "token" => Some(json!(world.tokens.click)),
            "tokens" => Some(json!(world.tokens.promoted)),
            "deviceToken" => Some(json!(world.tokens.device)),
            "login" if owner == "LogInInput" => Some(json!(world.heavy.login)),
            "currentPassword" | "newPassword" => Some(json!("correct horse")),
            "externalId" if owner != "ProvisionUserInput" => Some(json!(BACKEND_USER)),
            "jwtId" | "jwtSessionId" => Some(json!("x".repeat(64))),
            "ttlSeconds" => Some(json!(3_600)),
            // Confirmed at once: each account has another one.
            "email" if owner == "ProvisionUserInput" => Some(json!(format!("{:l<64}@example.org", self.next()))),
            "email" => Some(json!(format!("{}@example.org", "l".repeat(64)))),
            "password" if owner != "SignUpInput" => Some(json!("correct horse")),
            "origin" => Some(json!("https://news.example")),
            "targetUrl" => Some(json!(format!("{:x<2048}", "https://tea.example/"))),
            "avatarUrl" | "bannerUrl" | "websiteUrl" => Some(json!(format!("{:x<2000}", "https://tea.example/"))),
            "birthDate" => Some(json!("2000-02-29")),
            "startsAt" => Some(json!("2026-02-01T00:00:00Z")),
            "endsAt" => Some(json!("2026-12-01T00:00:00Z")),
            "follow" => Some((POSTER..POSTER + 5_000).map(|at| json!(login(at))).collect()),
            "name" if owner.contains("Tag") || owner == "tagTimelineEvents" => Some(json!(TAG)),
            "track" => Some((0..400).map(|at| json!(if at == 0 { WORD.to_owned() } else { keyword(at) })).collect()),
            _ => None,
        }
    }
}

/// Returns the fields of all groups except one.
fn without<'a>(groups: &[&[&'a str]], group: &[&'a str]) -> Vec<&'a str> {
    groups.iter().flat_map(|it| it.iter().copied()).filter(|it| !group.contains(it)).collect()
}

/// Returns the numbers after "to" and "most" in a description.
fn bounds_in(description: &str) -> Vec<usize> {
    let words: Vec<&str> = description.split_whitespace().collect();
    let number = |word: &str| word.trim_end_matches(|it: char| !it.is_ascii_digit()).replace(',', "").parse().ok();
    let bound = |pair: &[&str]| if matches!(pair[0], "to" | "most") { number(pair[1]) } else { None };
    words.windows(2).filter_map(bound).collect()
}

/// Returns a text of the maximum length with a unique beginning; a short text without a bound.
fn text(description: &str, number: usize, bound: Option<usize>) -> String {
    let begin = format!("x{number}");
    let is_plain = ["ASCII", "bytes", "letters"].iter().any(|word| description.contains(word));
    let fill = if is_plain { "x" } else { FLAG };
    let rest = bound.map_or(0, |bound| bound.saturating_sub(begin.len()));
    begin + &fill.repeat(rest)
}

/// Returns the edges of a box around the whole earth.
fn edge(name: &str) -> Option<f64> {
    match name {
        "minLatitude" => Some(-90.0),
        "maxLatitude" => Some(90.0),
        "minLongitude" => Some(-180.0),
        "maxLongitude" => Some(180.0),
        _ => None,
    }
}
