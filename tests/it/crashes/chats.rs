//! Crashes during changes of chats: what is acknowledged is kept, lists and counts agree with the chats, and a text under a key comes once.

use super::{assert_no_findings, settings};
use crate::chats::{badge, card, inbox, rows, waiting};
use crate::support::{Actor, CrashProxy, LONG_TIMEOUTS, RedisServer, START, SingleServerReason, TestApp, cut_offs, references};
use serde_json::Value;
use std::sync::Arc;
use waxwing::app::App;
use waxwing::base::clock::Clock;
use waxwing::base::error::Refusal;
use waxwing::base::ids::{ChatId, ChatMessageId, SessionId, UserId};
use waxwing::base::request::{Loaders, Request};
use waxwing::base::viewer::Viewer;
use waxwing::cli::workers;
use waxwing::db::{Db, Timing};
use waxwing::domains::accounts::service as accounts;
use waxwing::domains::chats::ChatHistory;
use waxwing::domains::chats::service::{self as chats, NewGroup, NewMessage};
use waxwing::domains::timelines::service as timelines;
use waxwing::domains::users::service as users;

/// The changes of the first user during which the process crashes.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Change {
    /// Begins a chat with the third user.
    Start,
    /// Writes the first text to the third user.
    FirstText,
    /// Writes to the second user, under a key.
    Text,
    /// Writes in the group, under a key.
    GroupText,
    DeleteText,
    See,
    Clear,
    CreateGroup,
    AddMembers,
    /// Leaves the group, which it owns.
    Leave,
    /// Leaves a group in which it is alone.
    End,
    /// Declines the request of the fourth user.
    Decline,
    /// Sets the retention of the group.
    Retention,
    Block,
    DeleteAccount,
}

/// Four users: the first and the second have a chat and a group, and the fourth has written to the first.
struct World {
    people: Vec<Actor>,
    direct: ChatId,
    group: ChatId,
    alone: ChatId,
    request: ChatId,
    begun: Option<ChatId>,
}

fn loaders(app: &App, viewer: UserId) -> Arc<Loaders> {
    let viewer = Viewer::of_session(viewer, SessionId(1), String::new());
    Request::new(app.clone(), Some(viewer), None, None).loaders()
}

async fn start(app: &App, from: UserId, to: UserId) -> Result<ChatId, Refusal> {
    chats::start_direct(app, &loaders(app, from), from, &to.global()).await
}

async fn send(app: &App, from: UserId, chat: ChatId, text: &str, key: Option<&str>) -> Result<ChatMessageId, Refusal> {
    let new = NewMessage { chat: chat.global(), text: text.into(), reply_to: None, idempotency_key: key.map(Into::into) };
    chats::send(app, &loaders(app, from), from, new).await
}

async fn create(app: &App, from: UserId, others: &[UserId], key: Option<&str>) -> Result<ChatId, Refusal> {
    let users = others.iter().map(|user| user.global()).collect();
    let new = NewGroup { name: "g".into(), users, history: ChatHistory::All, idempotency_key: key.map(Into::into) };
    chats::create_group(app, &loaders(app, from), from, new).await
}

impl World {
    async fn make(app: &TestApp, change: Change) -> Self {
        let people = app.create_users("p", 4).await;
        let own = &app.app;
        let id = |at: usize| people[at].user_id();
        for (a, b) in [(0, 1), (1, 0), (0, 2), (2, 0), (1, 2), (2, 1)] {
            timelines::follow(own, id(a), id(b)).await.expect("a follow");
        }
        let direct = start(own, id(0), id(1)).await.expect("a chat");
        send(own, id(0), direct, "one", None).await.expect("a text");
        send(own, id(1), direct, "two", None).await.expect("a text");
        let group = create(own, id(0), &[id(1)], None).await.expect("a group");
        send(own, id(1), group, "three", None).await.expect("a text");
        let alone = create(own, id(0), &[id(1)], None).await.expect("a group");
        send(own, id(1), alone, "four", None).await.expect("a text");
        chats::leave(own, &loaders(own, id(1)), id(1), &alone.global()).await.expect("it is a member");
        let request = start(own, id(3), id(0)).await.expect("a chat");
        send(own, id(3), request, "five", None).await.expect("a text");
        let begun = match change {
            Change::FirstText => Some(start(own, id(0), id(2)).await.expect("a chat")),
            _ => None,
        };
        app.drain().await;
        Self { people, direct, group, alone, request, begun }
    }

