//! Options of the HTTP server and of its limits.

use crate::base::config::{Config, DocumentLimits};
use crate::schema;
use crate::server::{AllowedHosts, AllowedOrigins, Documents, HostName, HttpConfig, LiveConfig, Origin};
use anyhow::{Context, bail};
use clap::builder::RangedU64ValueParser;
use clap::{ArgMatches, Args, ValueEnum};
use std::path::{Path, PathBuf};
use std::sync::Arc;
use std::time::Duration;

/// A set of defaults.
#[derive(Clone, Copy, PartialEq, Eq, ValueEnum)]
enum Profile {
    /// For developers: introspection, errors with suggestions, the playground.
    Development,
    /// For the internet: none of these, unless it is switched on separately.
    Production,
}

/// The value of an option that is on or off.
#[derive(Clone, Copy, PartialEq, Eq, ValueEnum)]
pub(super) enum OnOff {
    On,
    Off,
}

/// Options of the HTTP server.
#[derive(Args, Clone)]
#[command(next_help_heading = "HTTP server")]
pub(super) struct HttpOptions {
    /// The default of --introspection, --suggestions, --playground and --simple-get: `on` for development, `off` for production.
    #[arg(long, env = "WAXWING_PROFILE", default_value = "development")]
    profile: Profile,
    /// Allow introspection queries. Default: by the profile.
    #[arg(long, env = "WAXWING_INTROSPECTION")]
    introspection: Option<OnOff>,
    /// Name types and fields of the schema in errors, with suggestions. Off: one fixed text. Default: by the profile.
    #[arg(long, env = "WAXWING_SUGGESTIONS")]
    suggestions: Option<OnOff>,
    /// Serve the playground. Default: by the profile.
    #[arg(long, env = "WAXWING_PLAYGROUND")]
    playground: Option<OnOff>,
    /// Accept queries by GET without a header that pages of other origins cannot send, such as `graphql-require-preflight: 1`. Default: by the
    /// profile.
    #[arg(long, env = "WAXWING_SIMPLE_GET")]
    simple_get: Option<OnOff>,
    /// Run the documents of this file only: JSON as Relay, graphql-codegen or Apollo write it.
    #[arg(long, value_name = "FILE", env = "WAXWING_TRUSTED_DOCUMENTS")]
    trusted_documents: Option<PathBuf>,
    /// Other origins whose pages may send requests, such as `https://app.example`, comma-separated; `*` for all. The development profile also
    /// allows http and https on localhost, 127.0.0.1 and `[::1]`, with any port.
    #[arg(long, value_name = "ORIGINS", env = "WAXWING_CORS_ORIGINS", value_delimiter = ',')]
    cors_origins: Vec<Origin>,
    /// Hosts that this server serves, such as `social.example`, comma-separated and without ports, in addition to that of --public-url; `*` for
    /// all. Requests for other hosts are refused with 421, except /healthz, /readyz and /metrics. The development profile adds localhost and all
    /// addresses; the production profile without this and without --public-url serves every host.
    #[arg(long, value_name = "HOSTS", env = "WAXWING_ALLOWED_HOSTS", value_delimiter = ',')]
    allowed_hosts: Vec<HostName>,
    /// The number of GraphQL requests that run at once; one more is refused with OVERLOADED. Default: 64 per core, at least 96.
    #[arg(long, value_name = "N", env = "WAXWING_MAX_REQUESTS", value_parser = in_range(1, 1_000_000))]
    max_requests: Option<usize>,
    /// The number of connections at once. For one more, an idle one is closed; if there is none, the new one waits.
    #[arg(long, value_name = "N", env = "WAXWING_MAX_CONNECTIONS", default_value_t = 10_000, value_parser = in_range(1, 1_000_000))]
    max_connections: usize,
    /// The number of connections of an address at once on this server, except for --trusted-proxies. For one more, an idle one of the same
    /// address is closed; if there is none, the new one is refused with 429. Default: a twentieth of --max-connections, at least 16.
    #[arg(long, value_name = "N", env = "WAXWING_ADDRESS_CONNECTIONS", value_parser = in_range(1, 1_000_000))]
    address_connections: Option<usize>,
    /// A new connection that has sent nothing for this many seconds is closed.
    #[arg(long, value_name = "SECONDS", env = "WAXWING_FIRST_BYTE_TIMEOUT", default_value_t = 5, value_parser = clap::value_parser!(u64).range(1..=600))]
    first_byte_timeout: u64,
    /// The number of sockets of an account at once on this server; one more is closed with 4429.
    #[arg(long, value_name = "N", env = "WAXWING_ACCOUNT_SOCKETS", default_value_t = 10, value_parser = in_range(1, 1_000_000))]
    account_sockets: usize,
    /// The number of sockets without a session of an address at once on this server; one more is refused.
    #[arg(long, value_name = "N", env = "WAXWING_ADDRESS_SOCKETS", default_value_t = 100, value_parser = in_range(1, 1_000_000))]
    address_sockets: usize,
    /// The number of event streams of an account, or of an address without a session, at once on this server; one more is refused.
    #[arg(long, value_name = "N", env = "WAXWING_EVENT_STREAMS", default_value_t = 100, value_parser = in_range(1, 1_000_000))]
    event_streams: usize,
    /// The number of entries of all live filters of an account, or of an address without a session, at once on this server. A login, a phrase or a
    /// sample is one entry, a box is 32. A subscription that exceeds it is refused.
    #[arg(long, value_name = "N", env = "WAXWING_LIVE_FILTER_ENTRIES", default_value_t = Config::default().filter_entries, value_parser = in_range(1, 100_000_000))]
    live_filter_entries: usize,
    /// The number of operations at once on a socket, or on a shared event stream; one more is refused.
    #[arg(long, value_name = "N", env = "WAXWING_MAX_SUBSCRIPTIONS", default_value_t = 128, value_parser = in_range(1, 10_000))]
    max_subscriptions: usize,
    /// The number of bytes of responses that may wait for clients at one address, on this server. Beyond it, requests are refused with
    /// UNREAD_RESPONSES.
    #[arg(long, value_name = "N", env = "WAXWING_ADDRESS_UNREAD_BYTES", default_value_t = HttpConfig::default().address_unread_bytes, value_parser = in_range(1 << 16, 1 << 40))]
    address_unread_bytes: usize,
    /// The number of bytes of responses that may wait for all clients of this server. Beyond it, the address with the most is disconnected.
    #[arg(long, value_name = "N", env = "WAXWING_UNREAD_BYTES", default_value_t = HttpConfig::default().unread_bytes, value_parser = in_range(1 << 20, 1 << 40))]
    unread_bytes: usize,
    /// The number of bytes per second that a client has to read while a response waits for it, over 30 seconds (10 on sockets and event
    /// streams). A slower client is disconnected. With 0, any progress is enough.
    #[arg(long, value_name = "N", env = "WAXWING_MIN_READ_RATE", default_value_t = HttpConfig::default().min_read_rate, value_parser = clap::value_parser!(u64).range(0..=1 << 20))]
    min_read_rate: u64,
    /// The time limit of each step of a request, in seconds: the check of its access token, the wait for a permit, and the execution.
    #[arg(long, value_name = "SECONDS", env = "WAXWING_REQUEST_TIMEOUT", default_value_t = 10, value_parser = clap::value_parser!(u64).range(1..=600))]
    request_timeout: u64,
    /// The number of bytes of a body that must arrive per second, on average, after the first ten seconds; 0 for no such limit.
    #[arg(long, value_name = "BYTES", env = "WAXWING_BODY_RATE", default_value_t = 1024, value_parser = clap::value_parser!(u32).range(0..=1_048_576))]
    body_rate: u32,
}

