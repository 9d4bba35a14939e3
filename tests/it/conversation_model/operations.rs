//! Random operations, and their requests.

use super::model::{Draft, Model, Operation, Policy, Text};
use crate::privacy_model::World;
use crate::privacy_model::model::{Audience, Operation as RelationOperation, PEOPLE};
use rand::Rng;
use rand::rngs::StdRng;
use rand::seq::IndexedRandom;
use serde_json::{Value, json};
use std::collections::BTreeSet;

/// The number of tags in all texts.
pub(super) const TAGS: usize = 4;
/// The most accounts that are deleted.
const MAX_DELETED: usize = 3;

/// Chooses operations on a model.
pub(super) struct Dice<'a> {
    pub(super) random: &'a mut StdRng,
    pub(super) model: &'a Model,
}

impl Dice<'_> {
    pub(super) fn operation(&mut self) -> Operation {
        let Some(at) = self.status() else { return Operation::Post(self.draft()) };
        let by = self.account();
        match self.random.random_range(0..1_000) {
            0..280 => Operation::Post(self.draft()),
            280..350 => Operation::Edit(self.mostly_author(at), at, self.edited(at)),
            350..400 => Operation::Delete(self.mostly_author(at), at),
            400..430 => Operation::SetPolicy(self.mostly_author(at), at, *Policy::ALL.choose(self.random).expect("policies")),
            430..500 => Operation::Like(by, at),
            500..520 => Operation::Unlike(by, at),
            520..620 => Operation::Repost(by, at),
            620..655 => self.of_mark(by, Operation::UndoRepost, |model| model.reposts.keys().copied().collect()),
            655..690 => Operation::Bookmark(by, at),
            690..705 => self.of_mark(by, Operation::RemoveBookmark, |model| model.bookmarks.keys().copied().collect()),
            705..740 => Operation::Pin(self.mostly_author(at), at),
            740..750 => Operation::Unpin(self.mostly_author(at), at),
            750..765 => Operation::FollowTag(by, self.random.random_range(0..TAGS), self.random.random_bool(0.6)),
            765..775 => Operation::ListTag(by, self.random.random_range(0..TAGS), self.random.random_bool(0.6)),
            775..790 => self.show_reposts(by),
            790..792 if self.model.deleted_accounts.len() < MAX_DELETED => Operation::DeleteAccount(by),
            _ => self.relation(),
        }
    }

    pub(super) fn account(&mut self) -> usize {
        loop {
            let account = self.random.random_range(0..PEOPLE);
            if !self.model.deleted_accounts.contains(&account) {
                return account;
            }
        }
    }

    /// A status, mostly a recent one, which may be deleted; often the last one, so that some conversations are deep.
    fn status(&mut self) -> Option<usize> {
        let all = self.model.statuses.len();
        match self.random.random_range(0..100) {
            0..10 => all.checked_sub(1),
            10..15 => (all > 0).then(|| self.random.random_range(0..all)),
            15..35 => self.model.living().choose(self.random).copied(),
            _ => {
                let living = self.model.living();
                living[living.len().saturating_sub(25)..].choose(self.random).copied()
            }
        }
    }

    fn mostly_author(&mut self, at: usize) -> usize {
        let author = self.model.author(at);
        let is_author = self.random.random_bool(0.9) && !self.model.deleted_accounts.contains(&author);
        if is_author { author } else { self.account() }
    }

    /// The end of a mark that exists, or that of a mark that does not.
    fn of_mark(
        &mut self,
        by: usize,
        operation: fn(usize, usize) -> Operation,
        marks: fn(&Model) -> Vec<(usize, usize)>,
    ) -> Operation {
        let mark = marks(self.model).choose(self.random).copied();
        match mark.filter(|_| self.random.random_bool(0.9)).or_else(|| Some((by, self.status()?))) {
            Some((by, at)) => operation(by, at),
            None => Operation::Post(self.draft()),
        }
    }

    /// Hides or shows the reposts of an account, mostly of one that is followed.
    fn show_reposts(&mut self, by: usize) -> Operation {
        let follows: Vec<(usize, usize)> = self.model.relations.follows.iter().copied().collect();
        let (by, other) = match follows.choose(self.random) {
            Some(pair) if self.random.random_bool(0.9) => *pair,
            _ => (by, self.account()),
        };
        Operation::ShowReposts(by, other, self.random.random_bool(0.4))
    }

    fn draft(&mut self) -> Draft {
        let parent = if self.random.random_bool(0.6) { self.status() } else { None };
        let quoted = if self.random.random_bool(0.15) { self.status() } else { None };
        let audience =
            if self.random.random_bool(0.8) { Audience::Public } else { Audience::ALL[self.random.random_range(0..4)] };
        let policy = if self.random.random_bool(0.75) { Policy::Everyone } else { Policy::ALL[self.random.random_range(0..4)] };
        let text = self.text(format!("m{}", self.model.statuses.len()));
        Draft { author: self.account(), audience, parent, quoted, policy, text }
    }

    /// The text of an edit, sometimes the same.
    fn edited(&mut self, at: usize) -> Text {
        let versions = &self.model.statuses[at].versions;
        if self.random.random_bool(0.1) {
            return self.model.text(at).clone();
        }
        self.text(format!("m{at}.{}", versions.len()))
    }

    fn text(&mut self, start: String) -> Text {
        let count = [0, 0, 0, 1, 2][self.random.random_range(0..5)];
        let mentions: BTreeSet<usize> = (0..count).map(|_| self.account()).collect();
        let count = [0, 0, 1, 2][self.random.random_range(0..4)];
        let tags: BTreeSet<usize> = (0..count).map(|_| self.random.random_range(0..TAGS)).collect();
        let message = mentions.iter().fold(start, |text, of| format!("{text} @p{of}"));
        let message = tags.iter().fold(message, |text, tag| format!("{text} #Tag{tag}"));
        Text { message, mentions, tags }
    }

    /// A change of a relation of accounts that exist, or of an audience.
    fn relation(&mut self) -> Operation {
        use RelationOperation as R;
        loop {
            let operation = RelationOperation::random(self.random, &self.model.relations);
            if matches!(operation, R::Post(..) | R::Delete(..) | R::Like(..) | R::Comment(..)) {
                continue;
            }
            let accounts = operation.accounts();
            if accounts.iter().all(|account| !self.model.deleted_accounts.contains(account)) {
                return Operation::Relation(operation);
            }
        }
    }
}

