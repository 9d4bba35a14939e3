//! The key by which subscriptions share rendered events: their selection and their viewer, but not the events that they receive.

use super::type_system::{Composite, innermost, type_system};
use crate::base::ids::UserId;
use crate::base::request::Request;
use async_graphql::parser::types::{
    Directive, DocumentOperations, ExecutableDocument, Field, FragmentDefinition, OperationDefinition, Selection, SelectionSet,
};
use async_graphql::{Name, Positioned, Value, Variables};
use std::collections::{BTreeSet, HashMap};
use std::convert::Infallible;

/// Types and those of their fields that have the same value for every viewer who can see the event, except for comments that a block hides: for a
/// viewer with blocks, events of threads are rendered with a key of the viewer ([`RenderKey::for_viewer`]). Any other field, and any other type,
/// makes the key depend on the viewer. A field of an interface has the same value in each of its types.
const SAME_FOR_ALL: [(&str, &[&str]); 16] = [
    ("Comment", &COMMENT_FIELDS),
    ("CommentAdded", &["comment", "cursor"]),
    ("CommentDeleted", &["commentId", "cursor", "removedCount"]),
    ("CommentEdited", &["comment", "cursor"]),
    ("CommentEvent", &["cursor"]),
    ("CommentVoted", &["comment", "cursor"]),
    ("Location", &["latitude", "longitude"]),
    ("RepostUndone", &["cursor", "statusId"]),
    ("Status", &["author", "commentCount", "editedAt", "id", "likeCount", "location", "message", "postedAt", "replyCount"]),
    ("StatusDeleted", &["cursor", "statusId"]),
    ("StatusEdited", &["cursor", "status"]),
    ("StatusEvent", &["cursor"]),
    ("StatusPosted", &["cursor", "status"]),
    ("StatusReposted", &["cursor", "status"]),
    ("StreamGap", &["cursor", "reason"]),
    ("User", &USER_FIELDS),
];

const USER_FIELDS: [&str; 14] = [
    "avatarUrl",
    "bannerUrl",
    "bio",
    "createdAt",
    "followersCount",
    "followingCount",
    "gender",
    "id",
    "isPrivate",
    "location",
    "login",
    "name",
    "statusesCount",
    "websiteUrl",
];

const COMMENT_FIELDS: [&str; 14] = [
    "author",
    "depth",
    "descendantCount",
    "downvoteCount",
    "editedAt",
    "id",
    "isDeleted",
    "isHidden",
    "message",
    "postedAt",
    "replyCount",
    "score",
    "status",
    "upvoteCount",
];

/// The type of the root of subscriptions.
const ROOT: &str = "Subscription";

/// An object or an interface of the schema.
fn composite(ty: &str) -> Option<&'static Composite> {
    type_system().get(ty)?.as_composite()
}

/// The fields of a type that are the same for all viewers; `None` for a type that is not listed.
fn same_for_all(ty: &str) -> Option<&'static [&'static str]> {
    SAME_FOR_ALL.iter().find(|(listed, _)| *listed == ty).map(|(_, fields)| *fields)
}

/// The render key of a subscription. Two subscriptions with the same key get the same response for the same event and cursor.
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
pub(super) struct RenderKey {
    query: String,
    operation: Option<String>,
    /// The variables that its selections use, as JSON.
    variables: String,
    /// The viewer, if the response depends on it.
    pub(super) viewer: Option<UserId>,
}

impl RenderKey {
    /// The key of a subscription that has passed the checks; `None` if the operation cannot be found.
    pub(super) fn new(request: &mut async_graphql::Request, context: &Request) -> Option<Self> {
        let (query, operation) = (request.query.clone(), request.operation_name.clone());
        let scan = SelectionScan::new(request.parsed_query().ok()?, operation.as_deref())?;
        let (used, same_for_all) = (scan.variables, scan.same_for_all);
        let variables = used_variables(&request.variables, &used);
        let viewer = context.viewer_id().filter(|_| !same_for_all);
        Some(Self { query, operation, variables, viewer })
    }
}

impl RenderKey {
    /// The key of the same subscription, rendered for one viewer alone.
    pub(super) fn for_viewer(&self, viewer: UserId) -> Self {
        Self { viewer: Some(viewer), ..self.clone() }
    }
}

/// The used variables, as JSON.
fn used_variables(variables: &Variables, used: &BTreeSet<Name>) -> String {
    let used: Vec<_> = variables.iter().filter(|(name, _)| used.contains(*name)).collect();
    serde_json::to_string(&used).unwrap_or_default()
}

/// The names of the variables in a parsed value (an `async_graphql_value::Value`).
macro_rules! variables_in {
    ($value:expr) => {{
        let mut names = Vec::new();
        let visited = $value.node.clone().into_const_with(|name| {
            names.push(name);
            Ok::<_, Infallible>(Value::Null)
        });
        drop(visited);
        names
    }};
}

