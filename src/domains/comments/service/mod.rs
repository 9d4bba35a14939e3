//! The use cases of comments: visibility in `visible`, changes in `change`, branches and whole threads in `removal`, levels in `read`,
//! the thread in reading order in `tree`, the log in `events`, authors' indexes in `settle`.

mod change;
mod removal;
mod events;
mod read;
mod repair;
mod settle;
mod tree;
mod visible;

pub use change::{add, delete, edit, publish_votes, vote};
pub use events::{channel, decode_event, decode_message, encode_event, events, position, sync_cursor};
pub use read::{encode, replies, replies_scope};
pub use removal::{purge_account, purge_threads, settle_branch, settle_thread};
pub use repair::{clear_comment, count_votes, purge_thread, rebuild_thread, restore_to_orders};
pub use settle::settle;
pub use tree::{Tree, TreeArgs, tree};
pub use visible::{VisibleComment, load_visible, not_found};
