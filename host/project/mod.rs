//! Projects that `ferrowarp new` makes: which files they have, and what stands in them.

use std::fs;
use std::io;
use std::path::{Path, PathBuf};

/// How a new project is laid out.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Layout {
    /// Typed launches, with `cuda_host`.
    Typed,
    /// `cust` alone, as projects of rust-cuda have it.
    Cust,
}

/// A project that is not written yet.
#[derive(Debug)]
pub struct Project {
    /// The package's name.
    name: String,
    /// Where Ferrowarp's own crates are.
    sources: PathBuf,
    layout: Layout,
}

/// Why a project cannot be made.
#[derive(Debug, thiserror::Error)]
#[non_exhaustive]
pub enum ProjectError {
    /// cargo would not take the name.
    #[error("a package cannot be called `{name}`: {reason}")]
    Name {
        /// The name asked for.
        name: String,
        /// What is wrong with it and what to do.
        reason: &'static str,
    },
    /// A path without a name at its end.
    #[error("{:?} ends in no name for a project; give a folder such as `vectors` or `work/vectors`", path.display().to_string())]
    NoName {
        /// What was given.
        path: PathBuf,
    },
    /// There is something already.
    #[error("{} exists already and is not empty; give another name, or remove it first", path.display())]
    Exists {
        /// The folder.
        path: PathBuf,
    },
    /// Ferrowarp's crates are not there.
    #[error(
        "the project needs Ferrowarp's sources, and {} has no crates/cuda_std; give --sources the folder of a checkout",
        path.display()
    )]
    Sources {
        /// Where they were looked for.
        path: PathBuf,
    },
    /// A path that a Cargo.toml cannot hold.
    #[error("{} is not UTF-8, which a path in a Cargo.toml must be; move the folder", path.display())]
    NotUtf8 {
        /// The path.
        path: PathBuf,
    },
    /// A file or folder could not be made.
    #[error("cannot write {}: {source}", path.display())]
    Write {
        /// The file or folder.
        path: PathBuf,
        /// What the system said.
        source: io::Error,
    },
}

/// A file's path in the project, and its text with names in braces to be filled in.
type Template = (&'static str, &'static str);

/// In every project. The lock file has the versions that Ferrowarp itself is built with; cargo leaves out what is not needed.
const COMMON: [Template; 3] = [
    ("rust-toolchain.toml", include_str!("../../rust-toolchain.toml")),
    (".gitignore", "/target\n"),
    ("Cargo.lock", include_str!("../../Cargo.lock")),
];

macro_rules! templates {
    ($layout:literal) => {
        [
            ("Cargo.toml", include_str!(concat!($layout, "/Cargo.toml.in"))),
            ("README.md", include_str!(concat!($layout, "/README.md.in"))),
            ("build.rs", include_str!(concat!($layout, "/build.rs.in"))),
            ("kernels/Cargo.toml", include_str!(concat!($layout, "/kernels/Cargo.toml.in"))),
            ("kernels/src/lib.rs", include_str!(concat!($layout, "/kernels/lib.rs.in"))),
            ("src/lib.rs", include_str!(concat!($layout, "/src/lib.rs.in"))),
            ("src/main.rs", include_str!(concat!($layout, "/src/main.rs.in"))),
            ("tests/kernels.rs", include_str!(concat!($layout, "/tests/kernels.rs.in"))),
        ]
    };
}

const TYPED: [Template; 8] = templates!("typed");
const CUST: [Template; 8] = templates!("cust");

/// Crates that a Cargo.toml of a project names, by the word that stands for their path.
const CRATES: [&str; 5] =
    ["cuda_builder", "cuda_driver", "cuda_host", "cuda_std", "find_cuda_helper"];

/// Names that cargo or rustc refuses, or that another crate of the project has: Rust's keywords (The Rust Reference, "Keywords"), what
/// cargo itself uses, and the crates that a project is made with.
const TAKEN: [&str; 57] = [
    "abstract",
    "as",
    "async",
    "await",
    "become",
    "box",
    "break",
    "const",
    "continue",
    "crate",
    "do",
    "dyn",
    "else",
    "enum",
    "extern",
    "false",
    "final",
    "fn",
    "for",
    "gen",
    "if",
    "impl",
    "in",
    "let",
    "loop",
    "macro",
    "match",
    "mod",
    "move",
    "mut",
    "override",
    "priv",
    "pub",
    "ref",
    "return",
    "self",
    "static",
    "struct",
    "super",
    "trait",
    "true",
    "try",
    "type",
    "typeof",
    "unsafe",
    "unsized",
    "use",
    "virtual",
    "where",
    "while",
    "yield",
    "test",
    "core",
    "std",
    "alloc",
    "proc_macro",
    "kernels",
];

impl Project {
    /// A project with a name, which uses the Ferrowarp in the folder `sources`.
    ///
    /// # Errors
    /// If cargo would not take the name, or the folder is no Ferrowarp.
    pub fn new(name: &str, sources: &Path, layout: Layout) -> Result<Self, ProjectError> {
        if let Some(reason) = wrong_name(name) {
            return Err(ProjectError::Name { name: name.to_owned(), reason });
        }
        let missing = || ProjectError::Sources { path: sources.to_owned() };
        let sources = sources.canonicalize().map_err(|_| missing())?;
        if !sources.join("crates/cuda_std/Cargo.toml").is_file() {
            return Err(missing());
        }
        Ok(Self { name: name.to_owned(), sources, layout })
    }

