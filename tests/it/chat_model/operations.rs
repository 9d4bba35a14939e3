//! Operations on chats: random ones that meet, and their requests.

use super::World;
use super::model::{Kind, Model, Role, State, Who};
use crate::privacy_model::model::{Operation as RelationOperation, PEOPLE};
use crate::support::START;
use rand::Rng;
use rand::rngs::StdRng;
use rand::seq::IndexedRandom;
use serde_json::{Value, json};

/// The groups that live at the same time.
const GROUPS: usize = 4;
/// Those who have direct chats.
const PAIRS: [(usize, usize); 5] = [(0, 1), (2, 3), (0, 2), (4, 5), (1, 4)];
const EMOJI: [&str; 14] = ["👍", "❤️", "😀", "🎉", "🔥", "👀", "🙏", "💯", "✅", "🚀", "🍎", "🐦", "🌍", "⚽"];

#[derive(Clone, Debug)]
pub(super) enum Operation {
    Relation(RelationOperation),
    Start(usize, usize),
    Group {
        by: usize,
        name: String,
        others: Vec<usize>,
        shows_all: bool,
    },
    Send {
        by: usize,
        chat: usize,
        text: String,
        reply: Option<usize>,
    },
    /// The account, and the chat with the number of the row.
    Edit(usize, (usize, usize), String),
    Delete(usize, (usize, usize)),
    React(usize, (usize, usize), &'static str),
    Unreact(usize, (usize, usize), &'static str),
    /// The account, the chat, and the position.
    Seen(usize, usize, i64),
    Typing(usize, usize),
    Add(usize, usize, Vec<usize>),
    Remove(usize, usize, usize),
    SetRole(usize, usize, usize, Role),
    Leave(usize, usize),
    Rename(usize, usize, String),
    /// For some seconds, or until it is unmuted.
    Mute(usize, usize, Option<i64>),
    Unmute(usize, usize),
    Archive(usize, usize, bool),
    Clear(usize, usize),
    Accept(usize, usize),
    Decline(usize, usize),
    Settings(usize, Option<Who>, Option<bool>),
    /// The days after which messages are deleted that all have seen, longer than a test takes; none for those of the server.
    Retention(usize, usize, Option<i64>),
}

impl Operation {
    /// The account that runs it.
    pub(super) fn actor(&self) -> usize {
        use Operation as O;
        match self {
            O::Relation(operation) => operation.accounts()[0],
            O::Start(by, _) | O::Group { by, .. } | O::Settings(by, ..) => *by,
            O::Edit(by, ..) | O::Delete(by, _) | O::React(by, ..) | O::Unreact(by, ..) => *by,
            operation => operation.actor_and_chat().0,
        }
    }

    /// The account and the chat of an operation that names a chat.
    pub(super) fn actor_and_chat(&self) -> (usize, usize) {
        use Operation as O;
        match self {
            O::Send { by, chat, .. }
            | O::Seen(by, chat, _)
            | O::Typing(by, chat)
            | O::Add(by, chat, _)
            | O::Remove(by, chat, _)
            | O::SetRole(by, chat, ..)
            | O::Leave(by, chat)
            | O::Rename(by, chat, _)
            | O::Mute(by, chat, _)
            | O::Unmute(by, chat)
            | O::Archive(by, chat, _)
            | O::Clear(by, chat)
            | O::Accept(by, chat)
            | O::Decline(by, chat)
            | O::Retention(by, chat, _) => (*by, *chat),
            _ => panic!("{self:?} names no chat"),
        }
    }

    /// The mutation and its input.
    pub(super) fn request(&self, world: &World) -> (&'static str, Value) {
        use Operation as O;
        let id = |user: &usize| json!(world.people.people[*user].id);
        let ids = |users: &[usize]| users.iter().map(id).collect::<Vec<Value>>();
        let of_chat = |chat: &usize| json!(world.chats[*chat]);
        let upper = |name: String| name.to_uppercase();
        match self {
            O::Relation(operation) => {
                let (_, field, input) = world.people.request(*operation);
                (field, input)
            }
            O::Start(_, other) => ("startDirectChat", json!({ "userId": id(other) })),
            O::Group { name, others, shows_all, .. } => {
                let history = if *shows_all { "ALL" } else { "FROM_JOIN" };
                ("createGroupChat", json!({ "name": name, "userIds": ids(others), "history": history }))
            }
            O::Send { chat, text, reply, .. } => {
                let reply = reply.map(|reply| world.message((*chat, reply)));
                ("sendMessage", json!({ "chatId": of_chat(chat), "text": text, "replyToId": reply }))
            }
            O::Edit(_, at, text) => ("editMessage", json!({ "messageId": world.message(*at), "text": text })),
            O::Delete(_, at) => ("deleteMessage", json!({ "messageId": world.message(*at) })),
            O::React(_, at, emoji) => ("reactToMessage", json!({ "messageId": world.message(*at), "emoji": emoji })),
            O::Unreact(_, at, emoji) => ("removeReaction", json!({ "messageId": world.message(*at), "emoji": emoji })),
            O::Seen(_, chat, to) => ("markChatSeen", json!({ "chatId": of_chat(chat), "sequence": to })),
            O::Typing(_, chat) => ("sendTyping", json!({ "chatId": of_chat(chat) })),
            O::Add(_, chat, users) => ("addChatMembers", json!({ "chatId": of_chat(chat), "userIds": ids(users) })),
            O::Remove(_, chat, user) => ("removeChatMember", json!({ "chatId": of_chat(chat), "userId": id(user) })),
            O::SetRole(_, chat, user, role) => {
                let role = upper(format!("{role:?}"));
                ("setChatMemberRole", json!({ "chatId": of_chat(chat), "userId": id(user), "role": role }))
            }
            O::Leave(_, chat) => ("leaveChat", json!({ "chatId": of_chat(chat) })),
            O::Rename(_, chat, name) => ("renameChat", json!({ "chatId": of_chat(chat), "name": name })),
            O::Mute(_, chat, seconds) => {
                let until = seconds.map(|seconds| world.time_after(seconds));
                ("muteChat", json!({ "chatId": of_chat(chat), "until": until }))
            }
            O::Unmute(_, chat) => ("unmuteChat", json!({ "chatId": of_chat(chat) })),
            O::Archive(_, chat, true) => ("archiveChat", json!({ "chatId": of_chat(chat) })),
            O::Archive(_, chat, false) => ("unarchiveChat", json!({ "chatId": of_chat(chat) })),
            O::Clear(_, chat) => ("deleteChatHistory", json!({ "chatId": of_chat(chat) })),
            O::Accept(_, chat) => ("acceptChatRequest", json!({ "chatId": of_chat(chat) })),
            O::Decline(_, chat) => ("declineChatRequest", json!({ "chatId": of_chat(chat) })),
            O::Retention(_, chat, days) => ("setChatRetention", json!({ "chatId": of_chat(chat), "daysAfterSeen": days })),
            O::Settings(_, who, shares) => {
                let mut input = json!({});
                if let Some(who) = who {
                    input["whoMayWrite"] = json!(upper(format!("{who:?}")));
                }
                if let Some(shares) = shares {
                    input["sharesSeen"] = json!(shares);
                }
                ("updateChatSettings", input)
            }
        }
    }
}

/// Draws operations from a model.
pub(super) struct Dice<'a> {
    pub(super) random: &'a mut StdRng,
    pub(super) model: &'a Model,
}

impl Dice<'_> {
    fn below(&mut self, bound: usize) -> usize {
        self.random.random_range(0..bound)
    }

