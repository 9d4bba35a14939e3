//! The transport to a mail server: one connection for each message, with a time limit for each step.

use super::message::MailFailure;
use crate::base::mail::{SmtpServer, SmtpTls};
use lettre::address::Envelope;
use lettre::transport::smtp::Error;
use lettre::transport::smtp::authentication::{Credentials, Mechanism};
use lettre::transport::smtp::client::{AsyncSmtpConnection, AsyncTokioStream, TlsParameters};
use lettre::transport::smtp::commands::{Data, Mail, Rcpt};
use lettre::transport::smtp::extension::ClientId;
use rustls::pki_types::ServerName;
use std::io;
use std::net::SocketAddr;
use std::pin::Pin;
use std::sync::Arc;
use std::task::{Context, Poll};
use std::time::Duration;
use tokio::io::{AsyncRead, AsyncWrite, ReadBuf};
use tokio::net::TcpStream;
use tokio_rustls::TlsConnector;
use tokio_rustls::client::TlsStream;

/// The time limits of a dialogue with a mail server.
#[derive(Clone, Copy, Debug)]
struct TimeLimits {
    /// The limit of the connection, including the TLS handshake if TLS is implicit.
    connect: Duration,
    /// The limit of each reply.
    reply: Duration,
}

const LIMITS: TimeLimits = TimeLimits { connect: Duration::from_secs(10), reply: Duration::from_secs(30) };
/// The time limit of QUIT, after the message was accepted.
const QUIT: Duration = Duration::from_secs(1);
const STARTTLS: &str = "STARTTLS";

/// Hands a message over to the server. Returns when the server has accepted it.
pub(super) async fn send(server: &SmtpServer, hello: &str, envelope: &Envelope, message: &[u8]) -> Result<(), MailFailure> {
    send_within(LIMITS, server, hello, envelope, message).await
}

async fn send_within(
    limits: TimeLimits,
    server: &SmtpServer,
    hello: &str,
    envelope: &Envelope,
    message: &[u8],
) -> Result<(), MailFailure> {
    let hello = ClientId::Domain(hello.to_owned());
    let mut connection = open_session(limits, server, &hello).await.map_err(MailFailure::into_temporary)?;
    await_reply(limits, "MAIL FROM", connection.command(Mail::new(envelope.from().cloned(), Vec::new()))).await?;
    for to in envelope.to() {
        await_reply(limits, "RCPT TO", connection.command(Rcpt::new(to.clone(), Vec::new()))).await?;
    }
    await_reply(limits, "DATA", connection.command(Data)).await?;
    await_reply(limits, "the message", connection.message(message)).await?;
    // The message is accepted already: an error of QUIT is ignored.
    drop(tokio::time::timeout(QUIT, connection.quit()).await);
    Ok(())
}

/// Opens an SMTP session that is ready for a message: connection, greeting, STARTTLS and log-in. A refusal here does not concern the message, so it
/// counts as temporary: the operator can correct the settings or the mail server.
async fn open_session(limits: TimeLimits, server: &SmtpServer, hello: &ClientId) -> Result<AsyncSmtpConnection, MailFailure> {
    let stream = within(limits.connect, "the connection", connect(server)).await?;
    let mut connection = await_reply(limits, "the greeting", AsyncSmtpConnection::connect_with_transport(stream, hello)).await?;
    if server.tls != SmtpTls::Implicit && (server.tls == SmtpTls::Required || connection.can_starttls()) {
        if !connection.can_starttls() {
            return Err(MailFailure::temporary("the mail server does not offer STARTTLS"));
        }
        // An attacker can suppress TLS that is optional, so verifying the certificate protects nobody, and an invalid one would only stop the mail.
        let tls = TlsParameters::builder(server.host.clone()).dangerous_accept_invalid_certs(server.tls == SmtpTls::IfOffered);
        let tls = tls.dangerous_accept_invalid_hostnames(server.tls == SmtpTls::IfOffered).build();
        let tls = tls.map_err(|error| failure(STARTTLS, &error))?;
        await_reply(limits, STARTTLS, connection.starttls(tls, hello)).await?;
    }
    if let Some((user, password)) = &server.credentials {
        let credentials = Credentials::new(user.clone(), password.clone());
        await_reply(limits, "AUTH", connection.auth(&[Mechanism::Plain, Mechanism::Login], &credentials)).await?;
    }
    Ok(connection)
}

/// Waits for the reply to a step, for at most the time limit of a reply.
async fn await_reply<T>(
    limits: TimeLimits,
    step: &'static str,
    answer: impl Future<Output = Result<T, Error>>,
) -> Result<T, MailFailure> {
    within(limits.reply, step, async { answer.await.map_err(|error| failure(step, &error)) }).await
}

async fn within<T>(limit: Duration, step: &str, work: impl Future<Output = Result<T, MailFailure>>) -> Result<T, MailFailure> {
    match tokio::time::timeout(limit, work).await {
        Ok(done) => done,
        Err(_) => Err(MailFailure::temporary(format!("{step}: no reply in {} s", limit.as_secs()))),
    }
}

/// Describes an error of the library, without the text of the server.
fn failure(step: &str, error: &Error) -> MailFailure {
    let is_permanent = error.is_permanent();
    let reason = match error.status() {
        Some(code) => format!("{step}: the mail server replied {code}"),
        // The library reports a failed handshake as a failed connection.
        None if error.is_tls() || step == STARTTLS => format!("{step}: TLS failed"),
        None if error.is_client() => format!("{step}: the mail server does not support it"),
        None => format!("{step}: the connection failed"),
    };
    MailFailure { reason, is_permanent }
}

