//! Walks the statements of a body in source order, without recursion.

use crate::ast::{Instruction, Statement};

/// A step of a [`Walk`].
#[derive(Clone, Copy, Debug, PartialEq)]
pub enum Step<'a> {
    /// The `{` of a nested scope.
    Enter,
    /// The `}` of a nested scope.
    Leave,
    /// Any statement but [`Statement::Block`].
    Statement(&'a Statement),
}

/// Iterator over a body and the scopes nested in it; see [`walk`].
#[derive(Clone, Debug)]
pub struct Walk<'a> {
    /// What is left of each scope that is open, the innermost last.
    open: Vec<std::slice::Iter<'a, Statement>>,
}

/// Walks a body: its statements in source order, with a step at each end of a nested scope.
///
/// ```
/// use ptx::walk::{Step, walk};
///
/// let module = ptx::parse(".version 8.8\n.target sm_90\n.entry k() { { exit; } ret; }")?;
/// let ptx::ast::Item::Function(function) = &module.items[0] else { unreachable!() };
/// let body = function.body.as_deref().unwrap_or_default();
/// let steps: Vec<&str> = walk(body)
///     .map(|step| match step {
///         Step::Enter => "{",
///         Step::Leave => "}",
///         Step::Statement(_) => "statement",
///     })
///     .collect();
/// assert_eq!(steps, ["{", "statement", "}", "statement"]);
/// # Ok::<(), ptx::Error>(())
/// ```
pub fn walk(body: &[Statement]) -> Walk<'_> {
    Walk { open: vec![body.iter()] }
}

impl<'a> Iterator for Walk<'a> {
    type Item = Step<'a>;

    fn next(&mut self) -> Option<Step<'a>> {
        match self.open.last_mut()?.next() {
            Some(Statement::Block(inner)) => {
                self.open.push(inner.iter());
                Some(Step::Enter)
            }
            Some(statement) => Some(Step::Statement(statement)),
            None => {
                self.open.pop();
                // The body itself has no braces of its own here.
                if self.open.is_empty() { None } else { Some(Step::Leave) }
            }
        }
    }
}

/// The instructions of a body in source order, nested scopes included. Their positions in this
/// sequence are the instruction numbers of [`crate::cfg::Cfg`].
pub fn instructions(body: &[Statement]) -> impl Iterator<Item = &Instruction> {
    walk(body).filter_map(|step| match step {
        Step::Statement(Statement::Instruction(instruction)) => Some(instruction),
        _ => None,
    })
}
