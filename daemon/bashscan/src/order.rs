//! What has run for certain when something else runs.

use std::collections::BTreeMap;

use crate::word::Span;

/// A part of the script that is not run, or not to its end, whenever what is around it is: a branch, a
/// body, one side of a pipe or of `&&`, another process. Whatever is in it runs from its start.
#[derive(Debug, Clone, Copy)]
pub(crate) struct Block {
    pub(crate) span: Span,
    pub(crate) kind: BlockKind,
}

/// What a block is.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum BlockKind {
    /// A function.
    Function,
    /// What the shell reads before it runs it: an error ends all of it. After an error in arithmetic,
    /// in an expansion or in an assignment to a readonly variable it goes on with the next one.
    Line,
    /// Any other.
    Part,
}

/// Where something happens that holds from then on.
#[derive(Debug, Clone, Copy)]
pub(crate) struct Site {
    pub(crate) span: Span,
    /// It is all that its line begins with, and it cannot fail: an error before it ends the line, but
    /// not the script.
    pub(crate) is_firm: bool,
}

/// Blocks and assignments by where they are.
#[derive(Default)]
pub(crate) struct Places {
    pub(crate) blocks: Vec<Block>,
    /// Where a variable is given a value of its own, or a function is defined.
    sites: BTreeMap<String, Vec<Site>>,
}

impl Places {
    /// In the order of the text, once everything is read.
    pub(crate) fn sort(&mut self) {
        for sites in self.sites.values_mut() {
            sites.sort_unstable_by_key(|site| site.span.end);
        }
    }

    pub(crate) fn assigned(&mut self, name: &str, site: Site) {
        match self.sites.get_mut(name) {
            Some(sites) => sites.push(site),
            None => {
                self.sites.insert(name.to_owned(), vec![site]);
            }
        }
    }
}

/// The same, one block within another.
pub(crate) struct Order<'a> {
    places: &'a Places,
    /// In the order of their starts, with the index of the one around each.
    blocks: Vec<(Block, Option<usize>)>,
}

/// So that the time stays linear when one variable is assigned and used everywhere.
const MAX_TRIED: usize = 64;

impl<'a> Order<'a> {
    pub(crate) fn of(places: &'a Places) -> Self {
        let mut sorted = places.blocks.clone();
        sorted.sort_unstable_by_key(|block| {
            let Span { start, end } = block.span;
            (start, std::cmp::Reverse(end))
        });
        let mut blocks: Vec<(Block, Option<usize>)> = Vec::with_capacity(sorted.len());
        for block in sorted {
            let around = around(&blocks, blocks.len().checked_sub(1), block.span);
            blocks.push((block, around));
        }
        Self { places, blocks }
    }

    fn innermost(&self, span: Span) -> Option<usize> {
        let behind = self
            .blocks
            .partition_point(|(block, _)| block.span.start <= span.start);
        around(&self.blocks, behind.checked_sub(1), span)
    }

    /// Whether what is at `first` has run, in the same call, when what is at `then` runs: it is before
    /// it, and so is the block that it is in around it.
    ///
    /// A function that is defined there is called later, when the variables of the function around its
    /// definition may be gone.
    pub(crate) fn runs_before(&self, first: Site, then: Span) -> bool {
        if first.span.end > then.start {
            return false;
        }
        let mut block = self.innermost(first.span);
        if first.is_firm
            && let Some((line, around)) = block.and_then(|at| self.blocks.get(at))
            && line.kind == BlockKind::Line
        {
            block = *around;
        }
        let mut at = self.innermost(then);
        let mut crosses = false;
        loop {
            if at == block {
                return !(crosses && self.is_in_function(block));
            }
            let Some((inner, around)) = at.and_then(|at| self.blocks.get(at)) else {
                return false;
            };
            crosses |= inner.kind == BlockKind::Function;
            at = *around;
        }
    }

    fn is_in_function(&self, mut at: Option<usize>) -> bool {
        while let Some((block, around)) = at.and_then(|at| self.blocks.get(at)) {
            if block.kind == BlockKind::Function {
                return true;
            }
            at = *around;
        }
        false
    }

    /// Whether the variable was assigned for certain when what is at the span runs.
    pub(crate) fn is_assigned_before(&self, name: &str, span: Span) -> bool {
        self.places.sites.get(name).is_some_and(|sites| {
            // The nearest ones are the likeliest.
            let behind = sites.partition_point(|site| site.span.end <= span.start);
            let before = sites.get(..behind).unwrap_or_default();
            let near = before.iter().rev().take(MAX_TRIED);
            near.chain(before.first())
                .any(|site| self.runs_before(*site, span))
        })
    }
}

/// The innermost block around the span, from the last that begins before it outwards.
fn around(blocks: &[(Block, Option<usize>)], mut at: Option<usize>, span: Span) -> Option<usize> {
    while let Some((block, around)) = at.and_then(|at| blocks.get(at)) {
        if block.span.end >= span.end {
            return at;
        }
        at = *around;
    }
    None
}
