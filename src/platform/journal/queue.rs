//! The queues of the journal.

use crate::base::named::named_enum;

named_enum! {
    /// The queues. They have separate workers, so long tasks do not delay short ones.
    pub enum Queue {
        /// The rest of a change whose response was already sent.
        Short = "short",
        /// Long tasks, such as backfills, changes of the fan-out mode, branches and threads of comments, and deletions of accounts.
        Long = "long",
        /// Emails: a mail server that hangs delays nothing else.
        Mail = "mail",
    }
}