fn in_range(min: u64, max: u64) -> RangedU64ValueParser<usize> {
    RangedU64ValueParser::new().range(min..=max)
}

/// Limits of documents.
#[derive(Args, Clone)]
#[command(next_help_heading = "Documents")]
pub(super) struct DocumentOptions {
    /// The maximum length of a document, in bytes.
    #[arg(long, value_name = "N", env = "WAXWING_MAX_DOCUMENT_BYTES", default_value_t = DocumentLimits::default().bytes, value_parser = in_range(256, 1 << 20))]
    max_document_bytes: usize,
    /// The maximum number of tokens of a document: punctuators, names, numbers and strings.
    #[arg(long, value_name = "N", env = "WAXWING_MAX_TOKENS", default_value_t = DocumentLimits::default().tokens, value_parser = in_range(50, 100_000))]
    max_tokens: usize,
    /// The maximum number of aliases of a document.
    #[arg(long, value_name = "N", env = "WAXWING_MAX_ALIASES", default_value_t = DocumentLimits::default().aliases, value_parser = in_range(0, 10_000))]
    max_aliases: usize,
    /// The maximum number of directives of a document.
    #[arg(long, value_name = "N", env = "WAXWING_MAX_DIRECTIVES", default_value_t = DocumentLimits::default().directives, value_parser = in_range(0, 10_000))]
    max_directives: usize,
    /// The maximum number of fields at the root of an operation.
    #[arg(long, value_name = "N", env = "WAXWING_MAX_ROOT_FIELDS", default_value_t = DocumentLimits::default().root_fields, value_parser = in_range(1, 10_000))]
    max_root_fields: usize,
    /// The maximum number of fields of a document, with fragments expanded.
    #[arg(long, value_name = "N", env = "WAXWING_MAX_FIELDS", default_value_t = DocumentLimits::default().fields, value_parser = in_range(1, 100_000))]
    max_fields: usize,
    /// The maximum depth of fields; introspection needs 15.
    #[arg(long, value_name = "N", env = "WAXWING_MAX_DEPTH", default_value_t = DocumentLimits::default().depth, value_parser = in_range(1, 32))]
    max_depth: usize,
    /// The maximum cost of an operation: the number of fields that its response could have. The first page of a home timeline, thirty entries with ten
    /// fields each, costs some 600.
    #[arg(long, value_name = "N", env = "WAXWING_MAX_COST", default_value_t = DocumentLimits::default().cost, value_parser = in_range(1, 10_000_000))]
    max_cost: usize,
    /// The maximum length of a response, in bytes. A longer one is stopped while it is produced, with RESPONSE_TOO_LARGE.
    #[arg(long, value_name = "N", env = "WAXWING_MAX_RESPONSE_BYTES", default_value_t = Config::default().response_bytes, value_parser = in_range(1 << 16, 1 << 30))]
    max_response_bytes: usize,
}

