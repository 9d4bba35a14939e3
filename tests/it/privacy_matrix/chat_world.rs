//! A group and direct chats of an author with accounts of every relation to them.

use crate::chats::{befriend, group, open, run_ok, send, start};
use crate::support::{Actor, TestApp};
use serde_json::json;

/// The relation of a viewer to the chats of the author.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Viewer {
    /// A member from the beginning.
    Member,
    /// A member whom the author blocks.
    Blocked,
    /// A member who blocks the author.
    Blocker,
    /// A member who joined after the first rows, which joiners cannot read.
    Later,
    Removed,
    Left,
    /// Has declined the group, and the direct chat that the author has begun.
    Declined,
    Never,
    /// No session.
    Nobody,
}

use Viewer::{Blocked, Blocker, Declined, Later, Left, Member, Never, Nobody, Removed};

pub(super) const VIEWERS: [Viewer; 9] = [Member, Blocked, Blocker, Later, Removed, Left, Declined, Never, Nobody];

pub(super) struct World {
    pub(super) app: TestApp,
    /// An admin of the group.
    pub(super) author: Actor,
    /// The owner of the group.
    pub(super) host: Actor,
    /// In the order of [`VIEWERS`].
    pub(super) actors: Vec<Actor>,
    pub(super) group: String,
    /// The direct chat of each viewer with the author; that of another member for those who have none.
    pub(super) direct: Vec<String>,
    /// Texts of the group: the author's, the host's answer to it, and, once all is changed, the author's answer to the first.
    pub(super) texts: Vec<String>,
    /// The author's text in each direct chat, and the viewer's own one.
    pub(super) direct_texts: Vec<[String; 2]>,
}

impl World {
    /// Everything before the changes: the later member is not in the group yet, and the declined one has requests.
    pub(super) async fn begin() -> Self {
        let app = TestApp::start().await;
        let [author, host] = app.users(["author", "host"]).await;
        befriend(&author, &host).await;
        let mut actors = Vec::new();
        for viewer in &VIEWERS[..VIEWERS.len() - 1] {
            let actor = app.user(&format!("{viewer:?}").to_lowercase()).await;
            if *viewer != Declined {
                befriend(&actor, &author).await;
            }
            befriend(&actor, &host).await;
            actors.push(actor);
        }
        actors.push(app.anonymous());
        let at = |viewer: Viewer| &actors[viewer as usize];
        let members = [&author, at(Member), at(Blocked), at(Blocker), at(Removed), at(Left)];
        let party = group(&host, "party", &members, "FROM_JOIN").await;
        run_ok(&host, "SetChatMemberRole", json!({ "chatId": party, "userId": author.id, "role": "ADMIN" })).await;
        let first = send(&author, &party, "first").await;
        let answer = json!({ "chatId": party, "text": "answer", "replyToId": first });
        let answer = run_ok(&host, "SendMessage", answer).await["chatMessage"]["id"].as_str().expect("an id").to_owned();
        for actor in [&author, at(Member)] {
            run_ok(actor, "ReactToMessage", json!({ "messageId": answer, "emoji": "👍" })).await;
        }
        run_ok(&author, "AddChatMembers", json!({ "chatId": party, "userIds": [at(Declined).id] })).await;
        let (mut direct, mut direct_texts): (Vec<String>, Vec<[String; 2]>) = (Vec::new(), Vec::new());
        for (viewer, actor) in VIEWERS.into_iter().zip(&actors) {
            if matches!(viewer, Never | Nobody) {
                direct.push(direct[0].clone());
                direct_texts.push(direct_texts[0].clone());
                continue;
            }
            let chat = if viewer == Declined { start(&author, actor).await } else { open(&author, actor).await };
            let of_author = send(&author, &chat, "secret").await;
            let own = if viewer == Declined { of_author.clone() } else { send(actor, &chat, "own").await };
            send(&author, &chat, "second").await;
            direct.push(chat);
            direct_texts.push([of_author, own]);
        }
        app.drain().await;
        Self { author, host, group: party, direct, texts: vec![first, answer], direct_texts, actors, app }
    }

    pub(super) fn actor(&self, viewer: Viewer) -> &Actor {
        &self.actors[viewer as usize]
    }

    /// Makes every viewer what it is. The rows of the group are then: 1 the author's role, 2 the first text, 3 the answer, 4 the declined one joins, 5 the
    /// removal, 6 the leaving, 7 the declining, 8 the later one joins, 9 the author's answer to the first text.
    pub(super) async fn change(&mut self) {
        for change in CHANGES {
            self.apply(change).await;
        }
    }

    /// One of [`CHANGES`]; the lists are settled then.
    pub(super) async fn apply(&mut self, change: &str) {
        let (group, host, author) = (&self.group, &self.host, &self.author);
        let id = |viewer| &self.actor(viewer).id;
        match change {
            "remove" => drop(run_ok(host, "RemoveChatMember", json!({ "chatId": group, "userId": id(Removed) })).await),
            "leave" => drop(run_ok(self.actor(Left), "LeaveChat", json!({ "chatId": group })).await),
            "decline" => drop(run_ok(self.actor(Declined), "DeclineChatRequest", json!({ "chatId": group })).await),
            "decline direct" => {
                let input = json!({ "chatId": self.direct[Declined as usize] });
                run_ok(self.actor(Declined), "DeclineChatRequest", input).await;
            }
            "add later" => drop(run_ok(host, "AddChatMembers", json!({ "chatId": group, "userIds": [id(Later)] })).await),
            "block" => {
                author.mutate_ok("blockUser", json!({ "userId": id(Blocked) }), "").await;
                self.actor(Blocker).mutate_ok("blockUser", json!({ "userId": author.id }), "").await;
            }
            "last text" => {
                let input = json!({ "chatId": group, "text": "last", "replyToId": self.texts[0] });
                let sent = run_ok(author, "SendMessage", input).await["chatMessage"]["id"].take();
                self.texts.push(sent.as_str().expect("an id").to_owned());
            }
            _ => panic!("no change {change}"),
        }
        self.app.drain().await;
    }
}

/// The changes that give every viewer its relation, in this order.
const CHANGES: [&str; 7] = ["remove", "leave", "decline", "decline direct", "add later", "block", "last text"];
