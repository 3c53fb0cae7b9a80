//! The tools of each view as MCP lists them, converted once and shared by all connections.

use std::{
    collections::HashMap,
    sync::{Arc, Mutex, PoisonError},
};

use harness_model::{Refusal, Tool};
use rmcp::model::Tool as McpTool;
use serde_json::{Map, Value};
use tokio::sync::broadcast::{self, error::TryRecvError};

use crate::{
    backend::{Backend, Notice, View},
    convert, output_schema,
};

/// One tool of a listing.
pub(crate) struct Entry {
    /// As MCP lists it.
    pub(crate) listed: McpTool,
    /// As the harness knows it.
    pub(crate) tool: Arc<Tool>,
    /// As the MCP server behind it lists it.
    original: Option<Arc<Map<String, Value>>>,
    /// Its output schema lets an error through as structured content.
    pub(crate) structured_errors: bool,
}

/// All tools of a view.
pub(crate) struct Listing {
    entries: Vec<Entry>,
    by_name: HashMap<String, usize>,
}

impl Entry {
    /// Puts back what rmcp has no words for. Schemas are left as rmcp made them for the client's protocol.
    pub(crate) fn restore(&self, listed: &mut Map<String, Value>) {
        for (member, value) in self.original.iter().flat_map(|original| original.iter()) {
            let known = listed.contains_key(member) && member != "annotations";
            if !known && member != "outputSchema" {
                listed.insert(member.clone(), value.clone());
            }
        }
    }
}

impl Listing {
    /// All tools, in order.
    pub(crate) fn entries(&self) -> &[Entry] {
        &self.entries
    }

    /// The tool that this view shows under `name`.
    pub(crate) fn get(&self, name: &str) -> Option<&Entry> {
        self.by_name
            .get(name)
            .and_then(|place| self.entries.get(*place))
    }
}

struct Kept {
    notices: broadcast::Receiver<Notice>,
    listings: HashMap<View, Arc<Listing>>,
}

/// The listings of all views that were asked for since the tools last changed.
pub(crate) struct Catalogue {
    backend: Arc<dyn Backend>,
    kept: Mutex<Kept>,
}

impl Catalogue {
    pub(crate) fn new(backend: Arc<dyn Backend>) -> Self {
        let kept = Kept {
            notices: backend.notices(),
            listings: HashMap::new(),
        };
        Self {
            backend,
            kept: Mutex::new(kept),
        }
    }

    /// The tools of a view; refused when there is no such group or server.
    pub(crate) fn listing(&self, view: &View) -> Result<Arc<Listing>, Refusal> {
        let mut kept = self.kept.lock().unwrap_or_else(PoisonError::into_inner);
        kept.forget_changed();
        if let Some(listing) = kept.listings.get(view) {
            return Ok(Arc::clone(listing));
        }
        // Read under the lock, so that a list from before a change cannot be kept after it.
        let exposed = self.backend.tools(view)?;
        let by_name = exposed
            .iter()
            .enumerate()
            .map(|(place, exposed)| (exposed.name.clone(), place))
            .collect();
        let entries = exposed
            .into_iter()
            .map(|exposed| {
                let tool = Arc::clone(&exposed.tool);
                let original = exposed.original.clone();
                let mut listed = convert::tool(exposed);
                // What a server declares is passed on as it is.
                let structured_errors = if original.is_some() {
                    listed.output_schema.is_none()
                } else {
                    output_schema::admit_errors(&mut listed)
                };
                Entry {
                    listed,
                    tool,
                    original,
                    structured_errors,
                }
            })
            .collect();
        let listing = Arc::new(Listing { entries, by_name });
        kept.listings.insert(view.clone(), Arc::clone(&listing));
        Ok(listing)
    }
}

impl Kept {
    fn forget_changed(&mut self) {
        loop {
            match self.notices.try_recv() {
                Ok(Notice::ToolsChanged) | Err(TryRecvError::Lagged(_)) => self.listings.clear(),
                Ok(Notice::Wakes(_)) => {}
                Err(TryRecvError::Empty | TryRecvError::Closed) => return,
            }
        }
    }
}
