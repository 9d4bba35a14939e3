//! Chats of the sample data set: for the demo's account a direct chat and a group, both with unread messages, and a chat request.
//!
//! They are created through the services, as by clients. If a load is interrupted, a repeated load within 24 hours creates no chat and no message
//! twice.

use super::activity::{account, key, loaders, unwrap_outcome};
use super::dataset::Dataset;
use super::sample::LOGIN;
use crate::app::App;
use crate::base::ids::{ChatId, UserId};
use crate::domains::chats::ChatHistory;
use crate::domains::chats::service::{self as chats, NewGroup, NewMessage};

/// A chat of the demo's account.
struct SampleChat {
    /// The login of the account that begins the chat.
    starter: &'static str,
    /// The name of a group, and its other members.
    group: Option<(&'static str, &'static [&'static str])>,
    /// Senders and texts.
    texts: &'static [(&'static str, &'static str)],
}

/// The chats in the order of their activity, the oldest first. The demo's account follows all starters except the first, whose chat is a request.
const CHATS: [SampleChat; 3] = [
    SampleChat { starter: "chiara", group: None, texts: &[("chiara", "Hello Ada! May I name a loaf after your waxwings?")] },
    SampleChat {
        starter: "hana",
        group: Some(("Dawn count", &["jonas", "tove"])),
        texts: &[
            ("hana", "Who counts on Saturday? Sunrise is at 7:12."),
            (LOGIN, "I do. I bring the list and two thermos flasks."),
            ("jonas", "Then I bring cups. The machine is broken again."),
            ("tove", "I will draw whatever sits still."),
        ],
    },
    SampleChat {
        starter: "bram",
        group: None,
        texts: &[
            ("bram", "The night train to Malmö runs again from Monday."),
            (LOGIN, "At last! Does it take bicycles?"),
            ("bram", "Two for each carriage. Shall I reserve a place for yours?"),
        ],
    },
];

/// Creates the chats and messages that do not exist yet.
pub(super) async fn create(app: &App, data: &Dataset) -> anyhow::Result<()> {
    for (number, sample) in CHATS.iter().enumerate() {
        let chat = match sample.group {
            Some((name, others)) => create_group(app, data, sample.starter, name, others).await?,
            None => start_direct(app, data, sample.starter).await?,
        };
        for (index, (sender, text)) in sample.texts.iter().enumerate() {
            let sender = account(data, sender)?;
            let message = NewMessage {
                chat: chat.global(),
                text: (*text).into(),
                reply_to: None,
                idempotency_key: key(&format!("message-{number}-{index}")),
            };
            unwrap_outcome(chats::send(app, &loaders(app, sender), sender, message).await)?;
        }
    }
    Ok(())
}

async fn start_direct(app: &App, data: &Dataset, starter: &str) -> anyhow::Result<ChatId> {
    let (starter, other) = (account(data, starter)?, account(data, LOGIN)?);
    unwrap_outcome(chats::start_direct(app, &loaders(app, starter), starter, &other.global()).await)
}

/// Creates a group with the demo's account and `others`, and accepts the group for `others`: some of these accounts do not follow its owner.
async fn create_group(app: &App, data: &Dataset, owner: &str, name: &str, others: &[&str]) -> anyhow::Result<ChatId> {
    let owner = account(data, owner)?;
    let others = others.iter().map(|login| account(data, login)).collect::<anyhow::Result<Vec<_>>>()?;
    let members = std::iter::once(account(data, LOGIN)?).chain(others.iter().copied());
    let group = NewGroup {
        name: name.into(),
        users: members.map(UserId::global).collect(),
        history: ChatHistory::default(),
        idempotency_key: key("group"),
    };
    let chat = unwrap_outcome(chats::create_group(app, &loaders(app, owner), owner, group).await)?;
    for member in others {
        unwrap_outcome(chats::accept(app, member, &chat.global()).await)?;
    }
    Ok(chat)
}
