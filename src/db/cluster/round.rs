//! Routes the commands of a request in rounds: each round sends every command without a reply to one node. A redirection, a lost node or a cluster that is
//! down reroutes a command, which is sent again in the next round.

use super::layout::Redirect;
use super::map::{ClusterNode, SlotMap};
use crate::base::error::Error;
use crate::db::pipeline::pipeline_of;
use redis::cluster_routing::Slot;
use redis::{Arg, Cmd, Pipeline, Value};
use std::collections::HashMap;
use std::sync::Arc;

/// The route of a command.
enum Route {
    /// To the node that the slot map names.
    SlotMap,
    /// To the node of a MOVED redirection, which has taken over the slot.
    Moved(Arc<ClusterNode>),
    /// To the node of an ASK redirection, which is importing the slot, after ASKING.
    Asking(Arc<ClusterNode>),
}

/// The commands for one node in a round, by index, and whether ASKING must precede each.
pub(super) struct NodeBatch {
    pub node: Arc<ClusterNode>,
    commands: Vec<(usize, bool)>,
}

/// The action before the next round.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum RoundAction {
    /// Stop: all commands have their replies.
    Done,
    /// Start the next round at once.
    Now,
    /// Wait a moment: keys are being migrated.
    Later,
    /// Wait until the cluster is up again, and refresh the slot map.
    AwaitCluster,
}

/// The commands of a request, with their slots, and the replies so far.
pub(super) struct PendingCommands {
    commands: Vec<(Option<Slot>, Cmd)>,
    replies: Vec<Value>,
    /// The commands without a reply, by index, each with its route in the next round.
    unanswered: Vec<(usize, Route)>,
    next: RoundAction,
    /// Whether pipelines of this round are in flight.
    in_flight: bool,
    /// Whether a command of an earlier round may have been executed.
    any_executed: bool,
}

impl PendingCommands {
    pub(super) fn new(commands: Vec<Cmd>) -> Self {
        Self {
            replies: vec![Value::Nil; commands.len()],
            unanswered: (0..commands.len()).map(|at| (at, Route::SlotMap)).collect(),
            commands: commands.into_iter().map(|command| (slot(&command), command)).collect(),
            next: RoundAction::Done,
            in_flight: false,
            any_executed: false,
        }
    }

    /// The replies in the order of the commands. Call it after the last round.
    pub(super) fn replies(self) -> Vec<Value> {
        self.replies
    }

    /// Whether any command may have been executed, also if the request is cancelled in this round.
    pub(super) const fn may_have_run(&self) -> bool {
        self.in_flight || self.any_executed
    }

    /// Begins a round: returns the commands for each node, and the version of the slot map that routed them.
    pub(super) fn begin(&mut self, map: &SlotMap) -> (u64, Vec<NodeBatch>) {
        let slots = map.slots();
        let mut batches: HashMap<_, NodeBatch> = HashMap::new();
        for (at, route) in std::mem::take(&mut self.unanswered) {
            let asking = matches!(route, Route::Asking(_));
            let node = match route {
                Route::Moved(node) | Route::Asking(node) => Some(node),
                Route::SlotMap => slots.owner(self.commands[at].0).cloned(),
            };
            match node {
                Some(node) => {
                    let new = || NodeBatch { node: node.clone(), commands: Vec::new() };
                    batches.entry(node.address.clone()).or_insert_with(new).commands.push((at, asking));
                }
                None => self.reroute(at, Route::SlotMap, RoundAction::AwaitCluster),
            }
        }
        self.in_flight = !batches.is_empty();
        (slots.version, batches.into_values().collect())
    }

    /// The pipeline for a node.
    pub(super) fn pipeline(&self, batch: &NodeBatch) -> Pipeline {
        let asking = redis::cmd("ASKING");
        let commands = batch.commands.iter().map(|(at, is_asking)| (is_asking.then_some(&asking), &self.commands[*at].1));
        pipeline_of(commands.flat_map(|(asking, command)| asking.into_iter().chain([command])))
    }

