//! `waxwing serve`.

use super::demo::{self, PEOPLE_LOGIN, PEOPLE_PASSWORD};
use super::options::{DomainOptions, StorageOptions};
use super::storage::Storage;
use crate::app::App;
use crate::clock::Clock;
use crate::db::Timing;
use crate::server::{self, DemoLogin, State};
use anyhow::Context;
use clap::Args;
use std::net::SocketAddr;
use tokio::net::TcpListener;

#[derive(Args)]
pub(super) struct Options {
    /// The address to listen on; port 0 takes a free one. TLS is a proxy's work.
    #[arg(long, value_name = "ADDRESS", env = "WAXWING_LISTEN", default_value = "127.0.0.1:4000")]
    listen: SocketAddr,
    /// Fill an empty store with a small world first, and let the playground offer its login. Not for the open internet: everybody
    /// knows that password.
    #[arg(long, env = "WAXWING_DEMO", value_parser = clap::builder::FalseyValueParser::new())]
    demo: bool,
    #[command(flatten)]
    storage: StorageOptions,
    #[command(flatten)]
    domains: DomainOptions,
}

pub(super) async fn run(options: Options) -> anyhow::Result<()> {
    // The port first: it is what is most often taken, and nothing has to be undone then.
    let listener = TcpListener::bind(options.listen).await.with_context(|| format!("cannot listen on {}", options.listen))?;
    let stop = server::signal().context("signals cannot be listened to")?;
    tokio::pin!(stop);
    let connections = std::thread::available_parallelism().map_or(2, usize::from);
    let storage = tokio::select! {
        opened = Storage::open(&options.storage, Timing { connections, ..Timing::default() }) => opened?,
        () = &mut stop => return Ok(()),
    };
    let app = App::new(storage.db.clone(), Clock::System, options.domains.config());
    let served = serve(&options, listener, app, stop).await;
    storage.close().await;
    served
}

async fn serve(
    options: &Options,
    listener: TcpListener,
    app: App,
    mut stop: impl Future<Output = ()> + Send + Unpin,
) -> anyhow::Result<()> {
    let mut state = State::new(app.clone());
    if options.demo {
        tokio::select! {
            loaded = demo::people(&app) => state.demo = loaded?.then(offered),
            () = &mut stop => return Ok(()),
        }
        if state.demo.is_none() {
            tracing::warn!("--demo: the store is not empty and holds another world, so none was loaded");
        }
    }
    let address = listener.local_addr()?;
    announce(address, state.demo.as_ref());
    let (ready, stopped) = tokio::sync::oneshot::channel::<()>();
    let serving = server::run(listener, state, async move { stopped.await.unwrap_or(()) });
    tokio::pin!(serving);
    tokio::select! {
        served = &mut serving => Ok(served?),
        () = stop => {
            drop(ready);
            Ok(serving.await?)
        }
    }
}

fn offered() -> DemoLogin {
    DemoLogin { login: PEOPLE_LOGIN.into(), password: PEOPLE_PASSWORD.into() }
}

/// What somebody who has just typed the command wants to know. On stdout, apart from the log.
fn announce(address: SocketAddr, demo: Option<&DemoLogin>) {
    let host = if address.ip().is_unspecified() { format!("localhost:{}", address.port()) } else { address.to_string() };
    println!("Waxwing is ready.");
    println!("  Playground  http://{host}/");
    println!("  API         http://{host}/graphql");
    if let Some(demo) = demo {
        println!("  Log in as   {} with the password {}", demo.login, demo.password);
        if !address.ip().is_loopback() {
            tracing::warn!("--demo on {address}: whoever reaches it can log in");
        }
    }
}
