//! Entities in a field of the HASH of their text.

use super::model::{StoredEntity, TextEntities};
use crate::base::error::Error;
use crate::db::decode::StoredText;
use crate::db::hash::{Form, HashValue};

/// Entities in an optional field: a text without entities has no such field. An invalid field counts as no field, so that the text can be read.
impl HashValue for TextEntities {
    const FORM: Form = Form::Optional;

    fn read([record]: [Option<StoredText>; 1]) -> Result<Option<Self>, Error> {
        Ok(Some(record.and_then(|record| Self::parse(&record.0)).unwrap_or_default()))
    }

    fn write(&self) -> Option<[String; 1]> {
        (!self.is_empty()).then(|| [self.to_string()])
    }

    fn heap_bytes(&self) -> usize {
        self.0.len() * size_of::<StoredEntity>()
    }
}
