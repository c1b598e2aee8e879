//! Which functions a kernel reaches, out of LLVM's text of a kernel crate.
//!
//! Without optimisation the module still has a definition for each function that is called, or, where the compiler has inlined it
//! already, debug information that names it.

use std::collections::{BTreeMap, BTreeSet, HashMap, HashSet};

/// Kernels, each with the paths of everything that the names of its functions mention: `cuda_std::warp::reduce::warp_reduce_sum`,
/// `cuda_std::atomic::typed::Atomic::fetch_add`, and the paths of the types and traits among their parameters.
pub(super) type Reached = BTreeMap<String, BTreeSet<String>>;

/// Reads a module's text.
pub(super) fn reached(module: &str) -> Reached {
    let graph = Graph::read(module);
    graph.kernels.iter().map(|kernel| ((*kernel).to_owned(), graph.paths(kernel))).collect()
}

/// The module's functions and variables, and what each refers to.
#[derive(Default)]
struct Graph<'a> {
    kernels: Vec<&'a str>,
    /// Symbols that a symbol's definition names.
    symbols: HashMap<&'a str, HashSet<&'a str>>,
    /// Numbers of debug information that a symbol's definition names.
    debug: HashMap<&'a str, HashSet<&'a str>>,
    /// Numbers that a piece of debug information names as where it is.
    places: HashMap<&'a str, Vec<&'a str>>,
    /// Functions' symbols in debug information.
    inlined: HashMap<&'a str, &'a str>,
}

impl<'a> Graph<'a> {
    fn read(module: &'a str) -> Self {
        let mut graph = Self::default();
        let mut inside = None;
        for line in module.lines() {
            if line.starts_with("define ") {
                inside = symbols(line).next();
                if let Some(name) = inside
                    && line.contains("ptx_kernel")
                {
                    graph.kernels.push(name);
                }
            } else if line.starts_with('}') {
                inside = None;
            } else if let Some(number) = line.strip_prefix('!').and_then(number) {
                graph.read_debug(number, line);
            }
            let owner = inside.or_else(|| line.starts_with('@').then(|| symbols(line).next())?);
            if let Some(owner) = owner {
                graph.symbols.entry(owner).or_default().extend(symbols(line));
                let debug = line.split("!dbg !").skip(1).filter_map(number);
                graph.debug.entry(owner).or_default().extend(debug);
            }
        }
        graph
    }

    fn read_debug(&mut self, own: &'a str, line: &'a str) {
        if let Some((_, name)) = line.split_once("linkageName: \"") {
            self.inlined.insert(own, name.split('"').next().unwrap_or_default());
        } else {
            let places = ["scope: !", "inlinedAt: !"];
            let named = places.iter().filter_map(|key| number(line.split_once(key)?.1));
            self.places.entry(own).or_default().extend(named);
        }
    }

    fn paths(&self, kernel: &'a str) -> BTreeSet<String> {
        let mut paths = BTreeSet::new();
        let (mut seen, mut rest) = (HashSet::from([kernel]), vec![kernel]);
        while let Some(symbol) = rest.pop() {
            add_paths(symbol, &mut paths);
            let next = self.symbols.get(symbol).into_iter().flatten();
            rest.extend(next.filter(|next| seen.insert(next)));
            self.add_inlined(symbol, &mut paths);
        }
        paths
    }

    fn add_inlined(&self, symbol: &str, paths: &mut BTreeSet<String>) {
        let mut rest: Vec<&str> = self.debug.get(symbol).into_iter().flatten().copied().collect();
        let mut seen: HashSet<&str> = rest.iter().copied().collect();
        while let Some(number) = rest.pop() {
            if let Some(name) = self.inlined.get(number) {
                add_paths(name, paths);
            }
            let next = self.places.get(number).into_iter().flatten();
            rest.extend(next.filter(|next| seen.insert(next)));
        }
    }
}

/// The digits at the start of a text.
fn number(text: &str) -> Option<&str> {
    let end = text.find(|c: char| !c.is_ascii_digit()).unwrap_or(text.len());
    (end > 0).then(|| &text[..end])
}

/// The symbols that a line names.
fn symbols(line: &str) -> impl Iterator<Item = &str> {
    line.split('@').skip(1).filter_map(|rest| match rest.strip_prefix('"') {
        Some(quoted) => quoted.split('"').next(),
        None => rest.split(|c: char| !(c.is_alphanumeric() || "._$".contains(c))).next(),
    })
}

