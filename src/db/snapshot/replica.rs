//! Downloads the snapshot that a server sends to a new replica: all of its data at one point in time, while it keeps serving.

use super::error::{READ_TIMEOUT, SnapshotError};
use super::stream::{Stream, connect};
use redis::ConnectionInfo;
use sha2::{Digest, Sha256};
use std::io::{self, Write};
use tokio::io::{AsyncBufReadExt, AsyncReadExt, AsyncWriteExt, BufReader};
use tokio::time::timeout;

/// The longest line.
const LINE: u64 = 4_096;
/// The length of the delimiter that ends a snapshot of unknown length, in bytes.
const DELIMITER_BYTES: usize = 40;

/// A downloaded snapshot.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Download {
    /// The size in bytes.
    pub bytes: u64,
    /// The SHA-256 in hexadecimal.
    pub sha256: String,
}

/// Writes a snapshot of `server` to `file`; `report` gets the number of bytes so far. Uses a buffer of 64 KiB.
///
/// # Errors
/// If the server does not reply or refuses, or the file cannot be written.
pub async fn download(
    server: &ConnectionInfo,
    file: &mut impl Write,
    mut report: impl FnMut(u64),
) -> Result<Download, SnapshotError> {
    let mut server = BufReader::with_capacity(1 << 16, log_in(connect(server).await?, server).await?);
    // Without the replication stream after the snapshot. Older servers do not know this option, and send the stream.
    command(&mut server, &["REPLCONF", "rdb-only", "1"]).await.or_else(ignore_unknown_option)?;
    // Directly from memory: otherwise the server writes a file of its own first.
    command(&mut server, &["REPLCONF", "capa", "eof"]).await.or_else(ignore_unknown_option)?;
    send(&mut server, &["SYNC"]).await?;
    let end = loop {
        // Newlines while the server prepares the snapshot.
        match line(&mut server).await?.as_str() {
            "" => {}
            header => break SnapshotEnd::parse(header)?,
        }
    };
    let mut sink = HashingWriter { file, digest: Sha256::new(), bytes: 0, start: Vec::new() };
    match end {
        SnapshotEnd::Length(length) => receive(&mut server, length, &mut sink, &mut report).await?,
        SnapshotEnd::Delimiter(delimiter) => receive_until(&mut server, delimiter.as_bytes(), &mut sink, &mut report).await?,
    }
    sink.finish()
}

/// Logs in on a new connection.
async fn log_in(stream: Stream, server: &ConnectionInfo) -> Result<Stream, SnapshotError> {
    let settings = server.redis_settings();
    let Some(password) = settings.password() else { return Ok(stream) };
    let mut stream = BufReader::new(stream);
    match settings.username() {
        Some(user) => command(&mut stream, &["AUTH", user, password]).await?,
        None => command(&mut stream, &["AUTH", password]).await?,
    }
    Ok(stream.into_inner())
}

/// Ignores the error of a server that does not know an option.
fn ignore_unknown_option(error: SnapshotError) -> Result<(), SnapshotError> {
    match error {
        SnapshotError::Refused(text) if text.starts_with("ERR") => Ok(()),
        error => Err(error),
    }
}

async fn send(server: &mut BufReader<Stream>, words: &[&str]) -> Result<(), SnapshotError> {
    let mut text = format!("*{}\r\n", words.len());
    for word in words {
        text += &format!("${}\r\n{word}\r\n", word.len());
    }
    Ok(server.get_mut().write_all(text.as_bytes()).await?)
}

/// Sends a command with a one-line reply.
async fn command(server: &mut BufReader<Stream>, words: &[&str]) -> Result<(), SnapshotError> {
    send(server, words).await?;
    match line(server).await? {
        reply if reply.starts_with('+') => Ok(()),
        _ => Err(SnapshotError::NotASnapshot),
    }
}

