//! Comparisons of what an account reads with the model.

use super::Play;
use super::reads::{PageOf, pages_of};
use super::views::List;
use crate::privacy_model::model::PEOPLE;
use rand::Rng;
use rand::seq::IteratorRandom;
use serde_json::Value;

const LISTS: [List; 3] = [List::Inbox, List::Archived, List::Requests];
/// Chats whose rows are compared at once.
const SOME: usize = 2;

impl Play {
    /// Compares the lists of who has run the last operation, unless the workers may still have something to settle for that account: they must be right at
    /// once.
    pub(super) async fn check_own(&mut self) {
        let viewer = self.last_actor;
        if self.unsettled.contains(&viewer) || self.random.random_bool(0.5) {
            return;
        }
        self.check_lists(viewer, "at once").await;
    }

    /// Compares lists, counts and cards of an account.
    async fn check_lists(&mut self, viewer: usize, when: &str) {
        let sizes = [1, 7, 100];
        for list in LISTS {
            let (size, is_backward) = (sizes[self.random.random_range(0..3)], self.random.random_bool(0.5));
            let found = self.reader(viewer).list(list, size, is_backward).await;
            let expected = pages_of(&self.model.list(viewer, list), size, is_backward);
            assert_eq!(found, expected, "{list:?} of {viewer} in pages of {size} {when}: {}", self.context());
        }
        let counts = LISTS.map(|list| self.model.list(viewer, list).len()).to_vec();
        assert_eq!(self.reader(viewer).total_counts().await, counts, "the counts of {viewer} {when}: {}", self.context());
        let badge = self.reader(viewer).badge().await;
        assert_eq!(badge, self.model.badge(viewer), "the badge of {viewer} {when}: {}", self.context());
        self.comparisons += 5;
    }

    /// Compares all that an account reads. The lists are settled.
    pub(super) async fn check(&mut self, viewer: usize) {
        self.check_lists(viewer, "settled").await;
        // Positions are read before rows are delivered.
        for chat in 0..self.model.chats.len() {
            let (found, expected) = (self.reader(viewer).card(chat).await, self.model.card(viewer, chat));
            assert_eq!(found, expected, "chat {chat} of {viewer}: {}", self.context());
        }
        self.check_settings(viewer).await;
        let some = (0..self.model.chats.len()).choose_multiple(&mut self.random, SOME);
        for chat in some {
            self.check_rows(viewer, chat).await;
            self.check_around(viewer, chat).await;
            self.check_message(viewer, chat).await;
            self.check_newest_and_oldest(viewer, chat).await;
        }
        self.check_pending(viewer).await;
        self.comparisons += self.model.chats.len() + 4 * SOME + 2;
    }

    async fn check_settings(&self, viewer: usize) {
        let expected = (format!("{:?}", self.model.who[viewer]).to_uppercase(), self.model.shares[viewer]);
        assert_eq!(self.reader(viewer).settings().await, expected, "the settings of {viewer}: {}", self.context());
    }

    async fn check_pending(&mut self, viewer: usize) {
        let per_chat = [1, 3, 20][self.random.random_range(0..3)];
        let found = self.reader(viewer).pending(per_chat).await;
        let pending = self.model.pending(viewer, per_chat);
        let rows =
            |chat: usize, rows: &[usize]| rows.iter().map(|row| self.model.row(viewer, chat, *row)).collect::<Vec<Value>>();
        let expected: Vec<(usize, usize, Vec<Value>, bool)> =
            pending.iter().map(|(chat, count, shown, more)| (*chat, *count, rows(*chat, shown), *more)).collect();
        assert_eq!(found, expected, "what is pending for {viewer}: {}", self.context());
        for (chat, _, rows, _) in pending {
            self.model.deliver(viewer, chat, rows.last().copied().unwrap_or_default());
        }
    }

    async fn check_rows(&mut self, viewer: usize, chat: usize) {
        let readable = self.model.readable(viewer, chat);
        // A long chat is not read in pages of one row.
        let sizes: &[usize] = if readable.len() > 40 { &[7, 100] } else { &[1, 7, 100] };
        let (size, is_backward) = (sizes[self.random.random_range(0..sizes.len())], self.random.random_bool(0.5));
        let found = self.reader(viewer).rows(chat, size, is_backward).await;
        let rows: Vec<Value> = readable.iter().map(|row| self.model.row(viewer, chat, *row)).collect();
        let expected = self.model.chats[chat].shown(viewer).map(|_| pages_of(&rows, size, is_backward));
        assert_eq!(found, expected, "rows of {chat} for {viewer} in pages of {size}, backward {is_backward}: {}", self.context());
        self.model.deliver(viewer, chat, readable.first().copied().unwrap_or_default());
    }

    async fn check_around(&mut self, viewer: usize, chat: usize) {
        let readable = self.model.readable(viewer, chat);
        let count = self.random.random_range(1..9);
        let around = self.random.random_range(0..=self.model.chats[chat].rows.len() + 2);
        let found = self.reader(viewer).around(chat, around, count).await;
        let expected = self.model.chats[chat].shown(viewer).map(|_| around_page(&readable, around, count));
        assert_eq!(found, expected, "{count} rows of {chat} around {around} for {viewer}: {}", self.context());
        let newest = found.iter().flatten().flat_map(|page| page.0.iter().copied()).max();
        self.model.deliver(viewer, chat, newest.unwrap_or_default());
    }

    async fn check_message(&mut self, viewer: usize, chat: usize) {
        let rows = self.model.chats[chat].rows.len();
        if rows == 0 {
            return;
        }
        let sequence = rows - self.random.random_range(0..rows.min(20));
        let (found, reactors) = self.reader(viewer).message((chat, sequence)).await;
        let expected = self.model.row(viewer, chat, sequence);
        let who = if expected.is_null() {
            Vec::new()
        } else {
            self.model.reactors(viewer, chat, &self.model.chats[chat].rows[sequence - 1])
        };
        assert_eq!((found, reactors), (expected, who), "row {sequence} of {chat} for {viewer}: {}", self.context());
    }

    async fn check_newest_and_oldest(&mut self, viewer: usize, chat: usize) {
        let readable = self.model.readable(viewer, chat);
        let newest = readable.first().map_or(Value::Null, |row| self.model.row(viewer, chat, *row));
        let oldest = readable.last().map_or(Value::Null, |row| Value::from(*row));
        let found = self.reader(viewer).ends(chat).await;
        assert_eq!(found, (newest, oldest), "the ends of {chat} for {viewer}: {}", self.context());
        self.model.deliver(viewer, chat, readable.first().copied().unwrap_or_default());
    }

    /// An account at random.
    pub(super) fn viewer(&mut self) -> usize {
        self.random.random_range(0..PEOPLE)
    }
}

/// The page around a row of a chat whose readable rows are these, and three rows of the pages that go on from there.
fn around_page(readable: &[usize], around: usize, count: usize) -> [PageOf<usize>; 3] {
    let (Some(newest), Some(oldest)) = (readable.first(), readable.last()) else { return Default::default() };
    let anchor = around.clamp(*oldest, *newest);
    let (from, to) = (anchor.saturating_sub(count / 2).max(*oldest), (anchor + (count - 1) / 2).min(*newest));
    let page = |from: usize, to: usize| ((from..=to).rev().collect(), from > *oldest, to < *newest);
    let older = if from > *oldest { page(from.saturating_sub(3).max(*oldest), from - 1) } else { PageOf::default() };
    let newer = if to < *newest { page(to + 1, (to + 3).min(*newest)) } else { PageOf::default() };
    [page(from, to), older, newer]
}