    fn chance(&mut self, percent: usize) -> bool {
        self.below(100) < percent
    }

    fn user(&mut self) -> usize {
        self.below(PEOPLE)
    }

    /// A chat that exists; seldom one that has ended.
    fn chat(&mut self) -> usize {
        let existing: Vec<usize> = (0..self.model.chats.len()).filter(|at| !self.model.chats[*at].members.is_empty()).collect();
        match existing.choose(self.random) {
            Some(chat) if !self.chance(2) => *chat,
            _ => self.below(self.model.chats.len()),
        }
    }

    /// A member of a chat, and seldom any account.
    fn member(&mut self, chat: usize) -> usize {
        match self.model.chats[chat].members.choose(self.random) {
            Some(member) if !self.chance(6) => member.user,
            _ => self.user(),
        }
    }

    /// A member who manages a group, more often than not.
    fn manager(&mut self, chat: usize) -> usize {
        let managers: Vec<usize> =
            self.model.chats[chat].members.iter().filter(|it| it.role != Role::Member).map(|member| member.user).collect();
        match managers.choose(self.random) {
            Some(user) if self.chance(75) => *user,
            _ => self.member(chat),
        }
    }

    /// A row of a chat, most often a recent one.
    fn row(&mut self, chat: usize) -> usize {
        let rows = self.model.chats[chat].rows.len();
        let recent = if self.chance(75) { rows.min(6) } else { rows };
        if recent == 0 { 1 } else { rows - self.below(recent) }
    }

    /// A text of an account, more often than not.
    fn own_text(&mut self, user: usize, chat: usize) -> usize {
        let rows = self.model.chats[chat].rows.iter().enumerate();
        let own: Vec<usize> =
            rows.filter(|(_, row)| row.sender == user && row.kind == Kind::Text).map(|(at, _)| at + 1).collect();
        match own.choose(self.random) {
            Some(row) if self.chance(70) => *row,
            _ => self.row(chat),
        }
    }

    fn relation(&mut self) -> RelationOperation {
        use RelationOperation as O;
        let (a, near) = (self.user(), if self.chance(70) { 3 } else { PEOPLE - 1 });
        let b = (a + 1 + self.below(near)) % PEOPLE;
        let blocked: Vec<(usize, usize)> = self.model.relations.blocks.iter().copied().collect();
        match self.below(12) {
            0..4 => O::Follow(a, b),
            4 => O::Unfollow(a, b),
            5 | 6 => O::RequestFriend(a, b),
            7 => O::AcceptFriend(b, a),
            8 => O::RemoveFriend(a, b),
            9 => O::Block(a, b),
            _ => match blocked.choose(self.random) {
                Some((a, b)) => O::Unblock(*a, *b),
                None => O::Block(a, b),
            },
        }
    }

