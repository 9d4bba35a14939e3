//! The reading half of a socket: what comes, what becomes of it, and the times that it is held to.

use super::budget::Budget;
use super::close::Close;
use super::message::{self, ACK};
use super::operation;
use super::socket::{End, Shared};
use super::who::{self, Known};
use crate::domains::streaming::service as streaming;
use crate::platform::rates::Subject;
use crate::server::asked;
use crate::server::config::LiveConfig;
use crate::server::json::Object;
use crate::server::live::{Kind, Place, Refused};
use crate::server::response::Refusal;
use axum::extract::ws::{Message, WebSocket};
use axum::http::{HeaderValue, StatusCode};
use futures_util::future::{BoxFuture, pending};
use futures_util::stream::SplitStream;
use futures_util::{FutureExt, StreamExt};
use std::sync::Arc;
use std::time::Duration;
use tokio::sync::mpsc::error::TrySendError;
use tokio::time::{Instant, sleep_until};

/// A time that is noticed so much later than it came shows that this process did not run. What clients have sent meanwhile is read before they
/// are judged, for as long again.
const LATE: Duration = Duration::from_millis(250);

/// The reading half.
pub(super) struct Reader {
    shared: Arc<Shared>,
    authorization: Option<HeaderValue>,
    place: Place,
    who: Who,
    /// Ends when the session of who asks has.
    ended: BoxFuture<'static, ()>,
    budget: Budget,
    ping_at: Instant,
    pong_by: Option<Instant>,
    begun: u64,
}

/// Who asks.
enum Who {
    /// It is to be said by this time.
    Unsaid(Instant),
    /// It was said, and is being found out.
    Asked(BoxFuture<'static, Result<Known, Close>>),
    /// It is known.
    Known(Arc<Known>),
}

impl Who {
    /// Ends when it is found out.
    async fn found_out(&mut self) -> Result<Known, Close> {
        match self {
            Self::Asked(asking) => asking.await,
            Self::Unsaid(_) | Self::Known(_) => pending().await,
        }
    }
}

impl Reader {
    pub(super) fn new(shared: Arc<Shared>, authorization: Option<HeaderValue>, place: Place) -> Self {
        let (now, live) = (Instant::now(), &shared.state.edge.live);
        let budget = Budget::new(live.messages_a_second, live.message_burst, now);
        let (who, ping_at) = (Who::Unsaid(now + live.init_timeout), now + live.ping_every);
        Self { shared, authorization, place, who, ended: pending().boxed(), budget, ping_at, pong_by: None, begun: 0 }
    }

    /// How many operations it has begun.
    pub(super) const fn begun(&self) -> u64 {
        self.begun
    }

    fn live(&self) -> &LiveConfig {
        &self.shared.state.edge.live
    }

    /// Reads until there is nothing more to read, or a reason to end.
    pub(super) async fn run(&mut self, frames: &mut SplitStream<WebSocket>) -> End {
        let shared = self.shared.clone();
        let farewell = shared.state.live.farewell(shared.state.edge.live.farewell);
        tokio::pin!(farewell);
        loop {
            let due = self.due();
            let done = tokio::select! {
                frame = frames.next() => match frame {
                    Some(Ok(frame)) => self.frame(frame),
                    Some(Err(error)) => return broken(error),
                    None => return End::Gone,
                },
                known = self.who.found_out() => known.and_then(|known| self.known(known)),
                () = sleep_until(due) => self.overdue(),
                () = &mut self.ended => Err(Close::FORBIDDEN),
                () = shared.forbidden.cancelled() => Err(Close::FORBIDDEN),
                seconds = &mut farewell => Err(Close::farewell(seconds)),
            };
            if let Err(close) = done {
                return End::Close(close);
            }
        }
    }

    /// When something is due if nothing comes.
    fn due(&self) -> Instant {
        let init_by = match self.who {
            Who::Unsaid(by) => Some(by),
            Who::Asked(_) | Who::Known(_) => None,
        };
        [init_by, self.pong_by].into_iter().flatten().fold(self.ping_at, Instant::min)
    }

    fn overdue(&mut self) -> Result<(), Close> {
        let now = Instant::now();
        if now.saturating_duration_since(self.due()) > LATE {
            self.postpone(now);
            return Ok(());
        }
        if matches!(self.who, Who::Unsaid(by) if by <= now) {
            return Err(Close::INIT_TIMEOUT);
        }
        if self.pong_by.is_some_and(|by| by <= now) {
            return Err(Close::NO_PONG);
        }
        if self.ping_at <= now {
            self.say(Message::Ping(Default::default()))?;
            self.ping_at = now + self.live().ping_every;
            // One that waits for its answer already is not given more time by the next.
            self.pong_by = self.pong_by.or(Some(now + self.live().pong_timeout));
        }
        Ok(())
    }