    async fn apply(&self, app: &App, change: Change) -> Result<(), Refusal> {
        let id = |at: usize| self.people[at].user_id();
        let first = id(0);
        let own = loaders(app, first);
        match change {
            Change::Start => drop(start(app, first, id(2)).await?),
            Change::FirstText => drop(send(app, first, self.begun.expect("a chat"), "new", Some("k")).await?),
            Change::Text => drop(send(app, first, self.direct, "new", Some("k")).await?),
            Change::GroupText => drop(send(app, first, self.group, "new", Some("k")).await?),
            Change::DeleteText => {
                let message = ChatMessageId { chat: self.group, sequence: 1 }.global_id().to_string();
                chats::delete_message(app, &own, first, &message).await?;
            }
            Change::See => drop(chats::mark_seen(app, first, &self.direct.global(), 2).await?),
            Change::Clear => drop(chats::clear_history(app, first, &self.direct.global()).await?),
            Change::CreateGroup => drop(create(app, first, &[id(1), id(2), id(3)], Some("k")).await?),
            Change::AddMembers => drop(chats::add_members(app, &own, first, &self.group.global(), &[id(2).global()]).await?),
            Change::Leave => drop(chats::leave(app, &own, first, &self.group.global()).await?),
            Change::End => drop(chats::leave(app, &own, first, &self.alone.global()).await?),
            Change::Decline => drop(chats::decline(app, &own, first, &self.request.global()).await?),
            Change::Retention => drop(chats::set_retention(app, first, &self.group.global(), Some(7)).await?),
            Change::Block => timelines::block(app, first, id(1)).await?,
            Change::DeleteAccount => accounts::delete(app, first, "correct horse", None).await?,
        }
        Ok(())
    }

    async fn is_applied(&self, change: Change) -> bool {
        let first = &self.people[0];
        let texts = async |actor: &Actor, chat: ChatId| -> usize {
            rows(actor, &chat.global()).await.iter().filter(|(_, kind, text)| kind == "TEXT" && text == "new").count()
        };
        match change {
            Change::Start => inbox(first, "INBOX").await.len() == 4,
            Change::FirstText => texts(&self.people[2], self.begun.expect("a chat")).await == 1,
            Change::Text => texts(&self.people[1], self.direct).await == 1 && badge(&self.people[1]).await == 1,
            Change::GroupText => texts(&self.people[1], self.group).await == 1,
            Change::DeleteText => card(first, &self.group.global()).await["newestMessage"]["isDeleted"] == true,
            Change::See => card(first, &self.direct.global()).await["viewerUnreadCount"] == 0,
            Change::Clear => card(first, &self.direct.global()).await["newestMessage"].is_null(),
            Change::CreateGroup => inbox(first, "INBOX").await.len() == 4,
            Change::AddMembers => card(&self.people[2], &self.group.global()).await["membersCount"] == 3,
            Change::Leave => card(&self.people[1], &self.group.global()).await["viewerMember"]["role"] == "OWNER",
            Change::End => card(first, &self.alone.global()).await.is_null(),
            Change::Decline => waiting(first).await.is_empty(),
            Change::Retention => card(&self.people[1], &self.group.global()).await["daysAfterSeen"] == 7,
            Change::Block => card(first, &self.direct.global()).await["viewerCanSend"] == false,
            Change::DeleteAccount => card(&self.people[1], &self.direct.global()).await["viewerPeer"].is_null(),
        }
    }