    fn beginning(&mut self) -> Operation {
        let groups = self.model.chats.iter().filter(|chat| !chat.is_direct() && !chat.members.is_empty()).count();
        if groups < GROUPS && self.chance(60) {
            let others = (0..=self.below(7)).map(|_| self.user()).collect();
            return Operation::Group { by: self.user(), name: self.name(), others, shows_all: self.chance(50) };
        }
        let (a, b) = *PAIRS.choose(self.random).expect("pairs");
        match self.below(20) {
            0 => Operation::Start(a, a),
            1..11 => Operation::Start(a, b),
            _ => Operation::Start(b, a),
        }
    }

    fn name(&mut self) -> String {
        format!("group {}", self.below(5))
    }

    fn text(&mut self) -> String {
        format!("text {}", if self.chance(10) { 0 } else { self.model.time })
    }

    /// An operation on the request of an account that has one.
    fn on_request(&mut self) -> Option<Operation> {
        let waits = |chat: usize| {
            let members = self.model.chats[chat].members.iter();
            members.filter(|member| member.state == State::Request).map(move |member| (member.user, chat))
        };
        let requests: Vec<(usize, usize)> = (0..self.model.chats.len()).flat_map(waits).collect();
        let (user, chat) = *requests.choose(self.random)?;
        Some(match self.below(10) {
            0..4 => Operation::Accept(user, chat),
            4..7 => Operation::Decline(user, chat),
            7 => Operation::Archive(user, chat, true),
            8 => Operation::Clear(user, chat),
            _ => Operation::Send { by: user, chat, text: self.text(), reply: None },
        })
    }

    /// An operation on few chats, so that operations meet.
    pub(super) fn operation(&mut self) -> Operation {
        use Operation as O;
        if self.model.chats.is_empty() {
            return self.beginning();
        }
        let chat = self.chat();
        let (user, kind) = (self.member(chat), self.below(100));
        match kind {
            0..9 => O::Relation(self.relation()),
            9..16 => self.beginning(),
            16..40 => {
                let reply = self.chance(30).then(|| self.row(chat));
                O::Send { by: user, chat, text: self.text(), reply }
            }
            40..44 => O::Edit(user, (chat, self.own_text(user, chat)), self.text()),
            44..48 => O::Delete(user, (chat, self.own_text(user, chat))),
            48..54 => {
                let few = if self.chance(70) { 3 } else { EMOJI.len() };
                O::React(user, (chat, self.row(chat)), EMOJI[self.below(few)])
            }
            54..57 => O::Unreact(user, (chat, self.row(chat)), EMOJI[self.below(3)]),
            57..64 => {
                let newest = self.model.chats[chat].rows.len() as i64;
                O::Seen(user, chat, self.random.random_range(-1..=newest + 1))
            }
            64 => O::Typing(user, chat),
            65..82 => self.group_operation(chat),
            82..90 => self.on_request().unwrap_or(O::Settings(user, None, None)),
            _ => self.own_operation(user, chat),
        }
    }

    /// A change of the members or the settings of a group.
    fn group_operation(&mut self, chat: usize) -> Operation {
        use Operation as O;
        let (by, user) = (self.manager(chat), self.member(chat));
        match self.below(19) {
            0..5 => O::Add(by, chat, (0..=self.below(3)).map(|_| self.user()).collect()),
            5..8 => O::Remove(by, chat, user),
            8..12 => {
                let role = *[Role::Owner, Role::Admin, Role::Admin, Role::Member].choose(self.random).expect("roles");
                O::SetRole(by, chat, user, role)
            }
            12..15 => O::Leave(user, chat),
            15 | 16 => {
                O::Retention(by, chat, *[None, Some(1), Some(365), Some(366), Some(-1)].choose(self.random).expect("days"))
            }
            _ => O::Rename(by, chat, self.name()),
        }
    }

    /// A change of a chat for one account alone.
    fn own_operation(&mut self, user: usize, chat: usize) -> Operation {
        use Operation as O;
        match self.below(12) {
            0 => O::Mute(user, chat, None),
            1 => O::Mute(user, chat, Some(self.random.random_range(-1..60))),
            2 => O::Unmute(user, chat),
            3..6 => O::Archive(user, chat, true),
            6 => O::Archive(user, chat, false),
            7..9 => O::Clear(user, chat),
            9 => O::Accept(user, chat),
            10 => {
                let who = [Who::Everyone, Who::Everyone, Who::Followed, Who::Friends, Who::Nobody];
                O::Settings(self.user(), who.choose(self.random).copied(), None)
            }
            _ => O::Settings(user, None, Some(self.chance(60))),
        }
    }
}

/// The time in ms as an argument.
pub(super) fn date_time(ms: u64) -> String {
    assert!(ms < START + 86_400_000, "the tests end on their first day");
    let (seconds, rest) = ((ms - START) / 1000, ms % 1000);
    format!("2026-03-01T{:02}:{:02}:{:02}.{rest:03}Z", seconds / 3600, seconds / 60 % 60, seconds % 60)
}
