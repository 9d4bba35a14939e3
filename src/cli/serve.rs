//! `waxwing serve`.

use super::demo::{self, LOGIN, PASSWORD};
use super::http::{DocumentOptions, HttpOptions};
use super::jwt::JwtOptions;
use super::logs;
use super::mail::MailOptions;
use super::migrate;
use super::options::{DomainOptions, StorageOptions};
use super::rates::RateOptions;
use super::storage::Storage;
use crate::app::App;
use crate::base::clock::Clock;
use crate::base::config::Config;
use crate::cli::workers;
use crate::db::{Target, Timing};
use crate::platform::jwt::service as jwt;
use crate::platform::mail::service as mail;
use crate::server::{self, DemoLogin, Endpoint, HttpConfig, State, Traces};
use anyhow::{Context, bail};
use clap::Args;
use serde_json::json;
use std::io::Write;
use std::net::SocketAddr;
use std::time::Duration;
use tokio::net::TcpListener;
use tokio_util::sync::CancellationToken;

#[derive(Args)]
pub(super) struct ServeOptions {
    /// The address and port of the API. Port 0 takes a free one. For TLS, use a proxy.
    #[arg(long, value_name = "ADDRESS", env = "WAXWING_LISTEN", default_value = "127.0.0.1:4000")]
    listen: SocketAddr,
    /// Load demo data if the store is empty, and show the demo login in the playground. Not for the internet: the password is public.
    #[arg(long, env = "WAXWING_DEMO", value_parser = clap::builder::FalseyValueParser::new())]
    demo: bool,
    /// Serve /metrics (for Prometheus) on this address only, with /healthz and /readyz. Default: it is served with the API; then a proxy should
    /// block it, since it reveals the load of the server and the names of operations.
    #[arg(long, value_name = "ADDRESS", env = "WAXWING_METRICS_LISTEN")]
    metrics_listen: Option<SocketAddr>,
    /// Send a span of each request to this OpenTelemetry collector (OTLP over HTTP), such as http://127.0.0.1:4318. The variables
    /// OTEL_SERVICE_NAME, OTEL_RESOURCE_ATTRIBUTES, OTEL_TRACES_SAMPLER and OTEL_EXPORTER_OTLP_HEADERS apply.
    #[arg(long, value_name = "URL", env = "WAXWING_OTLP_ENDPOINT")]
    otlp_endpoint: Option<Endpoint>,
    /// The size of the client-side cache of users, statuses, sessions, JWT identities, server keys, followed tags, the newest statuses of tags, and the relations by which homes are filtered, in MiB; 0 for none. Redis invalidates it on every change. It is not used on a cluster.
    #[arg(long, alias = "near-cache-mib", value_name = "MIB", env = "WAXWING_CLIENT_CACHE_MIB", default_value_t = 64, value_parser = clap::value_parser!(u64).range(0..=65_536))]
    client_cache_mib: u64,
    #[command(flatten)]
    storage: StorageOptions,
    #[command(flatten)]
    http: HttpOptions,
    #[command(flatten)]
    documents: DocumentOptions,
    #[command(flatten)]
    domains: DomainOptions,
    #[command(flatten)]
    mail: MailOptions,
    #[command(flatten)]
    jwt: JwtOptions,
    #[command(flatten)]
    rates: RateOptions,
}

/// The time that a pass in progress gets at shutdown.
const PASS_TIMEOUT: Duration = Duration::from_secs(1);

impl ServeOptions {
    /// Problems of options that are well-formed, but with which the server cannot start.
    pub(super) fn problems(&self) -> Vec<String> {
        let redis = self.storage.redis.as_ref().map_or(Ok(()), |url| url.parse::<Target>().map(drop).context("redis"));
        let config = self.config();
        let http = self.http.config(&config).map(drop);
        [redis, http, self.mail.check(&config), self.jwt.check()]
            .into_iter()
            .filter_map(Result::err)
            .map(|error| format!("{error:#}"))
            .collect()
    }

    fn config(&self) -> Config {
        let config = self.jwt.apply(self.mail.apply(self.domains.config(), &self.storage));
        self.rates.apply(self.documents.apply(self.http.apply(config)))
    }
}

pub(super) async fn run(options: ServeOptions) -> anyhow::Result<()> {
    let config = options.config();
    let http = options.http.config(&config)?;
    options.mail.check(&config)?;
    options.jwt.check()?;
    // A port in use is reported before anything else is started. The port is released again: while Redis loads its data, a connection that is
    // accepted but gets no response looks like a dead server to a health check.
    let mut listeners = vec![bind(options.listen).await?];
    if let Some(address) = options.metrics_listen {
        listeners.push(bind(address).await?);
    }
    drop(listeners);
    let stop = server::on_signal().context("signals cannot be listened to")?;
    let connections = std::thread::available_parallelism().map_or(2, usize::from);
    let timing = Timing { connections, client_cache: options.client_cache_mib << 20, ..Timing::default() };
    let Some(storage) = stop.run_until_cancelled(Storage::open(&options.storage, timing)).await.transpose()? else {
        return Ok(());
    };
    let app = App::new(storage.db.clone(), Clock::System, config);
    let result = serve(&options, app, http, stop).await;
    storage.close().await;
    result
}

async fn bind(address: SocketAddr) -> anyhow::Result<TcpListener> {
    TcpListener::bind(address).await.with_context(|| format!("cannot listen on {address}"))
}