impl HttpOptions {
    /// Applies the options that concern the schema.
    pub(super) fn apply(&self, config: Config) -> Config {
        let filter_entries = self.live_filter_entries;
        let (introspection, suggestions) = (self.is_on(self.introspection), self.is_on(self.suggestions));
        Config { introspection, suggestions, filter_entries, ..config }
    }

    /// The settings of the HTTP server. Trusted documents are checked against the limits of `config`.
    ///
    /// # Errors
    /// The file of trusted documents is missing or invalid.
    pub(super) fn config(&self, config: &Config) -> anyhow::Result<HttpConfig> {
        let defaults = HttpConfig::default();
        let documents = self.trusted_documents.as_deref().map(|file| read_trusted_documents(file, config)).transpose()?;
        Ok(HttpConfig {
            playground: self.is_on(self.playground),
            simple_get: self.is_on(self.simple_get),
            hosts: self.hosts(config),
            cors_origins: AllowedOrigins { listed: self.cors_origins.clone(), loopback: self.is_development() },
            max_requests: self.max_requests.unwrap_or(defaults.max_requests),
            max_connections: self.max_connections,
            address_connections: self
                .address_connections
                .unwrap_or_else(|| HttpConfig::address_connections_of(self.max_connections)),
            first_byte_timeout: Duration::from_secs(self.first_byte_timeout),
            request_timeout: Duration::from_secs(self.request_timeout),
            body_rate: self.body_rate,
            address_unread_bytes: self.address_unread_bytes,
            unread_bytes: self.unread_bytes,
            min_read_rate: self.min_read_rate,
            live: LiveConfig {
                account_sockets: self.account_sockets,
                address_sockets: self.address_sockets,
                event_streams: self.event_streams,
                operations: self.max_subscriptions,
                // A client that reconnects sends all its operations at once.
                message_burst: u32::try_from(self.max_subscriptions).unwrap_or(u32::MAX).saturating_add(32),
                ..defaults.live.clone()
            },
            documents: documents.map_or(defaults.documents.clone(), Arc::new),
            ..defaults
        })
    }

