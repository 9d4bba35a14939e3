//! Subscribes to sharded channels, over one connection per node.
//!
//! A subscriber keeps its subscriptions while connections break and slots move, and reports each time that it has resubscribed: messages published
//! in between are lost. If messages are not consumed in time, the connection is dropped and its channels are resubscribed, so that memory stays
//! bounded.

use super::Db;
use crate::base::deadline::within;
use crate::base::error::Error;
use futures_util::future::join_all;
use redis::aio::MultiplexedConnection;
use redis::{AsyncConnectionConfig, Client, Cmd, FromRedisValue, PushInfo, PushKind, cmd};
use std::collections::HashMap;
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};
use std::time::Duration;
use tokio::sync::mpsc;
use tokio::time::{Instant, MissedTickBehavior, interval};

/// The kinds of channels, in the order in which they are subscribed.
pub const CHANNELS: [&str; 5] = ["stream", "changes", "privacy", "typing", "discussion"];
/// Maximum number of push messages that wait to be processed.
const PUSHES: usize = 8_192;
/// Maximum number of messages that wait for the consumer.
const MESSAGES: usize = 1_024;
/// The interval of the health checks of connections.
const PROBE_INTERVAL: Duration = Duration::from_secs(3);
/// The delay before a failed subscription is retried: the first and the longest.
const RETRY: (Duration, Duration) = (Duration::from_millis(50), Duration::from_secs(1));

/// A message of a subscriber to its consumer.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum PubSubMessage {
    /// The channel is subscribed. If it was subscribed before, messages may have been lost.
    Subscribed {
        /// The channel.
        channel: String,
        /// Whether it was subscribed before.
        is_resubscribed: bool,
    },
    /// A published message.
    Message {
        /// The channel.
        channel: String,
        /// The payload.
        payload: Vec<u8>,
    },
}

/// A request to the task that subscribes.
enum ChannelCommand {
    Subscribe(String),
    Unsubscribe(String),
}

/// Subscribes and unsubscribes. The task ends when the last clone is dropped.
#[derive(Clone)]
pub struct Subscriber(mpsc::UnboundedSender<ChannelCommand>);

impl Subscriber {
    /// Starts a subscriber; returns it with the receiver of its messages.
    pub fn open(db: Db) -> (Self, mpsc::Receiver<PubSubMessage>) {
        let (commands, command_receiver) = mpsc::unbounded_channel();
        let (messages, receiver) = mpsc::channel(MESSAGES);
        let (sender, pushes) = mpsc::channel(PUSHES);
        let task = SubscriberTask {
            db,
            messages,
            pushes,
            sender,
            channels: HashMap::new(),
            connections: HashMap::new(),
            last_number: 0,
            pause: RETRY.0,
            stale: false,
        };
        tokio::spawn(task.run(command_receiver));
        (Self(commands), receiver)
    }

    /// Subscribes to a channel until [`Self::unsubscribe`]. Idempotent.
    pub fn subscribe(&self, channel: String) {
        let _ = self.0.send(ChannelCommand::Subscribe(channel));
    }

    /// Unsubscribes from a channel.
    pub fn unsubscribe(&self, channel: String) {
        let _ = self.0.send(ChannelCommand::Unsubscribe(channel));
    }
}

/// A requested channel.
#[derive(Default)]
struct Channel {
    /// The number of the connection over which the channel is subscribed; `None` if it is not.
    connection: Option<u64>,
    /// Whether it was ever subscribed.
    was_subscribed: bool,
}

/// The connection to a node over which channels are subscribed.
struct NodeConnection {
    number: u64,
    /// Whether push messages were dropped.
    overrun: Arc<AtomicBool>,
    connection: MultiplexedConnection,
}

/// A push message, with the number of its connection.
type NumberedPush = (u64, PushInfo);

struct SubscriberTask {
    db: Db,
    messages: mpsc::Sender<PubSubMessage>,
    pushes: mpsc::Receiver<NumberedPush>,
    sender: mpsc::Sender<NumberedPush>,
    channels: HashMap<String, Channel>,
    /// The connections by the address of their node.
    connections: HashMap<String, NodeConnection>,
    /// The number of the connection that was opened last.
    last_number: u64,
    pause: Duration,
    /// Whether the slot map must be refreshed.
    stale: bool,
}