async fn serve(options: &ServeOptions, app: App, http: HttpConfig, stop: CancellationToken) -> anyhow::Result<()> {
    let mut state = State::new(app.clone(), http);
    migrate::migrate_at_start(&app).await?;
    match stop.run_until_cancelled(load_demo(options, &app)).await {
        Some(demo) => state.parts_mut().demo = demo?,
        None => return Ok(()),
    }
    if let Some(address) = options.metrics_listen {
        let (listener, app) = (bind(address).await?, app.clone());
        let address = listener.local_addr()?;
        tracing::info!(%address, "/metrics is served on this address only");
        if is_open(address) {
            tracing::warn!("/metrics is open on {address}: allow connections from Prometheus only");
        }
        state.parts_mut().has_metrics_listener = true;
        tokio::spawn(server::serve_metrics(listener, app, stop.clone()));
    }
    if stop.run_until_cancelled(jwt::start(&app)).await.is_none() {
        return Ok(());
    }
    tokio::spawn({
        let (app, stop) = (app.clone(), stop.clone());
        async move { jwt::run(&app, jwt::REFRESH, &stop).await }
    });
    let traces = options.otlp_endpoint.as_ref().map(Traces::new).transpose().context("--otlp-endpoint")?;
    state.parts_mut().traces.clone_from(&traces);
    let listener = bind(options.listen).await?;
    let address = listener.local_addr()?;
    mail::set_listening_url(&app, format!("http://{}", host_of(address)));
    let worker = tokio::spawn({
        let (app, stop) = (app.clone(), stop.clone());
        async move { workers::run(&app, &stop).await }
    });
    state.parts_mut().shows_outbox = options.http.is_development() && !is_open(address);
    warn_if_open(address, options.http.is_development(), state.has_metrics_listener);
    if options.http.lacks_hosts(app.config()) {
        tracing::warn!(
            "requests for every host are served: a web page can reach this server under a name of its own (DNS rebinding); set --public-url or --allowed-hosts"
        );
    }
    announce(address, &state);
    let outdated = async {
        let reason = migrate::wait_until_outdated(app.db(), &stop).await;
        stop.cancel();
        reason
    };
    let ((), outdated) = tokio::join!(server::run(listener, state, stop.clone()), outdated);
    // A pass that is cut off is taken over by the next worker.
    if tokio::time::timeout(PASS_TIMEOUT, worker).await.is_err() {
        tracing::warn!("background tasks did not finish within {PASS_TIMEOUT:?}: they continue when a server runs again");
    }
    if let Some(traces) = traces {
        traces.close().await;
    }
    outdated.map_or(Ok(()), Err)
}

/// Whether other machines can connect to an address.
fn is_open(address: SocketAddr) -> bool {
    !address.ip().to_canonical().is_loopback()
}

/// Warns if the development profile or /metrics is open to other machines.
fn warn_if_open(address: SocketAddr, is_development: bool, has_metrics_listener: bool) {
    if is_development && is_open(address) {
        tracing::warn!(
            "the development profile is open on {address}: it allows introspection and explains the schema in errors; for the internet use --profile production"
        );
    }
    if !has_metrics_listener && is_open(address) {
        tracing::warn!(
            "/metrics is open on {address}: serve it on an address of its own by --metrics-listen, or block it in the proxy"
        );
    }
}

/// Loads the demo data if `--demo` is set. Returns the login that the playground shows.
async fn load_demo(options: &ServeOptions, app: &App) -> anyhow::Result<Option<DemoLogin>> {
    if !options.demo {
        if app.db().is_demo_load_incomplete().await? {
            bail!("this store has a part of the demo data: run the same command again to complete it, or use an empty store");
        }
        return Ok(None);
    }
    let is_loaded = demo::load_sample(app).await?;
    if !is_loaded {
        tracing::warn!("--demo: the store has other data, so no demo data was loaded");
    }
    Ok(is_loaded.then(demo_login))
}

fn demo_login() -> DemoLogin {
    DemoLogin { login: LOGIN.into(), password: PASSWORD.into() }
}

/// The host and port under which this machine reaches an address.
fn host_of(address: SocketAddr) -> String {
    if address.ip().is_unspecified() { format!("localhost:{}", address.port()) } else { address.to_string() }
}

/// Prints the addresses and the demo login on stdout, apart from the log. An error of stdout is ignored.
fn announce(address: SocketAddr, state: &State) {
    let host = host_of(address);
    let text = if logs::is_json() { banner_line(&host, state) } else { banner(&host, state) };
    if state.demo.is_some() && is_open(address) {
        tracing::warn!("--demo on {address}: everybody who can connect can log in");
    }
    let _ = std::io::stdout().write_all(text.as_bytes());
    tracing::info!(%address, version = env!("CARGO_PKG_VERSION"), "ready");
}

fn banner(host: &str, state: &State) -> String {
    let mut text = "Waxwing is ready.\n".to_owned();
    if state.http.playground {
        text += &format!("  Playground  http://{host}/\n");
    }
    text += &format!("  API         http://{host}/graphql\n");
    if let Some(demo) = &state.demo {
        text += &format!("  Log in as   {} with the password {}\n", demo.login, demo.password);
    }
    text
}

/// The banner as a line of the log. It has no password, not even the public one of the demo.
fn banner_line(host: &str, state: &State) -> String {
    let playground = state.http.playground.then(|| format!("http://{host}/"));
    let login = state.demo.as_ref().map(|demo| demo.login.as_str());
    let members = json!({ "api": format!("http://{host}/graphql"), "playground": playground, "demo_login": login });
    logs::json_line("INFO", "Waxwing is ready.", members)
}