    /// Nothing is due before what has arrived by `now` was read.
    fn postpone(&mut self, now: Instant) {
        if let Who::Unsaid(by) = &mut self.who {
            *by = (*by).max(now + LATE);
        }
        self.pong_by = self.pong_by.map(|by| by.max(now + LATE));
        self.ping_at = self.ping_at.max(now);
    }

    fn frame(&mut self, frame: Message) -> Result<(), Close> {
        let now = Instant::now();
        // Whatever comes, somebody is there.
        self.pong_by = None;
        if !self.budget.take(now) {
            return Err(Close::MESSAGES);
        }
        match frame {
            Message::Text(text) => self.message(&text),
            Message::Binary(_) => Err(Close::bad("Messages are text")),
            // Answered by the library, also a close.
            Message::Ping(_) | Message::Pong(_) | Message::Close(_) => Ok(()),
        }
    }

    fn message(&mut self, text: &str) -> Result<(), Close> {
        match message::read(text)? {
            message::Message::Init(payload) => return self.init(payload.unwrap_or_default()),
            message::Message::Ping(payload) => return self.say(Message::text(message::pong(payload))),
            message::Message::Pong => {}
            message::Message::Subscribe(id, payload) => return self.subscribe(id, payload),
            message::Message::Complete(id) => {
                self.shared.operations.cancel(&id);
            }
        }
        Ok(())
    }

    fn init(&mut self, payload: Object) -> Result<(), Close> {
        if !matches!(self.who, Who::Unsaid(_)) {
            return Err(Close::SECOND_INIT);
        }
        let authorization = who::authorization(payload, self.authorization.take())?;
        self.who = Who::Asked(who::known(self.shared.state.clone(), authorization).boxed());
        Ok(())
    }

    /// It is known who asks: a socket of an account's counts among those.
    fn known(&mut self, known: Known) -> Result<(), Close> {
        if let Some(viewer) = &known.viewer {
            let (live, account) = (&self.shared.state.live, Some(Subject::Account(viewer.user)));
            self.place = live.places.take(Kind::Socket, account, self.live().account_sockets).ok_or(Close::SOCKETS)?;
            let (app, viewer) = (self.shared.state.app.clone(), viewer.clone());
            self.ended = async move { streaming::wait_for_session_end(&app, &viewer).await }.boxed();
        }
        self.who = Who::Known(Arc::new(known));
        self.say(Message::text(ACK))
    }

    fn subscribe(&mut self, id: String, payload: &str) -> Result<(), Close> {
        let Who::Known(known) = &self.who else { return Err(Close::UNAUTHORIZED) };
        let asked = asked::from_payload(payload);
        if let Err(refusal) = asked.as_ref().map(drop)
            && refusal.is_bad_request()
        {
            return Err(Close::bad_json(refusal.message.clone()));
        }
        let (shared, known, max) = (self.shared.clone(), known.clone(), self.live().operations);
        let begun = self.shared.operations.begin(id.clone(), max, |lease| operation::run(shared, known, asked, lease));
        match begun {
            Ok(()) => self.begun += 1,
            Err(Refused::Taken) => return Err(Close::taken(&id)),
            Err(Refused::Full) => {
                let refusal =
                    Refusal::new(StatusCode::TOO_MANY_REQUESTS, "LIMIT_REACHED", "This socket has all the operations it may.");
                return self.say(Message::text(message::error(&id, &refusal.over("operations").errors())));
            }
        }
        Ok(())
    }

    /// Besides what operations say. Who asks for more of it than they read has asked too much.
    fn say(&self, message: Message) -> Result<(), Close> {
        match self.shared.control.try_send(message) {
            Err(TrySendError::Full(_)) => Err(Close::MESSAGES),
            // Without a writer the socket ends.
            Ok(()) | Err(TrySendError::Closed(_)) => Ok(()),
        }
    }
}

/// What a frame that cannot be read comes to.
fn broken(error: axum::Error) -> End {
    use tungstenite::Error;
    use tungstenite::error::ProtocolError;
    let inner = error.into_inner();
    match inner.downcast_ref::<Error>() {
        Some(Error::Capacity(_)) => End::Close(Close::TOO_LONG),
        Some(Error::Utf8(_)) => End::Close(Close::NO_TEXT),
        Some(Error::Protocol(ProtocolError::ResetWithoutClosingHandshake)) => End::Gone,
        Some(Error::Protocol(_)) => End::Close(Close::BROKEN),
        _ => End::Gone,
    }
}
