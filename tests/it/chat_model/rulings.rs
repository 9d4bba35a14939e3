//! The expected results of operations, by the rulings: success, or the codes of user errors.

use super::model::{Expected, Kind, Model, Role, State};
use super::operations::Operation;
use crate::privacy_model::model::Operation as RelationOperation;

type Codes = Vec<&'static str>;

impl Model {
    /// The result of an operation.
    pub(super) fn expected(&self, operation: &Operation) -> Expected {
        use Operation as O;
        let codes = match operation {
            // Two groups are declined at once, and the rulings leave the order of their rows open.
            O::Relation(RelationOperation::Block(a, b)) if self.waiting_from(*a, *b).len() > 1 => return Expected::Open,
            O::Relation(operation) => self.relations.clone().apply(*operation).into_iter().collect(),
            O::Settings(..) => Vec::new(),
            O::Start(a, b) => return self.expect_start(*a, *b),
            O::Group { by, others, .. } if others.iter().all(|other| other == by) => vec!["INVALID_INPUT"],
            O::Group { by, others, .. } => return self.expect_invitations(*by, others, &[]),
            O::Add(by, chat, others) => {
                let codes = self.codes_of_manager_change(*by, *chat);
                let members: Vec<usize> = self.chats[*chat].members.iter().map(|member| member.user).collect();
                return if codes.is_empty() { self.expect_invitations(*by, others, &members) } else { Expected::Refused(codes) };
            }
            O::Edit(by, at, _) | O::Delete(by, at) | O::React(by, at, _) | O::Unreact(by, at, _) => {
                match self.codes_of_message_operation(operation, *by, *at) {
                    Some(codes) => codes,
                    None => return Expected::Open,
                }
            }
            operation => match self.codes_of_chat_operation(operation) {
                Some(codes) => codes,
                None => return Expected::Open,
            },
        };
        if codes.is_empty() { Expected::Done } else { Expected::Refused(codes) }
    }

    /// The result of `startDirectChat`.
    fn expect_start(&self, a: usize, b: usize) -> Expected {
        if a == b {
            return Expected::Refused(vec!["INVALID_INPUT"]);
        }
        if !self.relations.can_discover(a, b) {
            return Expected::Refused(vec!["NOT_FOUND"]);
        }
        let blocks = self.relations.blocks.contains(&(a, b));
        match self.direct(a, b) {
            // The rulings leave open whether a chat exists that is not shown to the blocker.
            Some(chat) if blocks && self.chats[chat].shown(a).is_none() => Expected::Open,
            Some(_) => Expected::Done,
            None if blocks || !self.accepts(b, a) => Expected::Refused(vec!["FORBIDDEN"]),
            None => Expected::Done,
        }
    }

    /// The result of adding accounts: a user error for each account that cannot be added, once.
    fn expect_invitations(&self, by: usize, others: &[usize], members: &[usize]) -> Expected {
        let mut rows = Vec::new();
        for (at, other) in others.iter().enumerate() {
            if *other == by || members.contains(other) || others[..at].contains(other) {
                continue;
            }
            if !self.relations.can_discover(by, *other) {
                rows.push(("NOT_FOUND", at));
            } else if self.relations.blocks.contains(&(by, *other)) || !self.accepts(*other, by) {
                rows.push(("FORBIDDEN", at));
            }
        }
        if rows.is_empty() { Expected::Done } else { Expected::Rows(rows) }
    }

    /// The codes of a change that only the owner and the admins of a group may make, such as adding and renaming.
    fn codes_of_manager_change(&self, by: usize, chat: usize) -> Codes {
        match self.chats[chat].shown(by) {
            None => vec!["NOT_FOUND"],
            Some(member) if self.chats[chat].is_direct() || member.role == Role::Member => vec!["FORBIDDEN"],
            Some(_) => Vec::new(),
        }
    }