/// The paths in a function's readable name: its own, and those of the types and traits in it.
fn add_paths(symbol: &str, paths: &mut BTreeSet<String>) {
    let Ok(name) = rustc_demangle::try_demangle(symbol) else { return };
    let name = format!("{name:#}");
    paths.extend(own_path(&name));
    let words = name.split(|c: char| !(c.is_alphanumeric() || "_:".contains(c)));
    paths.extend(
        words.map(|word| word.trim_matches(':').to_owned()).filter(|word| word.contains("::")),
    );
}

/// The path of the function: `a::T::f` for `<a::T<u32>>::f`, `a::Trait::f` for `<u32 as a::Trait<T>>::f`, `a::f` for `a::f::<u32>`;
/// that of the function around it for a closure.
fn own_path(name: &str) -> Option<String> {
    let (owner, rest) = match name.strip_prefix('<') {
        Some(inner) => {
            let end = closing(inner)?;
            let (owner, rest) = (&inner[..end], &inner[end + 1..]);
            (interface(owner).unwrap_or(owner), rest)
        }
        None => ("", name),
    };
    let path = format!("{}{}", without_arguments(owner), without_arguments(rest));
    let path = path.split("::{").next().unwrap_or_default();
    Some(path.trim_start_matches("::").to_owned())
}

/// The trait in `type as trait`.
fn interface(owner: &str) -> Option<&str> {
    let outside = |at: usize| {
        owner[..at].matches('<').count() == owner[..at].replace("->", "").matches('>').count()
    };
    let (at, middle) = owner.match_indices(" as ").find(|(at, _)| outside(*at))?;
    Some(&owner[at + middle.len()..])
}

/// Where the bracket ends that is open at the start.
fn closing(text: &str) -> Option<usize> {
    let mut depth = 0;
    let mut before = ' ';
    for (at, c) in text.char_indices() {
        match c {
            '<' => depth += 1,
            '>' if before == '-' => {}
            '>' if depth == 0 => return Some(at),
            '>' => depth -= 1,
            _ => {}
        }
        before = c;
    }
    None
}

/// A path without what is in angle brackets.
fn without_arguments(path: &str) -> String {
    let mut out = String::new();
    let mut rest = path;
    while let Some(open) = rest.find('<') {
        out.push_str(rest[..open].trim_end_matches(':'));
        let inner = &rest[open + 1..];
        rest = closing(inner).map_or("", |end| &inner[end + 1..]);
    }
    out + rest
}

#[cfg(test)]
mod tests {
    use super::{own_path, reached};

    #[test]
    fn paths_of_functions_methods_and_closures() {
        for (name, path) in [
            ("a::b::f", "a::b::f"),
            ("a::f::<u32, <u8 as a::X>::Y>", "a::f"),
            ("<a::T<u32, fn() -> u8>>::f", "a::T::f"),
            ("<u32 as a::Trait<u8>>::f::<i8>", "a::Trait::f"),
            ("<a::T<<u8 as a::X>::Y> as a::Trait>::f", "a::Trait::f"),
            ("<u8 as a::Trait<<u8 as a::X>::Y>>::f", "a::Trait::f"),
            ("a::f::<u32>::{closure#0}", "a::f"),
            ("a::f::{closure#0}::g", "a::f"),
        ] {
            assert_eq!(own_path(name).as_deref(), Some(path), "{name}");
        }
    }

    #[test]
    fn called_functions_and_inlined_ones_are_reached() {
        let module = "\
@table = constant ptr @_RNvCs0_1a1h
define ptx_kernel void @kernel(ptr %x) !dbg !1 {
  call void @_RNvCs0_1a1f(ptr @table), !dbg !4
}
define ptx_kernel void @other() {
}
define void @_RNvCs0_1a1f(ptr %x) {
}
define void @_RNvCs0_1a1h(ptr %x) {
}
!1 = distinct !DISubprogram(name: \"kernel\", linkageName: \"kernel\", scope: !9)
!2 = distinct !DISubprogram(name: \"g\", linkageName: \"_RNvCs0_1a1g\", scope: !9)
!3 = !DILexicalBlock(scope: !2, file: !7, line: 1)
!4 = !DILocation(line: 3, scope: !3, inlinedAt: !5)
!5 = !DILocation(line: 3, scope: !1)
";
        let reached = reached(module);
        let paths: Vec<&str> = reached["kernel"].iter().map(String::as_str).collect();
        assert_eq!(paths, ["a::f", "a::g", "a::h"]);
        assert!(reached["other"].is_empty());
    }
}
