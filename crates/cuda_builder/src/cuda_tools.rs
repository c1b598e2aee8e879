//! Where NVIDIA's own programs are, on machines that have them: `ptxas`, `nvdisasm`, `cuobjdump`.

use std::env;
use std::ffi::OsString;
use std::path::{Path, PathBuf};

/// The variables that say where they are, besides one of each program's own.
pub(crate) const VARIABLES: [&str; 2] = ["CUDA_PATH", "CUDA_HOME"];

/// A program of the CUDA toolkit: the file that the variable of its name in capitals names and no other, else the first of PATH,
/// `$CUDA_PATH/bin`, `$CUDA_HOME/bin`, `/usr/local/cuda/bin`; `None` if there is none.
///
/// ```
/// match cuda_builder::find_cuda_tool("ptxas") {
///     Some(path) => println!("{}", path.display()),
///     None => println!("no ptxas; the variable PTXAS may name one"),
/// }
/// ```
#[must_use]
pub fn find(name: &str) -> Option<PathBuf> {
    find_by(name, variable)
}

/// What the variable of the program's name says, be there such a file or not.
pub(crate) fn named(name: &str) -> Option<PathBuf> {
    variable(&name.to_uppercase()).map(PathBuf::from)
}

fn variable(name: &str) -> Option<OsString> {
    env::var_os(name).filter(|value| !value.is_empty())
}

fn find_by(name: &str, variable: impl Fn(&str) -> Option<OsString>) -> Option<PathBuf> {
    if let Some(path) = variable(&name.to_uppercase()) {
        return Some(PathBuf::from(path)).filter(|path| path.is_file());
    }
    let file_name = format!("{name}{}", env::consts::EXE_SUFFIX);
    let paths = variable("PATH").unwrap_or_default();
    let homes = VARIABLES.into_iter().filter_map(&variable);
    env::split_paths(&paths)
        .chain(homes.map(|home| Path::new(&home).join("bin")))
        .chain(["/usr/local/cuda/bin".into()])
        .map(|folder| folder.join(&file_name))
        .find(|path| path.is_file())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_search_goes_from_the_variable_to_the_toolkits() {
        let folder = tempfile::tempdir().expect("a temporary folder");
        let bin = folder.path().join("bin");
        let program = bin.join(format!("ptxas{}", env::consts::EXE_SUFFIX));
        std::fs::create_dir(&bin).and_then(|()| std::fs::write(&program, "")).expect("writable");
        for (name, value) in [
            ("PTXAS", program.as_path()),
            ("PATH", &bin),
            ("CUDA_HOME", folder.path()),
            ("CUDA_PATH", folder.path()),
        ] {
            let found = find_by("ptxas", |asked| (asked == name).then(|| value.into()));
            assert_eq!(found.expect(name), program, "{name}");
        }
        // A variable that names nothing is a mistake, even where there is another ptxas.
        let found = find_by("ptxas", |asked| match asked {
            "PTXAS" => Some("/no/such/ptxas".into()),
            _ => Some(bin.clone().into()),
        });
        assert_eq!(found, None);
    }
}