impl SubscriberTask {
    async fn run(mut self, mut commands: mpsc::UnboundedReceiver<ChannelCommand>) {
        let mut probe = interval(PROBE_INTERVAL);
        probe.set_missed_tick_behavior(MissedTickBehavior::Delay);
        let mut next_try = Instant::now();
        loop {
            let missing = self.channels.values().any(|channel| channel.connection.is_none());
            tokio::select! {
                command = commands.recv() => {
                    let Some(command) = command else { return };
                    let mut abandoned = Vec::new();
                    let mut next = Some(command);
                    while let Some(command) = next {
                        self.handle_command(command, &mut abandoned);
                        next = commands.try_recv().ok();
                    }
                    self.unsubscribe(abandoned).await;
                    next_try = Instant::now();
                }
                Some((number, push)) = self.pushes.recv() => if !self.handle_push(number, push).await { return },
                _ = probe.tick() => self.probe().await,
                () = tokio::time::sleep_until(next_try), if missing => {
                    if !self.subscribe().await {
                        return;
                    }
                    self.pause = if self.channels.values().any(|it| it.connection.is_none()) { (self.pause * 2).min(RETRY.1) } else { RETRY.0 };
                    next_try = Instant::now() + self.pause;
                }
            }
        }
    }

    /// Adds or removes a channel. A removed channel that is subscribed is added to `abandoned`, with the number of its connection.
    fn handle_command(&mut self, command: ChannelCommand, abandoned: &mut Vec<(String, u64)>) {
        match command {
            ChannelCommand::Subscribe(channel) => drop(self.channels.entry(channel).or_default()),
            ChannelCommand::Unsubscribe(channel) => {
                if let Some(number) = self.channels.remove(&channel).and_then(|it| it.connection) {
                    abandoned.push((channel, number));
                }
            }
        }
    }

    /// Unsubscribes from channels. A connection that does not confirm this is dropped.
    async fn unsubscribe(&mut self, abandoned: Vec<(String, u64)>) {
        let unsubscribe_one = async |(channel, number): &(String, u64)| {
            let it = self.connections.values().find(|it| it.number == *number && !self.channels.contains_key(channel))?;
            let reply = send(&it.connection, &self.db, cmd("SUNSUBSCRIBE").arg(channel).take()).await;
            (!matches!(reply, Ok(true))).then_some(*number)
        };
        let lost: Vec<u64> = join_all(abandoned.iter().map(unsubscribe_one)).await.into_iter().flatten().collect();
        lost.into_iter().for_each(|number| self.drop_connection(number));
    }

    /// Handles a push message; `false` if the consumer was dropped.
    async fn handle_push(&mut self, number: u64, push: PushInfo) -> bool {
        let overrun = self.connections.values().filter(|it| it.overrun.load(Ordering::Relaxed)).map(|it| it.number);
        for number in overrun.collect::<Vec<_>>() {
            tracing::warn!("too many messages are published: the subscriptions are renewed");
            self.drop_connection(number);
        }
        match push.kind {
            PushKind::SMessage => {
                let mut data = push.data.into_iter();
                let channel = data.next().and_then(|it| String::from_redis_value(it).ok());
                let payload = data.next().and_then(|it| Vec::<u8>::from_redis_value(it).ok());
                match channel.zip(payload) {
                    Some((channel, payload)) if self.channels.contains_key(&channel) => {
                        self.messages.send(PubSubMessage::Message { channel, payload }).await.is_ok()
                    }
                    _ => true,
                }
            }
            // A slot has moved, and its channels with it.
            PushKind::SUnsubscribe => {
                let channel = push.data.into_iter().next().and_then(|it| String::from_redis_value(it).ok());
                if let Some(it) =
                    channel.and_then(|channel| self.channels.get_mut(&channel)).filter(|it| it.connection == Some(number))
                {
                    (it.connection, self.stale) = (None, true);
                }
                true
            }
            PushKind::Disconnection => {
                self.drop_connection(number);
                true
            }
            _ => true,
        }
    }

    /// Drops a connection.
    fn drop_connection(&mut self, number: u64) {
        self.connections.retain(|_, it| it.number != number);
        for channel in self.channels.values_mut().filter(|it| it.connection == Some(number)) {
            channel.connection = None;
        }
    }

