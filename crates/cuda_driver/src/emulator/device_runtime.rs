//! The device runtime library: what programs link to have barriers of a whole grid.
//!
//! NVIDIA's `libcudadevrt.a` holds machine code. Its cooperative-groups functions exist here in PTX, as device
//! code like any other: a barrier of the grid is a counter in global memory that every block's first thread adds
//! to and then watches. Launching kernels from kernels is not there, so a kernel that does it does not link.

/// The functions, as one PTX text of weak definitions.
pub(crate) const PTX: &str = include_str!("device_runtime/grid_sync.ptx");

/// What a static library begins with.
const ARCHIVE_MAGIC: &[u8] = b"!<arch>\n";
/// The object file that the device runtime's archive has, as its table of long names spells it.
const MEMBER: &[u8] = b"cuda_device_runtime.o/";
/// The names of an archive's members come first: no more than this is searched, bytes.
const SEARCHED: usize = 1 << 16;

/// Whether a file is NVIDIA's `libcudadevrt.a`.
pub(crate) fn is_device_runtime(file: &[u8]) -> bool {
    let start = &file[..file.len().min(SEARCHED)];
    start.starts_with(ARCHIVE_MAGIC) && start.windows(MEMBER.len()).any(|name| name == MEMBER)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_text_is_valid() {
        let module = ptx::parse(PTX).unwrap();
        ptx::validate(&module, PTX).unwrap();
    }

    #[test]
    fn other_archives_are_not_taken_for_it() {
        let archive = |member: &str| format!("!<arch>\n//{:46}{member}/\n", "").into_bytes();
        assert!(is_device_runtime(&archive("cuda_device_runtime.o")));
        assert!(!is_device_runtime(&archive("kernels.o")));
        assert!(!is_device_runtime(b"cuda_device_runtime.o/"));
        assert!(!is_device_runtime(b""));
    }
}
