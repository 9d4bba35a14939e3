//! Server keys: their names and the scopes that permit requests of a backend.

use crate::base::named::named_enum;

named_enum! {
    /// A set of operations that a server key may use.
    pub enum Scope {
        /// Creates, updates and removes the accounts of the other system, and ends their sessions.
        Users = "users",
        /// Begins sessions of accounts of the other system, and sends requests for these accounts.
        Act = "act",
        /// Reserved: permits nothing yet.
        Moderate = "moderate",
    }
}

/// The server key of a request, without the key itself.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct ServerKey {
    /// The name, which is unique.
    pub name: String,
    /// The scopes, in the order of [`Scope::ALL`].
    pub scopes: Vec<Scope>,
}

impl ServerKey {
    /// Whether the key has a scope.
    pub fn has(&self, scope: Scope) -> bool {
        self.scopes.contains(&scope)
    }
}