/// Reads a line without its end; an error reply is an error.
async fn line(server: &mut BufReader<Stream>) -> Result<String, SnapshotError> {
    let mut line = Vec::new();
    let read =
        timeout(READ_TIMEOUT, server.take(LINE).read_until(b'\n', &mut line)).await.map_err(|_| SnapshotError::Silent)??;
    if read == 0 {
        return Err(io::Error::from(io::ErrorKind::UnexpectedEof).into());
    }
    let line = String::from_utf8_lossy(&line).trim_end().to_owned();
    match line.strip_prefix('-') {
        Some(error) => Err(SnapshotError::Refused(error.to_owned())),
        None => Ok(line),
    }
}

/// How the end of a snapshot is recognized.
enum SnapshotEnd {
    /// By the number of bytes.
    Length(u64),
    /// By this delimiter.
    Delimiter(String),
}

impl SnapshotEnd {
    fn parse(header: &str) -> Result<Self, SnapshotError> {
        let text = header.strip_prefix('$').ok_or(SnapshotError::NotASnapshot)?;
        match text.strip_prefix("EOF:") {
            Some(delimiter) if delimiter.len() == DELIMITER_BYTES => Ok(Self::Delimiter(delimiter.to_owned())),
            Some(_) => Err(SnapshotError::NotASnapshot),
            None => text.parse().map(Self::Length).map_err(|_| SnapshotError::NotASnapshot),
        }
    }
}

/// Writes bytes to a file and hashes them.
struct HashingWriter<'a, W> {
    file: &'a mut W,
    digest: Sha256,
    bytes: u64,
    /// The first bytes, which identify an RDB file.
    start: Vec<u8>,
}

impl<W: Write> HashingWriter<'_, W> {
    fn write(&mut self, bytes: &[u8]) -> io::Result<()> {
        let missing = 5_usize.saturating_sub(self.start.len());
        self.start.extend_from_slice(&bytes[..bytes.len().min(missing)]);
        self.digest.update(bytes);
        self.bytes += bytes.len() as u64;
        self.file.write_all(bytes)
    }

    fn finish(self) -> Result<Download, SnapshotError> {
        if self.start != b"REDIS" {
            return Err(SnapshotError::NotASnapshot);
        }
        let sha256 = self.digest.finalize().iter().map(|byte| format!("{byte:02x}")).collect();
        Ok(Download { bytes: self.bytes, sha256 })
    }
}

/// The next received bytes, at least one.
async fn read_bytes(server: &mut BufReader<Stream>) -> Result<&[u8], SnapshotError> {
    let bytes = timeout(READ_TIMEOUT, server.fill_buf()).await.map_err(|_| SnapshotError::Silent)??;
    if bytes.is_empty() { Err(io::Error::from(io::ErrorKind::UnexpectedEof).into()) } else { Ok(bytes) }
}

async fn receive<W: Write>(
    server: &mut BufReader<Stream>,
    length: u64,
    sink: &mut HashingWriter<'_, W>,
    report: &mut impl FnMut(u64),
) -> Result<(), SnapshotError> {
    while sink.bytes < length {
        let bytes = read_bytes(server).await?;
        let count = bytes.len().min(usize::try_from(length - sink.bytes).unwrap_or(usize::MAX));
        sink.write(&bytes[..count])?;
        server.consume(count);
        report(sink.bytes);
    }
    Ok(())
}

/// Receives bytes until the delimiter, which is not passed to `sink`: the last received bytes are held back, since they may be the delimiter.
async fn receive_until<W: Write>(
    server: &mut BufReader<Stream>,
    delimiter: &[u8],
    sink: &mut HashingWriter<'_, W>,
    report: &mut impl FnMut(u64),
) -> Result<(), SnapshotError> {
    let mut held: Vec<u8> = Vec::new();
    while held != delimiter {
        let bytes = read_bytes(server).await?;
        let count = bytes.len();
        held.extend_from_slice(bytes);
        server.consume(count);
        let passed = held.len().saturating_sub(delimiter.len());
        sink.write(&held[..passed])?;
        held.drain(..passed);
        report(sink.bytes);
    }
    Ok(())
}