    /// The badge of everybody agrees with the counts of their chats, and the lists have no chat that does not exist.
    async fn assert_agrees(&self, app: &TestApp, when: &str) {
        for actor in &self.people {
            if !users::exists(&app.app, actor.user_id()).await.expect("a store") {
                continue;
            }
            let mut unread = 0;
            for chat in inbox(actor, "INBOX").await {
                let seen: Value = card(actor, &chat).await;
                unread += u64::from(seen["viewerUnreadCount"].as_u64().unwrap_or_else(|| panic!("{when}: {seen}")) > 0);
            }
            assert_eq!(badge(actor).await, unread, "{when}: the badge of {}", actor.login);
        }
    }
}

async fn crash_at_each_write(change: Change) {
    let redis = Arc::new(RedisServer::single(SingleServerReason::ConnectionControl));
    let app = TestApp::on_redis(redis, Clock::manual(START), settings()).await;
    // A deletion has 250 writes, most of them in every account's.
    let step = if change == Change::DeleteAccount { 5 } else { 3 };
    let world = World::make(&app, change).await;
    app.drain().await;
    let before = app.redis.snapshot();
    for writes in cut_offs(step) {
        let when = format!("{change:?} after {writes} writes");
        app.redis.restore(&before);
        let crash_proxy = CrashProxy::start(&app.redis, writes).await;
        let target = app.redis.tcp_url(crash_proxy.port).parse().expect("an address");
        let timing = Timing { connections: 1, ..LONG_TIMEOUTS };
        let crashing = App::new(Db::open(&target, timing).await.expect("a store"), app.clock.clone(), settings());
        let acknowledged = world.apply(&crashing, change).await.is_ok();
        crashing.drain().await;
        let _ = workers::drain(&crashing).await;
        if acknowledged {
            assert!(world.is_applied(change).await, "{when}: the acknowledged change is lost");
        }
        app.clock.advance(10_000);
        app.drain().await;
        if acknowledged {
            assert!(world.is_applied(change).await, "{when}: the acknowledged change is lost later");
        }
        assert_no_findings(&app, &when).await;
        world.assert_agrees(&app, &when).await;
        let first = world.people[0].user_id();
        if change == Change::DeleteAccount && !users::exists(&app.app, first).await.expect("a store") {
            assert_eq!(references(&app.app, first).await, Vec::<String>::new(), "{when}");
        }
        if matches!(change, Change::FirstText | Change::Text | Change::GroupText | Change::CreateGroup) {
            world.apply(&app.app, change).await.expect("the repeated request");
            app.drain().await;
            assert!(world.is_applied(change).await, "{when}: the change must be applied exactly once");
        }
        if !crash_proxy.has_cut() {
            assert!(writes > 2 && acknowledged, "{when}: the change must have more writes");
            return;
        }
    }
}

macro_rules! cut_off {
    ($($name:ident = $change:ident;)*) => {$(
        #[tokio::test]
        async fn $name() {
            crash_at_each_write(Change::$change).await;
        }
    )*};
}

cut_off! {
    the_beginning_of_a_chat_may_be_interrupted_at_any_step = Start;
    a_first_text_may_be_interrupted_at_any_step = FirstText;
    a_text_may_be_interrupted_at_any_step = Text;
    a_text_in_a_group_may_be_interrupted_at_any_step = GroupText;
    a_deletion_of_a_text_may_be_interrupted_at_any_step = DeleteText;
    a_marking_may_be_interrupted_at_any_step = See;
    a_deletion_of_a_history_may_be_interrupted_at_any_step = Clear;
    a_new_group_may_be_interrupted_at_any_step = CreateGroup;
    an_addition_of_members_may_be_interrupted_at_any_step = AddMembers;
    a_leaving_owner_may_be_interrupted_at_any_step = Leave;
    the_end_of_a_group_may_be_interrupted_at_any_step = End;
    a_declined_request_may_be_interrupted_at_any_step = Decline;
    a_retention_may_be_interrupted_at_any_step = Retention;
    a_block_of_a_chat_may_be_interrupted_at_any_step = Block;
    a_deletion_of_a_member_may_be_interrupted_at_any_step = DeleteAccount;
}
