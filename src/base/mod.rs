//! Shared building blocks that know no domain: configuration, errors, ids, pages, limits, metrics.

pub mod response_size;
pub mod audience;
pub mod audit;
pub mod chat_event;
pub mod clock;
pub mod config;
pub mod count;
pub mod day;
pub mod deadline;
pub mod email;
pub mod error;
pub mod external_id;
pub mod ids;
pub mod hashing_pool;
pub mod jwt;
pub mod loader;
pub mod mail;
pub mod metrics;
pub mod named;
pub mod page;
pub mod rate_limits;
pub mod request;
pub mod server_key;
pub mod text;
pub mod url;
pub mod viewer;
