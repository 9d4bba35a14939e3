//! A store with all data that the cases need: readers, authors, a thread, campaigns.

use super::bed::{Bed, Past};
use super::chats;
use super::edge::Edge;
use super::world::{self, Reader, Size};
use futures_util::{StreamExt, stream};
use rust_decimal::Decimal;
use serde::{Deserialize, Serialize};
use serde_json::{Value, json};
use waxwing::base::clock::Clock;
use waxwing::base::config::Config;
use waxwing::base::ids::{CommentId, UserId};
use waxwing::base::request::Request;
use waxwing::db::Target;
use waxwing::domains::ads::{NewAd, NewCampaign, NewWebsite, Pacing, Pricing, Slot, service as ads};
use waxwing::domains::comments::{self, ParentRef, Vote, service as threads};
use waxwing::domains::statuses::{AudienceInput, StatusDraft};
use waxwing::domains::{sessions, timelines};
use waxwing::platform::journal::Queue;

/// The numbers of followers of two authors. All of the followers have full homes.
const FEW: usize = 10;
pub(crate) const MANY: usize = 1_000;
/// The direct chats of the first reader with one message, and the messages of that with the second reader.
const CHATS: usize = 20;
const MESSAGES: usize = 30;

/// The data from which the cases build their variables.
#[derive(Serialize, Deserialize)]
pub(crate) struct Stage {
    pub(crate) readers: Vec<Reader>,
    /// The sessions of authors with few, many and no followers.
    pub(crate) few: String,
    pub(crate) many: String,
    pub(crate) alone: String,
    /// The status with the comments.
    pub(crate) thread: String,
    pub(crate) website_key: String,
    /// A direct chat of the first two readers.
    pub(crate) chat: String,
}

/// The amounts of data.
#[derive(Clone, Copy)]
pub(crate) struct Plan {
    pub(crate) world: Size,
    pub(crate) comments: usize,
    pub(crate) campaigns: usize,
}

/// The amounts for measurements of time.
pub(crate) const FULL: Plan =
    Plan { world: Size { users: 1_000, readers: 400, follows: 50, statuses: 20 }, comments: 200, campaigns: 300 };

/// Creates a redis-server with all data.
pub(crate) async fn set(plan: Plan) -> (Bed, Stage) {
    let bed = Bed::with(&[], Config::default()).await;
    let readers = world::load(&bed, plan.world).await;
    let people = Past::people(&bed.app, MANY);
    let window = bed.app.config().home_window;
    // Lengths between the minimum and the maximum after a cut.
    bed.homes(&people, &[window, window + window / 20, window + window / 10]).await;
    let mut authors = Vec::new();
    for (login, followers) in [("few", FEW), ("many", MANY), ("alone", 0)] {
        authors.push(bed.author(login, &people[..followers]).await);
    }
    let mut tokens = sessions::service::create_many(&bed.app, &authors).await.expect("sessions").into_iter();
    let mut token = || tokens.next().expect("one for each");
    let ids: Vec<UserId> = readers.iter().map(|reader| UserId(reader.id)).collect();
    let (few, many, alone) = (token(), token(), token());
    let thread = thread(&bed, &ids, plan.comments).await;
    let website_key = campaigns(&bed, &ids, plan.campaigns).await;
    let chat = chats(&bed, &readers).await;
    bed.app.drain().await;
    let stage = Stage { readers, few, many, alone, thread, website_key, chat };
    (bed, stage)
}

/// Creates a thread: one comment in five is a top-level comment, the others reply to one of the first half; a third have a vote.
async fn thread(bed: &Bed, people: &[UserId], comments: usize) -> String {
    let draft = StatusDraft {
        message: "What is the best way to boil an egg?".into(),
        location: None,
        audience: AudienceInput::default(),
        idempotency_key: None,
        ..StatusDraft::default()
    };
    let status = timelines::service::post(&bed.app, people[0], draft).await.ok().flatten().expect("a status");
    let mut all: Vec<CommentId> = Vec::new();
    for number in 0..comments {
        let loaders = Request::new(bed.app.clone(), None, None, None).loaders();
        let under = if number % 5 == 0 { ParentRef::Status(status) } else { ParentRef::Comment(all[number / 2]) };
        let message = "I have never seen it from this side, to be honest.".into();
        let (author, draft) =
            (people[number % people.len()], comments::CommentDraft { parent: under, message, idempotency_key: None });
        let id = threads::add(&bed.app, &loaders, author, draft).await.ok().flatten().expect("a comment");
        if number % 3 == 0 {
            let voter = people[(number + 1) % people.len()];
            threads::vote(&bed.app, &loaders, voter, id, Vote::Up).await.expect("a vote");
        }
        all.push(id);
    }
    status.global()
}

/// Starts twenty direct chats of the first reader with a message each, and one with the second reader with thirty, which is returned.
async fn chats(bed: &Bed, readers: &[Reader]) -> String {
    let edge = Edge::over(&Target::socket(&bed.socket()), true, Clock::System).await;
    let token = &readers[0].token;
    let send = async |chat: &Value, number: usize| {
        let text = format!("Good evening, for the {number}th time.");
        chats::mutate(&edge, token, "SendMessage", json!({ "chatId": chat, "text": text })).await;
    };
    for number in 0..CHATS {
        let other = bed.author(&format!("friend{number}"), &[]).await;
        let started = chats::mutate(&edge, token, "StartDirectChat", json!({ "userId": other.global() })).await;
        send(&started["chat"]["id"], number).await;
    }
    let chat = chats::start(&edge, [0, 1].map(|at| (&readers[at].token[..], UserId(readers[at].id)))).await;
    for number in 0..MESSAGES {
        send(&json!(chat), number).await;
    }
    edge.app.drain().await;
    bed.work(Queue::Short).await;
    chat
}

/// Creates a website, and campaigns with an ad each: a third for every page, a third with the keyword tea, a third with others. Returns the
/// website's key.
async fn campaigns(bed: &Bed, people: &[UserId], many: usize) -> String {
    let site = NewWebsite {
        name: "Blog".into(),
        origin: "https://blog.example".into(),
        require_server_key: false,
        idempotency_key: None,
    };
    let site = ads::register(&bed.app, people[0], site).await.expect("a website");
    let made = (0..many).map(async |number| campaign(bed, people[number % people.len()], number).await);
    stream::iter(made).buffer_unordered(16).collect::<Vec<()>>().await;
    ads::key(&bed.app, site).await.expect("a key")
}

async fn campaign(bed: &Bed, owner: UserId, number: usize) {
    let keywords = match number % 3 {
        0 => vec![],
        1 => vec!["tea".to_owned(), "pots".to_owned()],
        _ => vec![format!("word {number}")],
    };
    let campaign = NewCampaign {
        name: format!("campaign {number}"),
        budget: Decimal::from(1_000_000),
        daily: None,
        starts: None,
        ends: None,
        keywords,
        cap: None,
        pacing: Pacing::Asap,
        idempotency_key: None,
    };
    let campaign = ads::create(&bed.app, owner, campaign).await.expect("a campaign");
    let ad = NewAd {
        campaign: Some(campaign),
        slot: Slot::Banner,
        snippet: Some("The best tea in town.".into()),
        target: Some("https://tea.example/".into()),
        status: None,
        pricing: Pricing::Cpm,
        // In no order; a thousandth of a unit apart.
        bid: Decimal::new((1 + number * 7_919 % 40_000) as i64, 3),
        idempotency_key: None,
    };
    let loaders = Request::new(bed.app.clone(), None, None, None).loaders();
    ads::create_ad(&bed.app, &loaders, owner, ad).await.expect("an ad");
}
