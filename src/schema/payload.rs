//! Payloads of mutations: the changed objects, or the user errors in their place.

/// Declares payloads with the same fields: the block lists the fields, which are null if there are user errors; the names follow. A payload is made
/// of a tuple of its fields and the user errors.
macro_rules! payload {
    (@one { $($(#[$field_doc:meta])* $field:ident: $kind:ty,)+ } $(#[$doc:meta])* $name:ident) => {
        $(#[$doc])*
        #[derive(async_graphql::SimpleObject)]
        struct $name {
            $($(#[$field_doc])* $field: Option<$kind>,)+
            /// Errors in the input. Empty on success.
            user_errors: Vec<$crate::schema::UserError>,
        }

        impl From<($(Option<$kind>,)+ Vec<$crate::schema::UserError>)> for $name {
            fn from(($($field,)+ user_errors): ($(Option<$kind>,)+ Vec<$crate::schema::UserError>)) -> Self {
                Self { $($field,)+ user_errors }
            }
        }
    };
    ($fields:tt $($(#[$doc:meta])* $name:ident;)+) => {
        $($crate::schema::payload!(@one $fields $(#[$doc])* $name);)+
    };
}
pub(crate) use payload;
