//! Enums whose values have names: in Redis, in labels of metrics, in the schema. `named_enum!` declares such an enum once; its names, their parsing
//! and the list of all values follow from the declaration.

/// Declares an enum and the name of each value: `Value = "name"`, with a doc comment each. `default Value` after the block names the default.
macro_rules! named_enum {
    (
        $(#[doc = $doc:literal])*
        $vis:vis enum $enum:ident { $($(#[doc = $value_doc:literal])* $value:ident = $name:literal,)+ } $(default $default:ident)?
    ) => {
        $(#[doc = $doc])*
        #[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
        $vis enum $enum { $($(#[doc = $value_doc])* $value,)+ }

        #[allow(dead_code, unreachable_pub)] // Not every enum uses every function.
        impl $enum {
            /// All values, in the order of their declaration.
            pub const ALL: [Self; [$(Self::$value),+].len()] = [$(Self::$value),+];

            /// The doc comment of the enum.
            pub const DOC: &'static str = concat!($($doc, "\n"),*);

            /// The name of the value.
            pub const fn name(self) -> &'static str {
                match self { $(Self::$value => $name,)+ }
            }

            /// The value with this name.
            pub fn from_name(name: &str) -> Option<Self> {
                match name { $($name => Some(Self::$value),)+ _ => None }
            }

            /// The name as GraphQL writes values of enums: `IN_FEED` for `in-feed`.
            pub const fn constant(self) -> &'static str {
                match self { $(Self::$value => const {
                    const NAME: [u8; $name.len()] = $crate::base::named::constant_case($name);
                    match std::str::from_utf8(&NAME) {
                        Ok(name) => name,
                        Err(_) => $name,
                    }
                },)+ }
            }

            /// The doc comment of the value.
            pub const fn doc(self) -> &'static str {
                match self { $(Self::$value => concat!($($value_doc, "\n"),*),)+ }
            }
        }

        $(#[allow(clippy::derivable_impls)] // A macro cannot match `#[default]` beside doc comments.
        impl Default for $enum {
            fn default() -> Self {
                Self::$default
            }
        })?
    };
}
pub(crate) use named_enum;

/// The bytes of a name in upper case, with underscores for hyphens.
pub const fn constant_case<const N: usize>(name: &str) -> [u8; N] {
    let (bytes, mut upper, mut at) = (name.as_bytes(), [0; N], 0);
    while at < N {
        upper[at] = if bytes[at] == b'-' { b'_' } else { bytes[at].to_ascii_uppercase() };
        at += 1;
    }
    upper
}

#[cfg(test)]
mod tests {
    named_enum! {
        /// A part of a day,
        /// in two lines.
        pub(super) enum Hour {
            /// The first.
            Morning = "morning",
            /// The last.
            LateEvening = "late-evening",
        } default LateEvening
    }

    #[test]
    fn names_parsing_and_the_list_follow_from_the_declaration() {
        assert_eq!(Hour::ALL, [Hour::Morning, Hour::LateEvening]);
        assert_eq!(Hour::ALL.map(Hour::name), ["morning", "late-evening"]);
        assert_eq!(Hour::ALL.map(Hour::constant), ["MORNING", "LATE_EVENING"]);
        assert_eq!(Hour::ALL.map(|hour| Hour::from_name(hour.name())), Hour::ALL.map(Some));
        assert_eq!(Hour::from_name("MORNING"), None);
        assert_eq!((Hour::DOC, Hour::Morning.doc()), (" A part of a day,\n in two lines.\n", " The first.\n"));
        assert_eq!(Hour::default(), Hour::LateEvening);
    }
}
