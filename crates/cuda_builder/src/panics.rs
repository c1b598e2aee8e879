//! What kernels' panics say, without `core::fmt`.
//!
//! Every panic goes through `core::panicking::panic_fmt` to `cuda_std`'s panic handler, with a table of the values to be shown and of
//! the functions that would format them. Those functions, and what they call, take tens of kilobytes and 56 registers, and NVIDIA's
//! assembler gives a kernel as many registers as the hungriest function it can reach: in a kernel whose speed depends on having no
//! more than 32. So the handler calls none of them. It shows the values itself, and to know what they are it needs no more than to
//! tell the functions apart: `formatters` puts numbers in their places, and LLVM drops them. `inline` lets LLVM see which messages have
//! no values.

mod formatters;
mod graph;
mod inline;
mod order;
mod short_names;
mod stand_ins;
mod template;

/// How kernels' panics show messages with run-time values, such as `index out of bounds: the len is 3 but the index is 7`.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
#[non_exhaustive]
pub enum PanicMessages {
    /// A fixed text stands for each message but those of index errors: a call and a few instructions for each panic, and no more than 28
    /// registers.
    Constant,
    /// Numbers, truth values, characters, texts, and references to them, as Rust words them; of a value of another type the type's name.
    /// `cuda_std` does it in some kilobytes of PTX. Index errors take no more registers than a constant message, other messages 30 to 54
    /// in every kernel that can get to one. With a compiler whose messages `cuda_std` can't read (other than Rust 1.95 to 1.97) this is
    /// [`Constant`](Self::Constant). The default.
    #[default]
    Usual,
    /// Values of every type, by `core::fmt`. It adds tens of kilobytes of PTX, and every kernel that can panic takes as many registers as
    /// the hungriest formatter in the module (up to 255). On a GPU the host has to allow for its stack, as for
    /// `cuda_std::println_full!`.
    Full,
}

impl PanicMessages {
    /// As far as messages can be read that the compiler of this release (`1.96.0`) makes.
    pub(crate) fn for_compiler(self, release: &str) -> Self {
        match self {
            Self::Usual if !is_known(release) => Self::Constant,
            other => other,
        }
    }
}

/// The compilers, as minor versions of Rust 1, that lay out `fmt::Arguments` as `cuda_std`'s `panic/message.rs` reads it.
const KNOWN_COMPILERS: std::ops::RangeInclusive<u32> = 95..=97;

/// Rewrites the textual module; `optimise` says whether LLVM is to optimise.
pub(crate) fn rewrite(module: &str, messages: PanicMessages, optimise: bool) -> String {
    let module = stand_ins::rewrite(module);
    let module = formatters::rewrite(&module, messages == PanicMessages::Full);
    let module = if optimise { inline::rewrite(&module).into() } else { module };
    short_names::rewrite(&order::rewrite(&module))
}

/// Whether the messages that a compiler makes can be read.
fn is_known(release: &str) -> bool {
    let minor = release.strip_prefix("1.").and_then(|rest| rest.split('.').next());
    minor.and_then(|minor| minor.parse().ok()).is_some_and(|minor| KNOWN_COMPILERS.contains(&minor))
}

/// Part of the mangled names of what reports panics, `cuda_std::panic`.
const HANDLER: &str = "8cuda_std5panic";

/// The text of the name that starts at `at` with its `@`, quotes included.
fn name_at(line: &str, at: usize) -> &str {
    crate::ir::token::tokens(&line[at..]).next().map_or("", |token| token.text)
}

/// The names in a line of the module, with their `@`, and where they start.
fn names(line: &str) -> impl Iterator<Item = (usize, &str)> {
    line.match_indices('@').map(|(at, _)| (at, name_at(line, at)))
}

/// Whether the name that ends at `end` is called there.
fn is_called(line: &str, end: usize) -> bool {
    line[end..].starts_with('(')
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn compilers_are_known_by_their_minor_version() {
        for (release, known) in [
            ("1.94.1", false),
            ("1.95.0", true),
            ("1.96.0", true),
            ("1.97.0-nightly", true),
            ("1.98.0", false),
            ("2.95.0", false),
            ("", false),
        ] {
            assert_eq!(is_known(release), known, "{release}");
        }
    }
}