async fn connect(server: &SmtpServer) -> Result<Box<dyn AsyncTokioStream>, MailFailure> {
    let failed = |error: io::Error| MailFailure::temporary(format!("the mail server cannot be reached: {error}"));
    let stream = TcpStream::connect((server.host.as_str(), server.port)).await.map_err(failed)?;
    stream.set_nodelay(true).map_err(failed)?;
    if server.tls != SmtpTls::Implicit {
        return Ok(Box::new(stream));
    }
    let peer = stream.peer_addr().map_err(failed)?;
    let name = ServerName::try_from(server.host.clone()).map_err(|error| failed(io::Error::other(error)))?;
    let stream = connector().map_err(failed)?.connect(name, stream).await.map_err(failed)?;
    Ok(Box::new(TlsConnection { stream, peer }))
}

/// Creates a TLS connector that trusts the certificates of the system.
fn connector() -> io::Result<TlsConnector> {
    let mut roots = rustls::RootCertStore::empty();
    roots.add_parsable_certificates(rustls_native_certs::load_native_certs().certs);
    let provider = Arc::new(rustls::crypto::ring::default_provider());
    let config = rustls::ClientConfig::builder_with_provider(provider).with_safe_default_protocol_versions();
    let config = config.map_err(io::Error::other)?.with_root_certificates(roots).with_no_client_auth();
    Ok(TlsConnector::from(Arc::new(config)))
}

/// A connection that is encrypted from the start. The library's own connection has no time limit for TLS.
#[derive(Debug)]
struct TlsConnection {
    stream: TlsStream<TcpStream>,
    peer: SocketAddr,
}

impl AsyncTokioStream for TlsConnection {
    fn peer_addr(&self) -> io::Result<SocketAddr> {
        Ok(self.peer)
    }
}

impl AsyncRead for TlsConnection {
    fn poll_read(mut self: Pin<&mut Self>, context: &mut Context<'_>, buffer: &mut ReadBuf<'_>) -> Poll<io::Result<()>> {
        Pin::new(&mut self.stream).poll_read(context, buffer)
    }
}

impl AsyncWrite for TlsConnection {
    fn poll_write(mut self: Pin<&mut Self>, context: &mut Context<'_>, bytes: &[u8]) -> Poll<io::Result<usize>> {
        Pin::new(&mut self.stream).poll_write(context, bytes)
    }

    fn poll_flush(mut self: Pin<&mut Self>, context: &mut Context<'_>) -> Poll<io::Result<()>> {
        Pin::new(&mut self.stream).poll_flush(context)
    }

    fn poll_shutdown(mut self: Pin<&mut Self>, context: &mut Context<'_>) -> Poll<io::Result<()>> {
        Pin::new(&mut self.stream).poll_shutdown(context)
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use futures_util::future::join_all;
    use tokio::io::AsyncWriteExt;
    use tokio::net::TcpListener;

    const SHORT: TimeLimits = TimeLimits { connect: Duration::from_secs(1), reply: Duration::from_secs(2) };

    /// Sends a message to a server that says something, and then nothing. Returns the reason of the failure.
    async fn send_to_silent(scheme: &str, says: &str) -> String {
        let listener = TcpListener::bind("127.0.0.1:0").await.expect("a port");
        let port = listener.local_addr().expect("an address").port();
        let server = format!("{scheme}://127.0.0.1:{port}").parse().expect("a server");
        let address = |text: &str| text.parse().expect("an address");
        let envelope = Envelope::new(Some(address("a@example.org")), vec![address("b@example.org")]).expect("a recipient");
        let serving = async {
            let (mut stream, _) = listener.accept().await.expect("a connection");
            stream.write_all(says.as_bytes()).await.expect("it is open");
            tokio::time::sleep(Duration::from_secs(20)).await;
        };
        tokio::select! {
            () = serving => panic!("{scheme} {says}: it waits without a limit"),
            sent = send_within(SHORT, &server, "example.org", &envelope, b"x") => {
                let failure = sent.expect_err("silence");
                assert!(!failure.is_permanent);
                failure.reason
            }
        }
    }

    #[tokio::test]
    async fn a_silent_server_is_left_after_a_time() {
        let cases = [
            ("smtps", "", "the connection: no reply in 1 s"),
            ("smtp", "", "the greeting: no reply in 2 s"),
            ("smtp", "220 mail.example\r\n", "the greeting: no reply in 2 s"),
            ("smtp", "220 mail.example\r\n250 mail.example\r\n", "MAIL FROM: no reply in 2 s"),
            ("smtp", "220 mail.example\r\n250 mail.example\r\n250 OK\r\n250 OK\r\n354 go\r\n", "the message: no reply in 2 s"),
        ];
        let reasons = join_all(cases.iter().map(|(scheme, says, _)| send_to_silent(scheme, says))).await;
        assert_eq!(reasons, cases.map(|(_, _, reason)| reason));
    }

    #[test]
    fn the_documentation_has_the_limits() {
        assert_eq!((LIMITS.connect.as_secs(), LIMITS.reply.as_secs()), (10, 30));
        let page = include_str!("../../../docs/identity.md");
        assert!(page.contains("10 seconds for a connection, 30 for a reply."));
    }
}