    /// Whether the profile is the one for developers.
    pub(super) fn is_development(&self) -> bool {
        self.profile == Profile::Development
    }

    fn hosts(&self, config: &Config) -> AllowedHosts {
        let public = config.public_url.as_deref().and_then(|url| url::Url::parse(url).ok());
        let public = public.as_ref().and_then(|url| url.host_str()?.parse().ok());
        let names: Vec<HostName> = self.allowed_hosts.iter().cloned().chain(public).collect();
        let is_unrestricted = names.is_empty() && !self.is_development();
        if is_unrestricted || names.iter().any(HostName::is_any) {
            return AllowedHosts::Any;
        }
        AllowedHosts::Listed { names, local: self.is_development() }
    }

    /// Whether every host is served because no option names a host.
    pub(super) fn lacks_hosts(&self, config: &Config) -> bool {
        self.allowed_hosts.is_empty() && self.hosts(config) == AllowedHosts::Any
    }

    fn is_on(&self, switch: Option<OnOff>) -> bool {
        switch.map_or(self.profile == Profile::Development, |switch| switch == OnOff::On)
    }
}

/// The value that the profile gives the option of this name, and the name of the profile; `None` for options that no profile sets.
pub(super) fn profile_default(matches: &ArgMatches, name: &str) -> Option<(&'static str, &'static str)> {
    let has_default = ["introspection", "suggestions", "playground", "simple-get"].contains(&name);
    let profile = matches.try_get_one::<Profile>("profile").ok().flatten().filter(|_| has_default)?;
    Some(match profile {
        Profile::Development => ("on", "development"),
        Profile::Production => ("off", "production"),
    })
}

impl DocumentOptions {
    /// Applies the limits.
    pub(super) fn apply(&self, config: Config) -> Config {
        let documents = DocumentLimits {
            bytes: self.max_document_bytes,
            tokens: self.max_tokens,
            aliases: self.max_aliases,
            directives: self.max_directives,
            root_fields: self.max_root_fields,
            fields: self.max_fields,
            depth: self.max_depth,
            cost: self.max_cost,
            ..config.documents
        };
        Config { documents, response_bytes: self.max_response_bytes, ..config }
    }
}

/// Reads a manifest of trusted documents, and checks each document against the limits, so that the server does not start with one that could
/// never run.
fn read_trusted_documents(file: &Path, config: &Config) -> anyhow::Result<Documents> {
    let text = std::fs::read_to_string(file).with_context(|| format!("--trusted-documents {}", file.display()))?;
    let documents =
        Documents::trusted(&text).map_err(|error| anyhow::anyhow!("--trusted-documents {}: {error}", file.display()))?;
    let mut broken: Vec<String> = documents
        .registered()
        .filter_map(|(id, document)| schema::check_document(document, config).err().map(|why| format!("  {id}: {why}")))
        .collect();
    broken.sort();
    if !broken.is_empty() {
        bail!("--trusted-documents {}: these documents would never run:\n{}", file.display(), broken.join("\n"));
    }
    Ok(documents)
}
