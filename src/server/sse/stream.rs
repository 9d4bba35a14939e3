//! The body of an event stream: what is said, and a comment from time to time where nothing is. It ends with its operation, with the
//! session under which it began, and with the server.

use super::reserved::Attached;
use super::{Parts, event};
use crate::base::metrics::Held;
use crate::base::viewer::Viewer;
use crate::domains::streaming::service as streaming;
use crate::server::State;
use crate::server::live::{Open, Place, Running, What};
use crate::server::unread::Reader;
use axum::body::{Body, Bytes};
use axum::response::Response;
use futures_util::FutureExt;
use futures_util::future::{BoxFuture, pending};
use futures_util::stream;
use std::sync::Arc;
use tokio::time::{Instant, Interval, MissedTickBehavior, interval_at};

/// Parts that are shorter are not counted as unread, in bytes: the library queues some sixteen of them.
const SHORT_PART: usize = 1 << 10;

/// An event stream.
pub(super) struct Events {
    source: Source,
    keep_alive: Interval,
    ended: BoxFuture<'static, ()>,
    farewell: BoxFuture<'static, u64>,
    next: Next,
    reader: Arc<Reader>,
    _log: Log,
    _place: Option<Place>,
    _metric: Held,
    _open: Open,
}

/// Whose words they are.
pub(super) enum Source {
    /// One operation's.
    One(Box<Running>),
    /// Those of all that were asked for.
    Reserved(Attached),
}

enum Next {
    First,
    More,
    Nothing,
}

impl Source {
    /// Whether what it says is told however much is unread: what a mutation came to, and what was let into a queue.
    fn is_told_anyway(&self) -> bool {
        match self {
            Self::One(running) => running.is_mutation(),
            Self::Reserved(_) => true,
        }
    }

    /// What is written next, and whether that is the last. It ends with the stream at the latest.
    async fn next(&mut self) -> (String, bool) {
        match self {
            Self::One(running) => match running.say().await {
                what @ What::Error(_) => (event::distinct(&what) + &event::distinct(&What::Complete), true),
                what => (event::distinct(&what), what.is_last()),
            },
            Self::Reserved(attached) => (event::shared(&attached.next().await), false),
        }
    }
}

impl Events {
    /// One that was asked for by `viewer`, or by nobody.
    pub(super) fn new(
        state: &State,
        viewer: Option<&Viewer>,
        source: Source,
        place: impl Into<Option<Place>>,
        reader: Arc<Reader>,
    ) -> Self {
        let every = state.edge.live.keep_alive;
        let mut keep_alive = interval_at(Instant::now() + every, every);
        keep_alive.set_missed_tick_behavior(MissedTickBehavior::Delay);
        let ended = viewer.cloned().map(|viewer| {
            let app = state.app.clone();
            async move { streaming::ended(&app, &viewer).await }.boxed()
        });
        let (live, most) = (state.live.clone(), state.edge.live.farewell);
        Self {
            source,
            keep_alive,
            ended: ended.unwrap_or_else(|| pending().boxed()),
            farewell: async move { live.farewell(most).await }.boxed(),
            next: Next::First,
            reader,
            _log: Log { began: Instant::now(), span: tracing::Span::current() },
            _place: place.into(),
            _metric: state.app.metrics().live_stream("sse"),
            _open: state.live.open(),
        }
    }

    /// The answer that it is the body of. Its connection ends with its reader's others where that has too much unread.
    pub(super) fn answer(self) -> Response {
        let reader = self.reader.clone();
        let mut response = super::answer(Body::from_stream(self.run()));
        response.extensions_mut().insert(reader);
        response
    }

    fn run(self) -> impl Parts {
        stream::unfold(self, async |mut this| {
            let text = this.part().await?;
            Some((Ok(this.counted(text)), this))
        })
    }

    /// Counts a long part as unread until it is written. Where that is too much for its address, an error stands in its place and ends
    /// the stream.
    fn counted(&mut self, text: String) -> Bytes {
        if text.len() < SHORT_PART {
            return Bytes::from(text);
        }
        let held = match self.source.is_told_anyway() {
            true => Ok(self.reader.hold_anyway(text.len())),
            false => self.reader.hold(text.len()),
        };
        match held {
            Ok(held) => held.keep(text),
            Err(refusal) => {
                self.next = Next::Nothing;
                let errors = What::Error(refusal.errors().to_string());
                Bytes::from([errors, What::Complete].map(|what| event::distinct(&what)).concat())
            }
        }
    }

    async fn part(&mut self) -> Option<String> {
        match self.next {
            Next::First => {
                // Who waits for the head of the answer has it now.
                self.next = Next::More;
                return Some(event::COMMENT.into());
            }
            Next::More => {}
            Next::Nothing => return None,
        }
        let disconnected = self.reader.disconnected().clone();
        tokio::select! {
            // Nothing is said any more behind a session's end.
            biased;
            () = &mut self.ended => None,
            // Nothing that is said any more would be taken.
            () = disconnected.cancelled() => None,
            (text, is_last) = self.source.next() => {
                self.keep_alive.reset();
                if is_last {
                    self.next = Next::Nothing;
                }
                Some(text)
            }
            _ = self.keep_alive.tick() => Some(event::COMMENT.into()),
            seconds = &mut self.farewell => {
                self.next = Next::Nothing;
                Some(event::farewell(seconds))
            }
        }
    }
}

/// Says when a stream has ended, under the id of the request that began it.
struct Log {
    began: Instant,
    span: tracing::Span,
}

impl Drop for Log {
    fn drop(&mut self) {
        let duration_ms = self.began.elapsed().as_secs_f64() * 1_000.0;
        self.span.in_scope(|| tracing::info!(duration_ms, "event stream ended"));
    }
}
