//! `waxwing health`.

use anyhow::{Context, bail};
use clap::Args;
use std::net::{Ipv4Addr, Ipv6Addr, SocketAddr};
use std::time::Duration;
use tokio::io::{AsyncReadExt, AsyncWriteExt};
use tokio::net::TcpStream;
use tokio::time::timeout;

/// The time limit of the connection and the response together.
const RESPONSE_TIMEOUT: Duration = Duration::from_secs(3);

#[derive(Args)]
#[command(after_help = "It requests /healthz, which responds while the process runs. /readyz also checks Redis.")]
pub(super) struct HealthOptions {
    /// The address of the server.
    #[arg(long, value_name = "ADDRESS", env = "WAXWING_LISTEN", default_value = "127.0.0.1:4000")]
    listen: SocketAddr,
}

/// Succeeds if `/healthz` returns 200.
pub(super) async fn run(options: HealthOptions) -> anyhow::Result<()> {
    let address = connect_address(options.listen);
    let status = timeout(RESPONSE_TIMEOUT, fetch_status(address)).await;
    match status.with_context(|| format!("{address} does not respond"))?.with_context(|| address.to_string())?.as_str() {
        "200" => Ok(()),
        status => bail!("{address} responds with {status:?}"),
    }
}

/// The status of `/healthz`.
async fn fetch_status(address: SocketAddr) -> std::io::Result<String> {
    let mut stream = TcpStream::connect(address).await?;
    let request = format!("GET /healthz HTTP/1.1\r\nhost: {address}\r\nconnection: close\r\n\r\n");
    stream.write_all(request.as_bytes()).await?;
    let mut response = Vec::new();
    stream.take(4_096).read_to_end(&mut response).await?;
    Ok(String::from_utf8_lossy(response.get(9..12).unwrap_or_default()).into_owned())
}

/// The address to connect to: loopback, if the server listens on every address.
fn connect_address(mut listen: SocketAddr) -> SocketAddr {
    match listen {
        SocketAddr::V4(address) if address.ip().is_unspecified() => listen.set_ip(Ipv4Addr::LOCALHOST.into()),
        SocketAddr::V6(address) if address.ip().is_unspecified() => listen.set_ip(Ipv6Addr::LOCALHOST.into()),
        _ => {}
    }
    listen
}
