//! The batch loaders of chats and their rows. A chat exists for its members only.

use super::model::{ChatRow, ChatSettings, ChatView, MemberRow};
use super::store::rows::{Reaction, ReactionKey, RowRange};
use super::store::{self, ChatDb, writers::SenderRange};
use crate::app::App;
use crate::base::error::Error;
use crate::base::ids::{ChatId, ChatMessageId, UserId};
use crate::base::loader::Fetch;
use crate::db::Db;
use std::sync::Arc;

/// Loads chats as one viewer has them; `None` for those that do not exist for the viewer. Without a session all are `None`, at no cost.
pub struct ChatFetcher {
    /// The app.
    pub app: App,
    /// The viewer, if there is a session.
    pub viewer: Option<UserId>,
}

impl Fetch for ChatFetcher {
    type Key = ChatId;
    type Value = Option<Arc<ChatView>>;

    async fn fetch(&self, keys: &[ChatId]) -> Result<Vec<Self::Value>, Error> {
        let Some(viewer) = self.viewer else { return Ok(vec![None; keys.len()]) };
        Ok(store::rows::views(ChatDb::of(&self.app), viewer, keys).await?.into_iter().map(|view| view.map(Arc::new)).collect())
    }
}

/// Loads rows without a check whether the viewer may read them; `None` for those that are not kept.
pub struct ChatRowFetcher(pub Db);

impl Fetch for ChatRowFetcher {
    type Key = ChatMessageId;
    type Value = Option<Arc<ChatRow>>;

    fn bytes(value: &Self::Value) -> usize {
        value.as_ref().map_or(0, |row| row.text.len())
    }

    async fn fetch(&self, keys: &[ChatMessageId]) -> Result<Vec<Self::Value>, Error> {
        Ok(store::rows::rows(&self.0, keys).await?.into_iter().map(|row| row.map(Arc::new)).collect())
    }
}

/// Loads whether the viewer has reacted to messages with an emoji. Without a session all are `false`, at no cost.
pub struct ChatReactionFetcher {
    /// Redis.
    pub db: Db,
    /// The viewer, if there is a session.
    pub viewer: Option<UserId>,
}

impl Fetch for ChatReactionFetcher {
    type Key = ReactionKey;
    type Value = bool;

    async fn fetch(&self, keys: &[ReactionKey]) -> Result<Vec<bool>, Error> {
        match self.viewer {
            Some(viewer) => store::rows::has_reacted(&self.db, viewer, keys).await,
            None => Ok(vec![false; keys.len()]),
        }
    }
}

/// Loads all reactions to messages, the newest first: emoji, account, and the id of the reaction.
pub struct ChatReactorFetcher(pub Db);

impl Fetch for ChatReactorFetcher {
    type Key = ChatMessageId;
    type Value = Arc<Vec<Reaction>>;

    async fn fetch(&self, keys: &[ChatMessageId]) -> Result<Vec<Self::Value>, Error> {
        Ok(store::rows::reactions(&self.0, keys).await?.into_iter().map(Arc::new).collect())
    }
}

/// Loads the members of chats with their positions, in no order, without a check whether the viewer may see them.
pub struct ChatMemberFetcher(pub Db);

impl Fetch for ChatMemberFetcher {
    type Key = ChatId;
    type Value = Arc<Vec<MemberRow>>;

    async fn fetch(&self, keys: &[ChatId]) -> Result<Vec<Self::Value>, Error> {
        Ok(store::writers::members(&self.0, keys).await?.into_iter().map(Arc::new).collect())
    }
}

/// Loads the accounts that have texts in groups.
pub struct ChatWriterFetcher(pub Db);

impl Fetch for ChatWriterFetcher {
    type Key = ChatId;
    type Value = Arc<Vec<UserId>>;

    async fn fetch(&self, keys: &[ChatId]) -> Result<Vec<Self::Value>, Error> {
        Ok(store::writers::writers(&self.0, keys).await?.into_iter().map(Arc::new).collect())
    }
}

/// Loads how many texts authors have in ranges of rows of groups. A key is a group, an author, the first and the last row.
pub struct AuthorTextFetcher(pub Db);

impl Fetch for AuthorTextFetcher {
    type Key = (ChatId, UserId, u64, u64);
    type Value = u64;

    async fn fetch(&self, keys: &[Self::Key]) -> Result<Vec<u64>, Error> {
        let ranges: Vec<SenderRange> = keys
            .iter()
            .map(|(chat, sender, from, to)| SenderRange { chat: *chat, sender: *sender, from: *from, to: *to })
            .collect();
        store::writers::count_texts_of(&self.0, &ranges).await
    }
}

/// Loads how many chats accounts have, and their chat settings.
pub struct ChatReceiverFetcher(pub Db);

impl Fetch for ChatReceiverFetcher {
    type Key = UserId;
    type Value = (u64, ChatSettings);

    async fn fetch(&self, keys: &[UserId]) -> Result<Vec<Self::Value>, Error> {
        store::lists::counts_and_settings(&self.0, keys).await
    }
}

/// Loads the sequence numbers of texts in ranges of rows, and where each search ended. A key is a chat, the first and the last row.
pub struct TextNumberFetcher(pub App);

impl Fetch for TextNumberFetcher {
    type Key = (ChatId, u64, u64);
    type Value = Arc<(Vec<u64>, u64)>;

    async fn fetch(&self, keys: &[Self::Key]) -> Result<Vec<Self::Value>, Error> {
        let ranges: Vec<RowRange> = keys.iter().map(|(chat, from, to)| RowRange { chat: *chat, from: *from, to: *to }).collect();
        Ok(store::rows::texts_in(ChatDb::of(&self.0), &ranges).await?.into_iter().map(Arc::new).collect())
    }
}