    /// Stores the replies of a node.
    ///
    /// # Errors
    /// If a redirection contains an invalid address.
    pub(super) fn record_replies(&mut self, map: &Arc<SlotMap>, batch: NodeBatch, replies: Vec<Value>) -> Result<(), Error> {
        let mut replies = replies.into_iter();
        for (at, asking) in batch.commands {
            if asking {
                replies.next();
            }
            let reply = replies.next().unwrap_or_default();
            let redirect = match &reply {
                Value::ServerError(error) => Redirect::read(error, &batch.node.address),
                _ => None,
            };
            match redirect {
                Some(Redirect::Moved(slot, to)) => self.reroute(at, Route::Moved(map.record_move(slot, &to)?), RoundAction::Now),
                Some(Redirect::Ask(to)) => self.reroute(at, Route::Asking(map.importing_node(&to)?), RoundAction::Now),
                Some(Redirect::TryAgain) => self.reroute(at, Route::SlotMap, RoundAction::Later),
                Some(Redirect::ClusterDown) => self.reroute(at, Route::SlotMap, RoundAction::AwaitCluster),
                None => {
                    self.any_executed |= !matches!(reply, Value::ServerError(_));
                    self.replies[at] = reply;
                }
            }
        }
        Ok(())
    }

    /// Reroutes the commands of a node whose connection was lost. If they were sent, the node may have executed some of them.
    pub(super) fn record_loss(&mut self, batch: NodeBatch, was_sent: bool) {
        self.any_executed |= was_sent;
        for (at, _) in batch.commands {
            self.reroute(at, Route::SlotMap, RoundAction::Now);
        }
    }

    /// Ends a round; returns the action before the next round.
    pub(super) fn end(&mut self) -> RoundAction {
        self.in_flight = false;
        std::mem::replace(&mut self.next, RoundAction::Done)
    }

    /// Schedules a command for the next round. Of all actions that commands need, the last in the order of [`RoundAction`] is taken.
    fn reroute(&mut self, at: usize, route: Route, next: RoundAction) {
        self.unanswered.push((at, route));
        if next as u8 > self.next as u8 {
            self.next = next;
        }
    }
}

/// The slot of a command's first key; all its keys have one hash tag. `None` if any node can execute it.
fn slot(command: &Cmd) -> Option<Slot> {
    let mut arguments = command.args_iter().filter_map(|argument| match argument {
        Arg::Simple(bytes) => Some(bytes),
        _ => None,
    });
    let key = match arguments.next()? {
        // A digest and a number precede the keys.
        b"EVALSHA" => arguments.nth(2),
        // A number precedes the keys.
        b"ZINTER" | b"ZDIFF" => arguments.nth(1),
        b"PING" | b"SCRIPT" => None,
        _ => arguments.next(),
    };
    key.map(Slot::for_key)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_command_is_routed_by_its_first_key() {
        let at = |words: &[&str]| {
            let mut command = redis::cmd(words[0]);
            slot(command.arg(&words[1..]))
        };
        assert_eq!(at(&["GET", "user:{7}"]), Some(Slot::for_key("7")));
        assert_eq!(at(&["HMGET", "user:{7}", "user:{8}"]), Some(Slot::for_key("7")));
        assert_eq!(at(&["EVALSHA", "ff", "2", "home:{9}", "user:{9}", "7"]), Some(Slot::for_key("9")));
        assert_eq!(at(&["ZINTER", "2", "marked:{9}", "following:{9}"]), Some(Slot::for_key("9")));
        assert_eq!(at(&["ZDIFF", "2", "left:{9}", "following:{9}"]), Some(Slot::for_key("9")));
        assert_eq!(at(&["EVALSHA", "ff", "0"]), None);
        assert_eq!(at(&["SCRIPT", "LOAD", "return 1"]), None);
        assert_eq!(at(&["PING"]), None);
    }
}
