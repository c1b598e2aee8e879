//! Files that are complete or not there, and folders that one build uses at a time.

use std::fs::{self, File};
use std::io::{self, Write};
use std::path::Path;
use std::sync::atomic::{AtomicU32, Ordering};

use crate::error::CudaBuilderError;

/// Puts `content` at `path`, at once: a reader sees the former file or the whole new one, and a failure leaves the former. A
/// file that has this content already is left alone, so that nothing that depends on it is rebuilt.
///
/// # Errors
///
/// If the folder or the file can't be written.
pub(crate) fn write(path: &Path, content: &[u8]) -> io::Result<()> {
    if fs::read(path).is_ok_and(|former| former == content) {
        return Ok(());
    }
    let folder =
        path.parent().filter(|folder| !folder.as_os_str().is_empty()).unwrap_or(Path::new("."));
    fs::create_dir_all(folder)?;
    let name = path
        .file_name()
        .ok_or_else(|| io::Error::new(io::ErrorKind::InvalidInput, "the path names no file"))?;
    // In the same folder, because a file can't be renamed across file systems; with our process number and a serial number,
    // because another process or thread may be writing the same file.
    static SERIAL: AtomicU32 = AtomicU32::new(0);
    let (process, serial) = (std::process::id(), SERIAL.fetch_add(1, Ordering::Relaxed));
    let temporary = folder.join(format!(".{}.{process}-{serial}.tmp", name.to_string_lossy()));
    let written = File::create(&temporary)
        .and_then(|mut file| file.write_all(content))
        .and_then(|()| fs::rename(&temporary, path));
    if written.is_err() {
        // Nothing to do if this fails too: the error that matters is the first.
        let _ = fs::remove_file(&temporary);
    }
    written
}

/// Holds a folder for one build until dropped; another build of the same folder, in any process, waits.
pub(crate) struct Lock {
    _file: File,
}

impl Lock {
    /// Creates the folder if needed and locks it.
    ///
    /// # Errors
    ///
    /// If it can't be created or locked.
    pub(crate) fn folder(folder: &Path) -> Result<Self, CudaBuilderError> {
        fs::create_dir_all(folder).map_err(CudaBuilderError::io("create", folder))?;
        let path = folder.join("lock");
        let file = File::options().create(true).truncate(false).write(true).open(&path);
        let file = file.map_err(CudaBuilderError::io("create", &path))?;
        file.lock().map_err(CudaBuilderError::io("lock", &path))?;
        Ok(Self { _file: file })
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn writes_whole_files_and_leaves_no_others() {
        let folder = tempfile::tempdir().expect("a temporary folder");
        let path = folder.path().join("new").join("a.ptx");
        write(&path, b"one").expect("the folder is created");
        write(&path, b"two").expect("the file is replaced");
        assert_eq!(fs::read(&path).expect("it is there"), b"two");
        assert_eq!(fs::read_dir(folder.path().join("new")).expect("it is there").count(), 1);
    }

    #[test]
    fn an_unchanged_file_keeps_its_time() {
        let folder = tempfile::tempdir().expect("a temporary folder");
        let path = folder.path().join("a.ptx");
        write(&path, b"same").expect("writable");
        let past = std::time::SystemTime::UNIX_EPOCH + std::time::Duration::from_secs(1000);
        File::options()
            .write(true)
            .open(&path)
            .and_then(|file| file.set_modified(past))
            .expect("settable");
        write(&path, b"same").expect("writable");
        assert_eq!(fs::metadata(&path).and_then(|meta| meta.modified()).expect("readable"), past);
    }

    #[test]
    fn a_folder_in_the_way_is_an_error_that_leaves_nothing() {
        let folder = tempfile::tempdir().expect("a temporary folder");
        let path = folder.path().join("a.ptx");
        fs::create_dir(&path).expect("creatable");
        assert!(write(&path, b"x").is_err());
        assert_eq!(fs::read_dir(folder.path()).expect("readable").count(), 1);
    }
}
