//! Mail: templates, and the transport of messages to a mail server or to files. It keeps no data: the journal has the messages that wait, and
//! [`crate::domains::users`] decides what each message is for.
//!
//! **Delivery.** A message is handed over at least once. After a temporary failure (a refused, hung or cut connection, a reply 4xx) it is handed over
//! again; a reply 5xx is permanent. A connection may take 10 seconds, each reply 30.
//!
//! **Secrets.** Messages have addresses and tokens. No error and no line of the log here has either, nor the text of a reply, which may repeat an
//! address: a failure has the step and the number of the reply.

mod message;
mod outbox;
pub mod service;
mod smtp;
mod templates;

pub use message::{LinkToken, MailFailure, MailMessage, StoredMessage};
pub use service::Mailer;
