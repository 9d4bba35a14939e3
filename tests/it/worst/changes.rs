//! Mutations: every one of the schema, with every field of its input at its bound.

use super::generator::Generator;
use super::inputs::{Call, Inputs};
use super::types::Field;
use serde_json::Value;

/// What takes away something that the others need: behind them, in this order.
const LAST: [&str; 15] = [
    "removeUserFromList",
    "removeCampaignKeywords",
    "removeAd",
    "stopCampaign",
    "unlikeStatus",
    "unfollowUser",
    "unmuteUser",
    "blockUser",
    "unblockUser",
    "deleteComment",
    "deleteStatus",
    "deleteUserList",
    "logOut",
    "endSessions",
    "deleteAccount",
];

/// A mutation.
pub(super) struct Change {
    pub field: String,
    pub text: String,
    pub variables: Value,
}

impl Generator<'_> {
    /// All mutations, in the order in which they can be run by one account: each with the least selection and with the largest. One that answers with
    /// no object is run with the largest alone, since it may work only once.
    pub(super) fn mutations(&mut self, inputs: &Inputs<'_>) -> Vec<Change> {
        let types = self.types();
        let mut fields: Vec<&Field> = types.fields("Mutation").iter().collect();
        fields.sort_by_key(|field| LAST.iter().position(|last| *last == field.name).map_or(0, |at| at + 1));
        let mut changes = Vec::new();
        for field in fields {
            let mut answered = types.fields(&field.of).iter().filter(|it| it.name != "userErrors");
            let least = answered.any(|it| types.is_selected(&it.of)).then(|| "userErrors { code }".to_owned());
            for selection in least.into_iter().chain([self.selection(&field.of, 4, "")]) {
                changes.extend(inputs.calls(field).into_iter().map(|call| change(field, call, &selection)));
            }
        }
        changes
    }
}

fn change(field: &Field, call: Call, selection: &str) -> Change {
    let text = format!("mutation{} {{ {}{} {{ {selection} }} }}", call.declared, field.name, call.passed);
    Change { field: field.name.clone(), text, variables: call.variables }
}