    /// Its files: paths in the project, and texts.
    ///
    /// # Errors
    /// If a path is not UTF-8.
    pub fn files(&self) -> Result<Vec<(PathBuf, String)>, ProjectError> {
        let own = match self.layout {
            Layout::Typed => &TYPED,
            Layout::Cust => &CUST,
        };
        own.iter()
            .chain(&COMMON)
            .map(|(path, template)| Ok((PathBuf::from(path), self.filled(template)?)))
            .collect()
    }

    fn filled(&self, template: &str) -> Result<String, ProjectError> {
        let text = |path: &Path| match path.to_str() {
            // Slashes, which cargo takes everywhere.
            Some(text) => Ok(text.replace('\\', "/")),
            None => Err(ProjectError::NotUtf8 { path: path.to_owned() }),
        };
        let mut filled = template
            .replace("{name}", &self.name)
            .replace("{crate}", &self.name.replace('-', "_"))
            .replace("{root}", &text(&self.sources)?);
        for name in CRATES {
            let path = text(&self.sources.join("crates").join(name))?;
            filled = filled.replace(&format!("{{{name}}}"), &toml_string(&path));
        }
        Ok(filled)
    }

    /// Writes it all to a folder that does not exist yet, or is empty: completely or not at all.
    ///
    /// # Errors
    /// If there is something, or it cannot be written.
    pub fn write(&self, folder: &Path) -> Result<(), ProjectError> {
        let failed = |path: &Path, source| ProjectError::Write { path: path.to_owned(), source };
        if fs::symlink_metadata(folder).is_ok() {
            let is_empty = fs::read_dir(folder).is_ok_and(|mut entries| entries.next().is_none());
            if !is_empty {
                return Err(ProjectError::Exists { path: folder.to_owned() });
            }
        }
        let parent = match folder.parent() {
            Some(parent) if parent != Path::new("") => parent,
            _ => Path::new("."),
        };
        fs::create_dir_all(parent).map_err(|error| failed(parent, error))?;
        let draft = tempfile::Builder::new()
            .prefix(".ferrowarp-new-")
            .tempdir_in(parent)
            .map_err(|error| failed(parent, error))?;
        let root = draft.path().join("project");
        for (path, text) in self.files()? {
            let path = root.join(path);
            let folder = path.parent().unwrap_or(&root);
            fs::create_dir_all(folder).map_err(|error| failed(folder, error))?;
            fs::write(&path, text).map_err(|error| failed(&path, error))?;
        }
        // An empty folder of that name gives way.
        let _ = fs::remove_dir(folder);
        fs::rename(&root, folder).map_err(|error| failed(folder, error))
    }
}

/// What is wrong with a package's name (The Cargo Book, "The `name` field", and what `cargo new` refuses besides).
fn wrong_name(name: &str) -> Option<&'static str> {
    let mut letters = name.chars();
    let first = letters.next()?;
    if !(first.is_ascii_alphabetic() || first == '_') {
        return Some("it must begin with a letter or `_`");
    }
    if letters.any(|c| !(c.is_ascii_alphanumeric() || c == '_' || c == '-')) {
        return Some("it may have letters, digits, `_` and `-` only");
    }
    let crate_name = name.replace('-', "_");
    if TAKEN.contains(&crate_name.as_str())
        || CRATES.contains(&crate_name.as_str())
        || crate_name == "cust"
    {
        return Some(
            "the name is taken, by Rust or by a crate that the project needs; choose another",
        );
    }
    None
}

/// A basic string (TOML 1.0, "String").
fn toml_string(text: &str) -> String {
    let escaped: String = text
        .chars()
        .map(|c| match c {
            '"' | '\\' => format!("\\{c}"),
            c if c.is_control() => format!("\\u{:04X}", u32::from(c)),
            c => c.to_string(),
        })
        .collect();
    format!("\"{escaped}\"")
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn names_that_cargo_would_refuse() {
        for name in [
            "1st",
            "a b",
            "ünder",
            "a/b",
            "mod",
            "Async-".trim_end_matches('-').to_lowercase().as_str(),
            "kernels",
            "cuda-std",
            "cust",
        ] {
            assert!(wrong_name(name).is_some(), "{name}");
        }
        for name in ["saxpy", "_x", "two-words", "A1"] {
            assert_eq!(wrong_name(name), None, "{name}");
        }
    }

    #[test]
    fn nothing_is_left_to_fill_in() {
        let root = Path::new(env!("CARGO_MANIFEST_DIR"));
        for layout in [Layout::Typed, Layout::Cust] {
            let project = Project::new("two-words", root, layout).unwrap();
            for (path, text) in project.files().unwrap() {
                for word in CRATES.iter().chain(&["name", "crate", "root"]) {
                    assert!(!text.contains(&format!("{{{word}}}")), "{word} in {}", path.display());
                }
            }
        }
    }

    #[test]
    fn paths_are_quoted() {
        assert_eq!(toml_string(r#"/a "b"\c"#), r#""/a \"b\"\\c""#);
    }
}
