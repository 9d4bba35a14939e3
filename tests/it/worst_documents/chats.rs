//! The chats of the heaviest account: a group that it owns, with long texts, reactions and a mute; many direct chats with unread texts, some of them
//! archived; and two requests.

use super::inputs::FLAG;
use super::world::{AT_ONCE, HEAVY, POSTER, READER, STRANGER};
use futures_util::{StreamExt, stream};
use waxwing::app::App;
use waxwing::base::clock::DAY;
use waxwing::base::ids::{SessionId, UserId};
use waxwing::base::request::{Loaders, Request};
use waxwing::base::viewer::Viewer;
use waxwing::domains::chats::service::{self as chats, MuteUntil, NewGroup, NewMessage};
use waxwing::domains::chats::{ChatHistory, ChatRole, MAX_ADDED};

/// Members of the group beside its owner and the poster: all of them have accepted.
const MEMBERS: usize = 60;
/// Texts of the maximum length in the group: the page next to a number has rows on either side.
const TEXTS: usize = 140;
/// Accounts with a direct chat with the heaviest account, and the unread texts of each: more than a page of pending texts.
const DIRECT: usize = 110;
const UNREAD: usize = 12;
const ARCHIVED: usize = 10;
/// The most different emoji of a text. The newest long text has the first of them from each member, the text before it all of them from the owner.
const EMOJI: [&str; 12] = ["👍", "😀", "😁", "😂", "😃", "😄", "😅", "😆", "😇", "😈", "😉", "😊"];

/// Global ids of the chats that arguments refer to.
#[derive(Default)]
pub(super) struct Chats {
    pub group: String,
    /// A text of the owner in the group: edited, with reactions, and an answer to another text.
    pub text: String,
    /// Other texts of the owner in the group.
    pub texts: Vec<String>,
    /// Members of the group whom the owner can remove.
    pub members: Vec<String>,
    /// Accounts that can be added to a group: as many as one mutation adds.
    pub others: Vec<String>,
    /// Two chats that wait for the heaviest account.
    pub requests: [String; 2],
}

fn loaders(app: &App, user: UserId) -> std::sync::Arc<Loaders> {
    let viewer = Viewer::of_session(user, SessionId(user.0), String::new());
    Request::new(app.clone(), Some(viewer), None, None).loaders()
}

async fn send(app: &App, user: UserId, chat: &str, text: &str, reply_to: Option<&String>) -> String {
    let new = NewMessage { chat: chat.to_owned(), text: text.to_owned(), reply_to: reply_to.cloned(), idempotency_key: None };
    chats::send(app, &loaders(app, user), user, new).await.expect("a text").global_id().to_string()
}

async fn start(app: &App, user: UserId, other: UserId) -> String {
    chats::start_direct(app, &loaders(app, user), user, &other.global()).await.expect("a chat").global()
}

/// Creates the chats of the heaviest account.
pub(super) async fn create_chats(app: &App, people: &[UserId]) -> Chats {
    let globals = |from: usize, count: usize| people[from..from + count].iter().map(|id| id.global()).collect::<Vec<_>>();
    let mut made = Chats {
        members: globals(POSTER + 1, MEMBERS),
        others: globals(POSTER + 1 + MEMBERS, MAX_ADDED),
        requests: [start(app, people[READER], people[HEAVY]).await, start(app, people[STRANGER], people[HEAVY]).await],
        ..Chats::default()
    };
    for (sender, chat) in [READER, STRANGER].into_iter().zip(&made.requests) {
        send(app, people[sender], chat, "Hello.", None).await;
    }
    create_direct_chats(app, people).await;
    create_group(app, people, &mut made).await;
    made
}

async fn create_direct_chats(app: &App, people: &[UserId]) {
    let chat = async |at: usize| {
        let chat = start(app, people[at], people[HEAVY]).await;
        for _ in 0..UNREAD {
            send(app, people[at], &chat, "Hello.", None).await;
        }
        if at <= POSTER + ARCHIVED {
            let archived = chats::archive(app, &loaders(app, people[HEAVY]), people[HEAVY], &chat, true).await;
            assert!(archived.is_ok(), "an archived chat");
        }
    };
    stream::iter((POSTER + 1..=POSTER + DIRECT).map(chat)).buffer_unordered(AT_ONCE).count().await;
}

async fn create_group(app: &App, people: &[UserId], made: &mut Chats) {
    let owner = people[HEAVY];
    let users = [&[people[POSTER].global()], made.members.as_slice()].concat();
    let new = NewGroup { name: FLAG.repeat(50), users, history: ChatHistory::All, idempotency_key: None };
    made.group = chats::create_group(app, &loaders(app, owner), owner, new).await.expect("a group").global();
    let poster = people[POSTER].global();
    let mut answered = String::new();
    for at in 0..TEXTS {
        let sender = if at % 2 == 0 { people[POSTER] } else { owner };
        let reply_to = (at > 0).then_some(&made.text);
        let text = send(app, sender, &made.group, &FLAG.repeat(1_999), reply_to).await;
        answered = std::mem::replace(&mut made.text, text);
        if at % 2 == 0 && at > 0 {
            made.texts.push(answered.clone());
        }
    }
    assert!(chats::set_role(app, &loaders(app, owner), owner, &made.group, &poster, ChatRole::Admin).await.is_ok(), "a role");
    assert!(chats::set_retention(app, owner, &made.group, Some(365)).await.is_ok(), "a retention");
    assert!(chats::edit_message(app, &loaders(app, owner), owner, &made.text, &FLAG.repeat(2_000)).await.is_ok(), "an edit");
    // One emoji only: a cursor is valid for one emoji.
    let of_members = (POSTER..=POSTER + MEMBERS).map(|at| (people[at], &made.text, EMOJI[0]));
    let of_owner = EMOJI.iter().map(|emoji| (owner, &answered, *emoji)).chain([(owner, &made.text, EMOJI[0])]);
    for (user, text, emoji) in of_owner.chain(of_members) {
        assert!(chats::react(app, &loaders(app, user), user, text, emoji, true).await.is_ok(), "a reaction");
    }
    // Unread texts of others in the group.
    for _ in 0..UNREAD {
        send(app, people[POSTER], &made.group, "Hello.", None).await;
    }
    let until = MuteUntil::Time(app.now() + DAY);
    assert!(chats::mute(app, &loaders(app, owner), owner, &made.group, until).await.is_ok(), "a mute");
}
