//! Reads a chat for the accounts that receive its events. While one read of a chat runs, other accounts wait, and the next read is for many of them: an event
//! for hundreds of members takes a few round trips, and the chat's own data is read once for a hundred members.

use super::super::model::ChatView;
use super::super::store::{ChatDb, rows};
use crate::app::App;
use crate::base::error::Error;
use crate::base::ids::{ChatId, UserId};
use crate::db::{Meter, Work};
use futures_util::future::join_all;
use std::collections::{BTreeMap, HashMap};
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};
use tokio::sync::oneshot;

/// The maximum number of accounts for which a chat is read at a time.
const ACCOUNTS: usize = rows::ACCOUNTS_PER_SCRIPT;

/// What a waiter is charged: the work of reading the chat for one account.
const WORK_OF_READ: Work = Work { commands: 8, values: 17, bytes: 0 };

/// The chats that are being read, with the accounts that wait for the next read.
#[derive(Clone, Default)]
pub(super) struct EventViews(Arc<Mutex<HashMap<ChatId, Waiting>>>);

/// The subscriptions of each account that waits.
type Waiting = BTreeMap<UserId, Vec<oneshot::Sender<Reply>>>;

type Reply = Result<Option<Arc<ChatView>>, Error>;

impl EventViews {
    /// A chat as an account has it, read after this call; `None` if it does not exist for the account. Charged as a read for one account.
    ///
    /// # Errors
    /// `STORAGE_UNAVAILABLE`; internal for invalid data.
    pub(super) async fn load(&self, app: &App, account: UserId, chat: ChatId) -> Reply {
        let (reply, received) = oneshot::channel();
        if self.add(chat, account, reply) {
            let (views, own) = (self.clone(), app.clone());
            // The read is for many subscriptions, so it has the span of none.
            tracing::Span::none().in_scope(|| app.spawn(async move { views.read(&own, chat).await }));
        }
        if let Some(meter) = Meter::current() {
            meter.add(WORK_OF_READ);
        }
        received.await.unwrap_or_else(|_| Err(Error::corrupt("a chat")))
    }

    /// Adds an account that waits. Returns whether no read of the chat runs.
    fn add(&self, chat: ChatId, account: UserId, reply: oneshot::Sender<Reply>) -> bool {
        let mut all = self.lock();
        let is_first = !all.contains_key(&chat);
        all.entry(chat).or_default().entry(account).or_default().push(reply);
        is_first
    }

    /// Reads the chat until nobody waits.
    async fn read(&self, app: &App, chat: ChatId) {
        let end = EndOnDrop { views: self, chat };
        // The subscriptions that the same event has woken run first.
        tokio::task::yield_now().await;
        while let Some(waiting) = self.take(chat) {
            let accounts: Vec<UserId> = waiting.keys().copied().collect();
            for (replies, view) in waiting.into_values().zip(read(app, chat, &accounts).await) {
                for reply in replies {
                    // A subscription may have ended.
                    let _ = reply.send(view.clone());
                }
            }
        }
        // Another task may read the chat already.
        std::mem::forget(end);
    }

    /// Takes accounts that wait for a chat. If there are none, the chat is not being read any more.
    fn take(&self, chat: ChatId) -> Option<Waiting> {
        let mut all = self.lock();
        let waiting = all.get_mut(&chat)?;
        if waiting.is_empty() {
            all.remove(&chat);
            return None;
        }
        let rest = waiting.keys().nth(ACCOUNTS).copied().map(|next| waiting.split_off(&next)).unwrap_or_default();
        Some(std::mem::replace(waiting, rest))
    }

    fn lock(&self) -> MutexGuard<'_, HashMap<ChatId, Waiting>> {
        self.0.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

/// A chat as accounts have it, in their order. If the read for all fails, each is read separately: a key of one account may be invalid, or its node of a
/// cluster unreachable.
async fn read(app: &App, chat: ChatId, accounts: &[UserId]) -> Vec<Reply> {
    let shared = |view: Result<Option<ChatView>, Error>| view.map(|view| view.map(Arc::new));
    match rows::views_of(ChatDb::of(app), chat, accounts).await {
        Ok(views) => views.into_iter().map(shared).collect(),
        Err(error) if accounts.len() == 1 => vec![Err(error)],
        Err(_) => {
            let own = async |account: &UserId| {
                let views = rows::views_of(ChatDb::of(app), chat, std::slice::from_ref(account)).await?;
                views.into_iter().next().unwrap_or(Ok(None))
            };
            join_all(accounts.iter().map(own)).await.into_iter().map(shared).collect()
        }
    }
}

/// Ends the reads of a chat if their task is dropped or panics: the waiters get an error, and the next account starts a new task.
struct EndOnDrop<'a> {
    views: &'a EventViews,
    chat: ChatId,
}

impl Drop for EndOnDrop<'_> {
    fn drop(&mut self) {
        self.views.lock().remove(&self.chat);
    }
}
