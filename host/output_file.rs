//! Result files that are either complete or not there.
//!
//! A result goes to a temporary file beside its target and takes the target's name at the end, so that a
//! failed or interrupted run leaves the old file as it was. Making that temporary file first also finds out
//! before a long computation whether the folder can be written.

use std::fs::{File, OpenOptions};
use std::io::{self, BufWriter, Write};
use std::path::{Path, PathBuf};

use tempfile::NamedTempFile;

use crate::error::Error;

/// A file to be written at the end of a computation.
#[derive(Debug)]
pub struct PendingFile {
    path: PathBuf,
    place: Place,
}

#[derive(Debug)]
enum Place {
    /// A regular file: written beside its target, then renamed.
    Beside { temporary: NamedTempFile, target: PathBuf },
    /// A device or pipe, such as `/dev/null`: replacing it by a file would be wrong, so it is written in place.
    InPlace(File),
}

impl PendingFile {
    /// Makes sure that `path` can be written.
    ///
    /// # Errors
    ///
    /// [`Error::Write`] when the folder is missing or not writable, or `path` is a folder or read-only.
    pub fn create(path: &Path) -> Result<Self, Error> {
        Self::create_inner(path)
            .map(|place| Self { path: path.to_owned(), place })
            .map_err(|error| write_error(path, &error))
    }

    fn create_inner(path: &Path) -> io::Result<Place> {
        // A symbolic link stays a link; what it points to is replaced.
        let target = match path.canonicalize() {
            Ok(existing) => {
                let metadata = existing.metadata()?;
                if metadata.is_dir() {
                    return Err(io::Error::new(io::ErrorKind::IsADirectory, "it is a directory"));
                }
                if !metadata.is_file() {
                    return OpenOptions::new().write(true).open(&existing).map(Place::InPlace);
                }
                if metadata.permissions().readonly() {
                    return Err(io::Error::new(io::ErrorKind::PermissionDenied, "it is read-only"));
                }
                existing
            }
            Err(error) if error.kind() == io::ErrorKind::NotFound => path.to_owned(),
            Err(error) => return Err(error),
        };
        if target.file_name().is_none() {
            return Err(io::Error::new(io::ErrorKind::InvalidInput, "it names no file"));
        }
        let folder = match target.parent() {
            Some(parent) if !parent.as_os_str().is_empty() => parent,
            _ => Path::new("."),
        };
        if !folder.exists() {
            let message = format!("the folder {} does not exist", folder.display());
            return Err(io::Error::new(io::ErrorKind::NotFound, message));
        }
        let mut builder = tempfile::Builder::new();
        builder.prefix(".ferrowarp-").suffix(".tmp");
        // The default would be a file that only its owner can read; the process's umask applies as for any file.
        #[cfg(unix)]
        builder.permissions(std::os::unix::fs::PermissionsExt::from_mode(0o666));
        let temporary = builder.tempfile_in(folder).map_err(|error| {
            // tempfile adds the temporary name to the message, which says nothing to the user.
            io::Error::new(
                error.kind(),
                format!("the folder {} is not writable: {}", folder.display(), error.kind()),
            )
        })?;
        Ok(Place::Beside { temporary, target })
    }

    /// Writes the file through `write` and gives it its name.
    ///
    /// # Errors
    ///
    /// [`Error::Write`] when writing or renaming fails; the target is then as it was.
    pub fn finish(
        self,
        write: impl FnOnce(&mut dyn Write) -> io::Result<()>,
    ) -> Result<PathBuf, Error> {
        let Self { path, place } = self;
        let result = match place {
            Place::Beside { mut temporary, target } => buffered(temporary.as_file_mut(), write)
                .and_then(|()| temporary.persist(target).map(drop).map_err(|error| error.error)),
            Place::InPlace(mut file) => buffered(&mut file, write),
        };
        result.map_err(|error| write_error(&path, &error))?;
        Ok(path)
    }
}

fn buffered(
    file: &mut File,
    write: impl FnOnce(&mut dyn Write) -> io::Result<()>,
) -> io::Result<()> {
    let mut writer = BufWriter::new(file);
    write(&mut writer)?;
    writer.flush()
}

fn write_error(path: &Path, error: &io::Error) -> Error {
    Error::Write { path: path.to_owned(), reason: error.to_string() }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_finished_file_has_its_content_and_leaves_nothing_beside_it() {
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path().join("out.npy");
        std::fs::write(&path, "old").unwrap();
        let pending = PendingFile::create(&path).unwrap();
        assert_eq!(std::fs::read(&path).unwrap(), b"old");
        pending.finish(|writer| writer.write_all(b"new")).unwrap();
        assert_eq!(std::fs::read(&path).unwrap(), b"new");
        assert_eq!(std::fs::read_dir(folder.path()).unwrap().count(), 1);
    }

    #[test]
    fn a_failed_write_leaves_the_old_file() {
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path().join("out.npy");
        std::fs::write(&path, "old").unwrap();
        let error = PendingFile::create(&path)
            .unwrap()
            .finish(|writer| {
                writer.write_all(b"half")?;
                Err(io::Error::other("the disk is full"))
            })
            .unwrap_err();
        assert!(error.to_string().ends_with("out.npy: the disk is full"), "{error}");
        assert_eq!(std::fs::read(&path).unwrap(), b"old");
        assert_eq!(std::fs::read_dir(folder.path()).unwrap().count(), 1);
    }

    #[test]
    fn a_dropped_file_leaves_nothing() {
        let folder = tempfile::tempdir().unwrap();
        drop(PendingFile::create(&folder.path().join("out.npy")).unwrap());
        assert_eq!(std::fs::read_dir(folder.path()).unwrap().count(), 0);
    }

    #[test]
    fn targets_that_cannot_be_files_are_refused_first() {
        let folder = tempfile::tempdir().unwrap();
        let missing = PendingFile::create(&folder.path().join("no/such/out.npy")).unwrap_err();
        assert!(missing.to_string().contains("does not exist"), "{missing}");
        let directory = PendingFile::create(folder.path()).unwrap_err();
        assert!(directory.to_string().ends_with("it is a directory"), "{directory}");
    }

    #[cfg(unix)]
    #[test]
    fn devices_are_written_and_links_are_followed() {
        use std::os::unix::fs::FileTypeExt;
        PendingFile::create(Path::new("/dev/null")).unwrap().finish(|w| w.write_all(b"x")).unwrap();
        assert!(std::fs::metadata("/dev/null").unwrap().file_type().is_char_device());

        let folder = tempfile::tempdir().unwrap();
        let (real, link) = (folder.path().join("real"), folder.path().join("link"));
        std::fs::write(&real, "old").unwrap();
        std::os::unix::fs::symlink(&real, &link).unwrap();
        PendingFile::create(&link).unwrap().finish(|w| w.write_all(b"new")).unwrap();
        assert!(std::fs::symlink_metadata(&link).unwrap().is_symlink());
        assert_eq!(std::fs::read(&real).unwrap(), b"new");
    }
}
