//! All mutations of the schema, with every field of their inputs at its bound.

use super::generator::Generator;
use super::inputs::{Call, Inputs};
use super::types::Field;
use serde_json::Value;

/// Mutations that remove objects that the others need. They run last, in this order.
const LAST: [&str; 36] = [
    "deleteMessage",
    "deleteChatHistory",
    "removeChatMember",
    "leaveChat",
    "unfollowTag",
    "removeTagFromList",
    "removeUserFromList",
    "removeCampaignKeywords",
    "removeAd",
    "stopCampaign",
    "unlikeStatus",
    "removeBookmark",
    "undoRepost",
    "unpinStatus",
    "unfollowUser",
    "acceptFriendRequest",
    "requestFriend",
    "rejectFriendRequest",
    "removeFriend",
    "removeFollower",
    "unmuteUser",
    "blockUser",
    "unblockUser",
    "deleteComment",
    "deleteStatus",
    "deleteUserList",
    "logOut",
    "endSessions",
    "changeEmail",
    "resendEmailConfirmation",
    "requestPasswordReset",
    "changePassword",
    "issueSession",
    "revokeSessions",
    "removeUser",
    "deleteAccount",
];

/// Mutations that need a token that only a message has. They change the keys of one account.
const BY_TOKEN: [&str; 2] = ["confirmEmail", "resetPassword"];

/// Mutations of a backend, which need its server key.
pub(super) const OF_BACKENDS: [&str; 4] = ["provisionUser", "issueSession", "revokeSessions", "removeUser"];

/// A mutation.
pub(super) struct Change {
    pub field: String,
    pub text: String,
    pub variables: Value,
}

impl Generator<'_> {
    /// Returns all mutations in an order in which one account can run them, each with the smallest and the largest selection. A mutation whose payload has
    /// no object gets the largest selection only, since it may succeed only once.
    pub(super) fn mutations(&mut self, inputs: &Inputs<'_>) -> Vec<Change> {
        let types = self.types();
        let fields = types.fields("Mutation").iter().filter(|field| !BY_TOKEN.contains(&field.name.as_str()));
        let mut fields: Vec<&Field> = fields.collect();
        fields.sort_by_key(|field| LAST.iter().position(|last| *last == field.name).map_or(0, |at| at + 1));
        let mut changes = Vec::new();
        for field in fields {
            let mut payload_fields = types.fields(&field.of).iter().filter(|it| it.name != "userErrors");
            let smallest = payload_fields.any(|it| types.is_selected(&it.of)).then(|| "userErrors { code }".to_owned());
            for selection in smallest.into_iter().chain([self.selection(&field.of, 4, "")]) {
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