    /// Pings every connection, and drops those that do not reply.
    async fn probe(&mut self) {
        let timeout = self.db.timing().response;
        let ping = async |it: &NodeConnection| {
            let mut connection = it.connection.clone();
            let reply = within(timeout, cmd("PING").query_async::<redis::Value>(&mut connection)).await;
            (!matches!(reply, Ok(Ok(_)))).then_some(it.number)
        };
        let lost: Vec<u64> = join_all(self.connections.values().map(ping)).await.into_iter().flatten().collect();
        for number in lost {
            tracing::warn!("a subscribed connection does not reply: it is reopened");
            self.drop_connection(number);
        }
    }

    /// Subscribes to all channels without subscription; `false` if the consumer was dropped. Failures are retried later.
    async fn subscribe(&mut self) -> bool {
        let mut missing: Vec<String> =
            self.channels.iter().filter(|(_, it)| it.connection.is_none()).map(|(name, _)| name.clone()).collect();
        missing.sort_by_key(|channel| CHANNELS.iter().position(|kind| channel.starts_with(kind)));
        let stale = std::mem::take(&mut self.stale);
        let Ok(nodes) = self.db.topology.channel_nodes(&missing, stale).await else {
            self.stale = true;
            return true;
        };
        for (address, (client, channels)) in nodes {
            let Ok(number) = self.connect(&address, &client).await else {
                self.stale = true;
                continue;
            };
            let connection = self.connections[&address].connection.clone();
            let replies =
                join_all(channels.iter().map(|channel| send(&connection, &self.db, cmd("SSUBSCRIBE").arg(channel).take()))).await;
            for (channel, reply) in channels.into_iter().zip(replies) {
                match reply {
                    Ok(true) => {
                        let Some(it) = self.channels.get_mut(&channel) else { continue };
                        it.connection = Some(number);
                        let is_resubscribed = std::mem::replace(&mut it.was_subscribed, true);
                        if self.messages.send(PubSubMessage::Subscribed { channel, is_resubscribed }).await.is_err() {
                            return false;
                        }
                    }
                    Ok(false) => self.stale = true,
                    Err(_) => {
                        self.drop_connection(number);
                        self.stale = true;
                        break;
                    }
                }
            }
        }
        true
    }

    /// The number of the connection to a node, which is opened if there is none.
    async fn connect(&mut self, address: &str, client: &Client) -> Result<u64, Error> {
        if let Some(it) = self.connections.get(address) {
            return Ok(it.number);
        }
        self.last_number += 1;
        let (number, sender, overrun) = (self.last_number, self.sender.clone(), Arc::new(AtomicBool::new(false)));
        let full = overrun.clone();
        let timing = self.db.timing();
        let config = AsyncConnectionConfig::new().set_connection_timeout(None).set_response_timeout(None).set_push_sender(
            move |push: PushInfo| {
                if sender.try_send((number, push)).is_err() {
                    full.store(true, Ordering::Relaxed);
                }
                Ok::<(), redis::aio::SendError>(())
            },
        );
        let connecting = within(timing.connect, client.get_multiplexed_async_connection_with_config(&config)).await;
        let connection = match connecting {
            Ok(Ok(connection)) => connection,
            Ok(Err(error)) => {
                tracing::debug!(%error, "cannot connect for subscriptions");
                return Err(Error::StorageUnavailable);
            }
            Err(_) => return Err(Error::StorageUnavailable),
        };
        self.connections.insert(address.to_owned(), NodeConnection { number, overrun, connection });
        Ok(number)
    }
}

/// Sends a command for a channel; returns whether the node has accepted it. Connection failures and timeouts are errors.
async fn send(connection: &MultiplexedConnection, db: &Db, command: Cmd) -> Result<bool, Error> {
    let mut connection = connection.clone();
    match within(db.timing().response, connection.send_packed_command(&command)).await {
        Ok(Ok(reply)) => Ok(reply.extract_error().is_ok()),
        Ok(Err(error)) if error.is_connection_dropped() || error.is_timeout() || error.is_io_error() => {
            Err(Error::StorageUnavailable)
        }
        Ok(Err(error)) => {
            tracing::debug!(%error, "a node has refused a command for a channel");
            Ok(false)
        }
        Err(_) => Err(Error::StorageUnavailable),
    }
}
