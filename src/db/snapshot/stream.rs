//! Raw connections to a server: the client library cannot read a replication stream.

use super::error::{CONNECT_TIMEOUT, SnapshotError};
use redis::{ConnectionAddr, ConnectionInfo};
use rustls::pki_types::ServerName;
use std::io;
use std::sync::Arc;
use tokio::io::{AsyncRead, AsyncWrite};
use tokio::net::{TcpStream, UnixStream};
use tokio::time::timeout;
use tokio_rustls::TlsConnector;

/// A bidirectional stream.
pub(super) trait Duplex: AsyncRead + AsyncWrite + Send + Unpin {}
impl<T: AsyncRead + AsyncWrite + Send + Unpin> Duplex for T {}

/// A connection of any kind.
pub(super) type Stream = Box<dyn Duplex>;

/// Connects, with TLS if the address requires it.
pub(super) async fn connect(server: &ConnectionInfo) -> Result<Stream, SnapshotError> {
    timeout(CONNECT_TIMEOUT, connect_address(server.addr())).await.map_err(|_| SnapshotError::ConnectTimeout)?
}

async fn connect_address(address: &ConnectionAddr) -> Result<Stream, SnapshotError> {
    match address {
        ConnectionAddr::Unix(path) => Ok(Box::new(UnixStream::connect(path).await?)),
        ConnectionAddr::Tcp(host, port) => Ok(Box::new(TcpStream::connect((host.as_str(), *port)).await?)),
        ConnectionAddr::TcpTls { host, port, insecure: false, .. } => {
            let name = ServerName::try_from(host.clone()).map_err(io::Error::other)?;
            let stream = TcpStream::connect((host.as_str(), *port)).await?;
            Ok(Box::new(connector()?.connect(name, stream).await?))
        }
        _ => Err(SnapshotError::Address),
    }
}

/// Uses the system's trusted certificates, like the client library.
fn connector() -> Result<TlsConnector, SnapshotError> {
    let mut roots = rustls::RootCertStore::empty();
    roots.add_parsable_certificates(rustls_native_certs::load_native_certs().certs);
    let provider = Arc::new(rustls::crypto::ring::default_provider());
    let config = rustls::ClientConfig::builder_with_provider(provider).with_safe_default_protocol_versions();
    let config = config.map_err(io::Error::other)?.with_root_certificates(roots).with_no_client_auth();
    Ok(TlsConnector::from(Arc::new(config)))
}