/// The account, the mutation and the input of an operation.
pub(super) fn request(world: &World, operation: &Operation) -> (usize, &'static str, Value) {
    use Operation as O;
    let status = |at: &usize| json!({ "statusId": world.statuses[*at] });
    let policy_of = |policy: &Policy| json!(format!("{policy:?}").to_uppercase());
    match operation {
        O::Relation(operation) => world.request(*operation),
        O::Post(draft) => {
            let (author, field, mut input) = world.request(RelationOperation::Post(draft.author, draft.audience));
            input["message"] = json!(draft.text.message);
            input["replyToId"] = json!(draft.parent.map(|at| &world.statuses[at]));
            input["quotedStatusId"] = json!(draft.quoted.map(|at| &world.statuses[at]));
            input["replyPolicy"] = policy_of(&draft.policy);
            (author, field, input)
        }
        O::Edit(by, at, text) => (*by, "editStatus", json!({ "statusId": world.statuses[*at], "message": text.message })),
        O::SetPolicy(by, at, policy) => {
            (*by, "setReplyPolicy", json!({ "statusId": world.statuses[*at], "replyPolicy": policy_of(policy) }))
        }
        O::Delete(by, at) => (*by, "deleteStatus", status(at)),
        O::Like(by, at) => (*by, "likeStatus", status(at)),
        O::Unlike(by, at) => (*by, "unlikeStatus", status(at)),
        O::Repost(by, at) => (*by, "repostStatus", status(at)),
        O::UndoRepost(by, at) => (*by, "undoRepost", status(at)),
        O::Bookmark(by, at) => (*by, "bookmarkStatus", status(at)),
        O::RemoveBookmark(by, at) => (*by, "removeBookmark", status(at)),
        O::Pin(by, at) => (*by, "pinStatus", status(at)),
        O::Unpin(by, at) => (*by, "unpinStatus", status(at)),
        O::FollowTag(by, tag, follows) => {
            (*by, if *follows { "followTag" } else { "unfollowTag" }, json!({ "name": format!("tag{tag}") }))
        }
        O::ListTag(by, tag, has) => {
            let field = if *has { "addTagToList" } else { "removeTagFromList" };
            (*by, field, json!({ "listId": world.lists[*by], "name": format!("#TAG{tag}") }))
        }
        O::ShowReposts(by, other, shown) => {
            (*by, "setRepostsShown", json!({ "userId": world.people[*other].id, "shown": shown }))
        }
        O::DeleteAccount(account) => (*account, "deleteAccount", json!({ "password": "correct horse" })),
    }
}
