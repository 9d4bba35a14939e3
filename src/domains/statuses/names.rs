//! The names in a text under which its status is indexed: tags and mentioned logins.

use super::model::{Status, StatusVersion};
use super::store::indexes::IndexedText;
use crate::base::ids::TagId;
use crate::domains::entities::place;
use crate::domains::entities::{TextEntities, TextUnit};
use crate::domains::tags::IndexedNames;

/// The tags and the mentioned logins of a text; none for a text without entities. Linear in the length of the text.
pub(super) fn names_of(text: &str, entities: &TextEntities) -> IndexedNames {
    let placed = place(text, entities, TextUnit::CodePoints);
    IndexedNames {
        tags: placed.tags.into_iter().map(|tag| TagId::of_name(tag.target)).collect(),
        logins: placed.mentions.into_iter().map(|mention| mention.target).collect(),
    }
}

impl IndexedText {
    /// All names of the text.
    pub(super) fn names(&self) -> IndexedNames {
        names_of(&self.message, &self.entities)
    }

    /// The names under which the status is indexed: no tags unless it is public.
    pub(super) fn indexed_names(&self) -> IndexedNames {
        let names = self.names();
        if self.is_public { names } else { IndexedNames { logins: names.logins, ..IndexedNames::default() } }
    }
}

/// The names in the texts of versions of a status.
pub(super) fn names_of_versions(versions: &[(usize, StatusVersion)]) -> IndexedNames {
    let mut names = IndexedNames::default();
    versions.iter().for_each(|(_, version)| names.extend(&names_of(&version.message, &version.entities)));
    names
}

/// Whether the text of a status has a tag.
pub fn has_tag(status: &Status, tag: &TagId) -> bool {
    !status.entities.is_empty() && names_of(&status.message, &status.entities).tags.contains(tag)
}