    /// The codes of an operation on a message; `None` where the rulings leave the result open.
    fn codes_of_message_operation(&self, operation: &Operation, by: usize, (at, sequence): (usize, usize)) -> Option<Codes> {
        use Operation as O;
        let chat = &self.chats[at];
        let Some(member) = chat.shown(by).filter(|it| (it.first..=chat.rows.len()).contains(&sequence)) else {
            return Some(vec!["NOT_FOUND"]);
        };
        let row = &chat.rows[sequence - 1];
        let (is_hidden, is_separated) = (self.is_hidden(chat, row, by), self.is_separated(chat));
        let is_managed = !chat.is_direct() && member.role != Role::Member;
        let mut codes = Vec::new();
        let mut refuse = |is_refused: bool, code| {
            if is_refused {
                codes.push(code);
            }
        };
        refuse(row.kind != Kind::Text, "INVALID_INPUT");
        refuse(row.is_deleted, "NOT_FOUND");
        match operation {
            O::Edit(..) => {
                refuse(row.sender != by || is_separated, "FORBIDDEN");
                refuse(is_hidden, "NOT_FOUND");
            }
            O::Delete(..) => {
                refuse(row.sender != by && !is_managed, "FORBIDDEN");
                refuse(is_hidden && !is_managed, "NOT_FOUND");
            }
            O::React(_, _, emoji) => {
                refuse(is_hidden, "NOT_FOUND");
                refuse(is_separated || member.state == State::Request, "FORBIDDEN");
                let is_new = row.reactions.iter().all(|(of, _)| of != emoji);
                refuse(is_new && row.reactions.len() >= 12, "LIMIT_REACHED");
            }
            _ if is_hidden || is_separated || member.state == State::Request => return None,
            _ => {}
        }
        Some(codes)
    }

    /// The codes of an operation on a chat; `None` where the rulings leave the result open.
    fn codes_of_chat_operation(&self, operation: &Operation) -> Option<Codes> {
        use Operation as O;
        let (by, at) = operation.actor_and_chat();
        let chat = &self.chats[at];
        let Some(member) = chat.shown(by) else { return Some(vec!["NOT_FOUND"]) };
        let (is_direct, is_separated) = (chat.is_direct(), self.is_separated(chat));
        let is_request = member.state == State::Request;
        let mut codes = Vec::new();
        let mut refuse = |is_refused: bool, code| {
            if is_refused {
                codes.push(code);
            }
        };
        match operation {
            O::Send { reply, .. } => {
                refuse(is_separated, "FORBIDDEN");
                refuse(self.has_written_all(chat, by), "LIMIT_REACHED");
                let is_first = is_direct && chat.peer(by).state == State::Unstarted;
                refuse(is_first && !self.accepts(chat.peer(by).user, by), "FORBIDDEN");
                let answered = reply.map(|reply| (reply, chat.rows.get(reply.wrapping_sub(1))));
                let is_found = answered.is_none_or(|(reply, row)| {
                    row.is_some_and(|row| {
                        reply >= member.first && row.kind == Kind::Text && !row.is_deleted && !self.is_hidden(chat, row, by)
                    })
                });
                refuse(!is_found, "NOT_FOUND");
            }
            O::Typing(..) if is_direct && chat.peer(by).state != State::Active && !is_separated => return None,
            O::Typing(..) => refuse(is_separated || is_request, "FORBIDDEN"),
            O::Seen(_, _, to) => refuse(*to < 0 || *to > chat.rows.len() as i64, "INVALID_INPUT"),
            O::Remove(_, _, user) => {
                let target = chat.member(*user);
                refuse(*user == by, "INVALID_INPUT");
                let may = match member.role {
                    Role::Owner => true,
                    Role::Admin => target.is_none_or(|target| target.role == Role::Member),
                    Role::Member => false,
                };
                refuse(is_direct || !may, "FORBIDDEN");
                refuse(target.is_none(), "NOT_FOUND");
            }
            O::SetRole(_, _, user, role) => {
                let target = chat.member(*user);
                refuse(is_direct || member.role != Role::Owner, "FORBIDDEN");
                refuse(target.is_none(), "NOT_FOUND");
                refuse(*user == by && *role != Role::Owner, "INVALID_INPUT");
                let waits = target.is_some_and(|target| target.state == State::Request && target.role != *role);
                refuse(waits && *role != Role::Member, "INVALID_INPUT");
            }
            O::Leave(..) => refuse(is_direct, "FORBIDDEN"),
            O::Rename(..) => codes = self.codes_of_manager_change(by, at),
            O::Mute(_, _, until) => refuse(until.is_some_and(|seconds| seconds <= 0), "INVALID_INPUT"),
            O::Archive(_, _, false) if is_request => return None,
            O::Archive(_, _, true) | O::Clear(..) => refuse(is_request, "FORBIDDEN"),
            O::Decline(..) => refuse(!is_request, "NOT_FOUND"),
            O::Retention(_, _, days) => {
                refuse(days.is_some_and(|days| !(0..=365).contains(&days)), "INVALID_INPUT");
                refuse(!is_direct && member.role != Role::Owner, "FORBIDDEN");
            }
            _ => {}
        }
        Some(codes)
    }
}
