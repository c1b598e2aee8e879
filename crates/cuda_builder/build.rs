//! Names this version of the builder by its content, for the cache: two versions may make other PTX of the same kernels.

use std::path::{Path, PathBuf};
use std::{env, fs, io};

use xxhash_rust::xxh3::Xxh3;

fn main() -> io::Result<()> {
    println!("cargo::rerun-if-changed=src");
    // Cargo sets it for every build script.
    let root = PathBuf::from(env::var_os("CARGO_MANIFEST_DIR").unwrap_or_default());
    let mut files = Vec::new();
    collect(&root.join("src"), &mut files)?;
    files.sort();
    let mut hasher = Xxh3::new();
    for file in &files {
        // Without what differs between machines: the place, and the separator of folders.
        let name = file.strip_prefix(&root).unwrap_or(file).to_string_lossy().replace('\\', "/");
        let content = fs::read(file)?;
        hasher.update(format!("{name} {}\n", content.len()).as_bytes());
        hasher.update(&content);
    }
    println!("cargo::rustc-env=CUDA_BUILDER_CONTENT={:032x}", hasher.digest128());
    Ok(())
}

fn collect(folder: &Path, files: &mut Vec<PathBuf>) -> io::Result<()> {
    for entry in fs::read_dir(folder)? {
        let path = entry?.path();
        if path.is_dir() { collect(&path, files)? } else { files.push(path) }
    }
    Ok(())
}