/// A scan of the selections of the operation to run: the variables that they use, and whether [`SAME_FOR_ALL`] lists all their fields. Each fragment
/// is visited once.
struct SelectionScan<'a> {
    fragments: &'a HashMap<Name, Positioned<FragmentDefinition>>,
    seen: BTreeSet<&'a Name>,
    variables: BTreeSet<Name>,
    same_for_all: bool,
}

impl<'a> SelectionScan<'a> {
    fn new(document: &'a ExecutableDocument, operation_name: Option<&str>) -> Option<Self> {
        let operation: &OperationDefinition = match (&document.operations, operation_name) {
            (DocumentOperations::Single(only), _) => &only.node,
            (DocumentOperations::Multiple(operations), Some(operation_name)) => &operations.get(operation_name)?.node,
            (DocumentOperations::Multiple(operations), None) => &operations.values().next()?.node,
        };
        let (seen, variables) = (BTreeSet::new(), BTreeSet::new());
        let mut scan = Self { fragments: &document.fragments, seen, variables, same_for_all: true };
        scan.visit_directives(&operation.directives);
        scan.visit_selections(&operation.selection_set.node, Some(ROOT));
        Some(scan)
    }

    /// Visits the selections of a type. The type is unknown below a field that is not in the schema.
    fn visit_selections(&mut self, set: &'a SelectionSet, ty: Option<&'a str>) {
        for selection in &set.items {
            match &selection.node {
                Selection::Field(field) => self.visit_field(&field.node, ty),
                Selection::InlineFragment(inline) => {
                    self.visit_directives(&inline.node.directives);
                    let condition = inline.node.type_condition.as_ref().map(|condition| condition.node.on.node.as_str());
                    self.visit_selections(&inline.node.selection_set.node, condition.or(ty));
                }
                Selection::FragmentSpread(spread) => {
                    self.visit_directives(&spread.node.directives);
                    let name = &spread.node.fragment_name.node;
                    if let Some(fragment) = self.fragments.get(name).filter(|_| self.seen.insert(name)) {
                        self.visit_directives(&fragment.node.directives);
                        let condition = fragment.node.type_condition.node.on.node.as_str();
                        self.visit_selections(&fragment.node.selection_set.node, Some(condition));
                    }
                }
            }
        }
    }

    fn visit_field(&mut self, field: &'a Field, ty: Option<&'a str>) {
        self.visit_directives(&field.directives);
        let name = field.name.node.as_str();
        if ty != Some(ROOT) {
            // Arguments of the root field select events, and do not affect their rendering.
            self.variables.extend(field.arguments.iter().flat_map(|(_, value)| variables_in!(value)));
            let listed = ty.and_then(same_for_all);
            self.same_for_all &= listed.is_some_and(|fields| name == "__typename" || fields.contains(&name));
        }
        let inner = ty.and_then(|ty| Some(innermost(&composite(ty)?.fields.get(name)?.ty).as_str()));
        self.visit_selections(&field.selection_set.node, inner);
    }

    fn visit_directives(&mut self, directives: &'a [Positioned<Directive>]) {
        let arguments = directives.iter().flat_map(|directive| &directive.node.arguments);
        self.variables.extend(arguments.flat_map(|(_, value)| variables_in!(value)));
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn depends_on_viewer(selections: &str) -> bool {
        let document = format!("subscription Events {{ {selections} }} fragment Name on User {{ name }}");
        let mut request = async_graphql::Request::new(document);
        let document = request.parsed_query().expect("a document");
        !SelectionScan::new(document, None).expect("an operation").same_for_all
    }

    #[test]
    fn a_key_depends_on_the_viewer_by_type_and_field() {
        let status =
            |fields: &str| format!("homeTimelineEvents {{ __typename cursor ... on StatusPosted {{ status {{ {fields} }} }} }}");
        for shared in [
            "id message",
            "author { ...Name }",
            "a: author { ... { __typename login } } location { latitude }",
            "author { avatarUrl location }",
        ] {
            assert!(!depends_on_viewer(&status(shared)), "{shared}");
        }
        for selection in ["author { birthDate }", "author { age }", "author { ... { lastPostedAt } }"] {
            assert!(depends_on_viewer(&status(selection)), "{selection}");
        }
        for selection in
            ["viewerHasLiked", "author { viewerIsFollowing }", "quotedStatus { id }", "replyTo { author { ...Name } }"]
        {
            assert!(depends_on_viewer(&status(selection)), "{selection}");
        }
        // `name`, `id` and `cursor` are names of listed fields of other types.
        for selection in ["... on TypingStarted { user { name } }", "... on ViewerChatChanged { chat { id name } }", "cursor"] {
            assert!(depends_on_viewer(&format!("chatEvents {{ {selection} }}")), "{selection}");
        }
    }

    #[test]
    fn the_listed_fields_exist_and_do_not_name_the_viewer() {
        for (ty, fields) in SAME_FOR_ALL {
            let known = &composite(ty).unwrap_or_else(|| panic!("no type {ty}")).fields;
            for field in fields {
                assert!(known.contains_key(*field), "{ty} has no field {field}");
                assert!(!field.to_lowercase().contains("viewer"), "{ty}.{field}");
            }
        }
    }
}
