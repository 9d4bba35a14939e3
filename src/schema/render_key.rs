//! The key by which subscriptions share rendered events: what they select, and for which viewer. Which events they receive is not part of it.

use crate::base::ids::UserId;
use crate::base::request::Request;
use async_graphql::parser::types::{
    Directive, DocumentOperations, ExecutableDocument, Field, FragmentDefinition, OperationDefinition, Selection, SelectionSet,
};
use async_graphql::{Name, Positioned, Value, Variables};
use std::collections::{BTreeSet, HashMap};
use std::convert::Infallible;

/// Fields with the same value for every viewer who can see the event, except for comments that a block hides: events of threads are rendered
/// for viewers with blocks alone. Any other field makes the key depend on the viewer.
const SAME_FOR_ALL: [&str; 34] = [
    "__typename",
    "author",
    "bio",
    "comment",
    "commentCount",
    "commentId",
    "createdAt",
    "cursor",
    "depth",
    "descendantCount",
    "downvoteCount",
    "editedAt",
    "followersCount",
    "followingCount",
    "id",
    "isDeleted",
    "isHidden",
    "isPrivate",
    "latitude",
    "likeCount",
    "location",
    "login",
    "longitude",
    "message",
    "name",
    "postedAt",
    "reason",
    "removedCount",
    "replyCount",
    "score",
    "status",
    "statusId",
    "statusesCount",
    "upvoteCount",
];

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
        let variables = used_of(&request.variables, &used);
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

fn used_of(variables: &Variables, used: &BTreeSet<Name>) -> String {
    let used: Vec<_> = variables.iter().filter(|(name, _)| used.contains(*name)).collect();
    serde_json::to_string(&used).unwrap_or_default()
}

/// The names of the variables in a parsed value, whose type the library does not export.
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

/// The variables and fields of the operation to run. Each fragment is visited once.
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
            (DocumentOperations::Multiple(named), Some(operation_name)) => &named.get(operation_name)?.node,
            (DocumentOperations::Multiple(named), None) => &named.values().next()?.node,
        };
        let (seen, variables) = (BTreeSet::new(), BTreeSet::new());
        let mut scan = Self { fragments: &document.fragments, seen, variables, same_for_all: true };
        scan.directives(&operation.directives);
        scan.set(&operation.selection_set.node, true);
        Some(scan)
    }

    fn set(&mut self, set: &'a SelectionSet, is_root: bool) {
        for selection in &set.items {
            match &selection.node {
                Selection::Field(field) => self.field(&field.node, is_root),
                Selection::InlineFragment(inline) => {
                    self.directives(&inline.node.directives);
                    self.set(&inline.node.selection_set.node, is_root);
                }
                Selection::FragmentSpread(spread) => {
                    self.directives(&spread.node.directives);
                    let name = &spread.node.fragment_name.node;
                    if let Some(fragment) = self.fragments.get(name).filter(|_| self.seen.insert(name)) {
                        self.directives(&fragment.node.directives);
                        self.set(&fragment.node.selection_set.node, is_root);
                    }
                }
            }
        }
    }

    fn field(&mut self, field: &'a Field, is_root: bool) {
        self.directives(&field.directives);
        if !is_root {
            // Arguments of the root field select events, and do not affect their rendering.
            self.variables.extend(field.arguments.iter().flat_map(|(_, value)| variables_in!(value)));
            self.same_for_all &= SAME_FOR_ALL.contains(&field.name.node.as_str());
        }
        self.set(&field.selection_set.node, false);
    }

    fn directives(&mut self, directives: &'a [Positioned<Directive>]) {
        let arguments = directives.iter().flat_map(|it| &it.node.arguments);
        self.variables.extend(arguments.flat_map(|(_, value)| variables_in!(value)));
    }
}
