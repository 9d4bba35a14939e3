//! Enums in the schema. `schema_enum!` takes an enum that `named_enum!` declares, with its names and doc comments, so that it is declared once.

use async_graphql::InputType;
use async_graphql::registry::{EnumBuilder, MetaEnumValue, MetaTypeId, Registry};
use async_graphql::resolver_utils::EnumType;

/// Declares types of the schema for enums of `named_enum!`: `Enum as "NameInTheSchema";`. The doc comments are the descriptions.
macro_rules! schema_enum {
    ($($enum:ident as $name:literal;)+) => {$(
        impl async_graphql::resolver_utils::EnumType for $enum {
            fn items() -> &'static [async_graphql::resolver_utils::EnumItem<Self>] {
                static ITEMS: std::sync::LazyLock<Vec<async_graphql::resolver_utils::EnumItem<$enum>>> = std::sync::LazyLock::new(|| {
                    let item = |value: $enum| async_graphql::resolver_utils::EnumItem { name: value.constant(), value };
                    $enum::ALL.into_iter().map(item).collect()
                });
                &ITEMS
            }
        }

        impl async_graphql::InputType for $enum {
            type RawValueType = Self;

            fn type_name() -> std::borrow::Cow<'static, str> {
                $name.into()
            }

            fn create_type_info(registry: &mut async_graphql::registry::Registry) -> String {
                $crate::schema::register_enum::<Self>(registry, $enum::DOC, $enum::doc)
            }

            fn parse(value: Option<async_graphql::Value>) -> async_graphql::InputValueResult<Self> {
                async_graphql::resolver_utils::parse_enum(value.unwrap_or_default())
            }

            fn to_value(&self) -> async_graphql::Value {
                async_graphql::Value::Enum(async_graphql::Name::new(self.constant()))
            }

            fn as_raw_value(&self) -> Option<&Self::RawValueType> {
                Some(self)
            }
        }

        impl async_graphql::OutputType for $enum {
            fn type_name() -> std::borrow::Cow<'static, str> {
                $name.into()
            }

            fn create_type_info(registry: &mut async_graphql::registry::Registry) -> String {
                <Self as async_graphql::InputType>::create_type_info(registry)
            }

            async fn resolve(
                &self,
                _: &async_graphql::ContextSelectionSet<'_>,
                _: &async_graphql::Positioned<async_graphql::parser::types::Field>,
            ) -> async_graphql::ServerResult<async_graphql::Value> {
                Ok(async_graphql::InputType::to_value(self))
            }
        }

        impl $crate::schema::DirectSerialize for $enum {
            fn write(&self, _: &$crate::schema::Selected<'_>, json: &mut $crate::schema::Json) -> Option<()> {
                json.text(self.constant());
                Some(())
            }
        }
    )+};
}
pub(crate) use schema_enum;

/// Registers an enum with the descriptions of it and of its values.
pub(crate) fn register_enum<E: EnumType + InputType>(
    registry: &mut Registry,
    doc: &str,
    value_doc: fn(E) -> &'static str,
) -> String {
    registry.create_input_type::<E, _>(MetaTypeId::Enum, |_| {
        let values = E::items().iter().map(|item| {
            let mut value = MetaEnumValue::new(item.name.to_owned());
            value.description = Some(description(value_doc(item.value)));
            (item.name.to_owned(), value)
        });
        let name = E::type_name().into_owned();
        EnumBuilder::new(name, values.collect())
            .description(Some(description(doc)))
            .rust_typename(std::any::type_name::<E>())
            .build()
    })
}

/// The text of a doc comment, without the space at the start of its lines.
fn description(doc: &str) -> String {
    doc.lines().map(str::trim).collect::<Vec<_>>().join("\n")
}
