//! The shared library as other programs see it: its name, its symbols, and that it is not taken for NVIDIA's.
#![cfg(target_os = "linux")]

use std::ffi::{CString, c_char, c_int, c_uint, c_void};
use std::path::{Path, PathBuf};
use std::process::Command;
use std::sync::OnceLock;

use libloading::Library;

/// The library, built first: cargo builds a library for a test only if the test can link it.
fn library_path() -> &'static Path {
    static PATH: OnceLock<PathBuf> = OnceLock::new();
    PATH.get_or_init(|| {
        // <target>/<profile>/deps/<test>
        let test = std::env::current_exe().unwrap();
        let target = test.ancestors().nth(3).unwrap();
        let built = Command::new(env!("CARGO"))
            .args(["build", "--offline", "--package", "cuda_driver_artifact", "--target-dir"])
            .arg(target)
            .current_dir(env!("CARGO_MANIFEST_DIR"))
            .output()
            .unwrap();
        assert!(built.status.success(), "{}", String::from_utf8_lossy(&built.stderr));
        target.join("debug").join("libcuda.so")
    })
}

fn open() -> Library {
    // SAFETY: loading runs our own initialiser, which only sets a hook.
    unsafe { Library::new(library_path()) }.unwrap()
}

#[test]
fn every_entry_point_is_exported() {
    let library = open();
    for entry in cuda_driver::support_table() {
        // SAFETY: the symbol is only looked for.
        let found = unsafe { library.get::<unsafe extern "C" fn()>(entry.symbol) };
        assert!(found.is_ok(), "{} is not exported", entry.symbol);
    }
}

#[test]
fn it_carries_the_drivers_name_and_our_mark() {
    let bytes = std::fs::read(library_path()).unwrap();
    let contains = |text: &[u8]| bytes.windows(text.len()).any(|window| window == text);
    assert!(contains(b"\0libcuda.so.1\0"), "the SONAME is missing");
    let library = open();
    // SAFETY: the symbol is a byte.
    let mark = unsafe { library.get::<*const u8>("ferrowarp_cuda_driver_marker") };
    assert!(mark.is_ok());
}

#[test]
fn it_serves_calls_and_is_not_forwarded_to() {
    // A folder that holds the library under the driver's name, as a user would make it.
    let folder = tempfile::tempdir().unwrap();
    let copy = folder.path().join("libcuda.so.1");
    std::fs::copy(library_path(), &copy).unwrap();
    let output = Command::new(std::env::current_exe().unwrap())
        .args(["--exact", "child", "--nocapture"])
        .env("ARTIFACT_TEST_LIBRARY", &copy)
        .env("LD_LIBRARY_PATH", folder.path())
        .env("CUDA_DRIVER_BACKEND", "auto")
        .output()
        .unwrap();
    let text = String::from_utf8(output.stdout).unwrap();
    assert!(output.status.success(), "{text}\n{}", String::from_utf8_lossy(&output.stderr));
    assert!(text.contains("init 0, 1 devices or more: true\n"), "{text}");
}

/// Thread t writes word t of shared memory and reads the word of a thread of the other warp.
const RACY: &str = ".version 8.6
.target sm_90
.address_size 64
.visible .entry racy() {
    .shared .align 4 .b8 tile[256]; .reg .b32 %r<5>;
    mov.u32 %r1, %tid.x; mov.u32 %r2, tile; shl.b32 %r3, %r1, 2; xor.b32 %r4, %r3, 128;
    add.u32 %r3, %r2, %r3; add.u32 %r4, %r2, %r4;
    st.shared.b32 [%r3], %r1; ld.shared.b32 %r4, [%r4]; ret;
}";

#[test]
fn the_environment_asks_for_checks() {
    let with = |checks: Option<&str>| {
        let mut command = Command::new(std::env::current_exe().unwrap());
        command.args(["--exact", "racing_child", "--nocapture"]);
        command.env("ARTIFACT_TEST_RACE", library_path()).env("CUDA_DRIVER_BACKEND", "emulator");
        match checks {
            Some(checks) => command.env("FERROWARP_CHECK", checks),
            None => command.env_remove("FERROWARP_CHECK"),
        };
        let output = command.output().unwrap();
        (output.status.success(), String::from_utf8_lossy(&output.stderr).into_owned())
    };
    let (fine, said) = with(Some("racecheck"));
    assert!(fine, "findings do not change how a program ends: {said}");
    assert!(said.contains("racecheck") && said.contains("racy"), "{said}");
    for quiet in [None, Some("none"), Some("synccheck")] {
        let (fine, said) = with(quiet);
        assert!(fine && !said.contains("racy"), "{quiet:?}: {said}");
    }
    let (fine, said) = with(Some("racechek"));
    assert!(!fine && said.contains("racechek"), "{said}");
}

/// Not a test by itself: what the test above runs in a process of its own.
#[test]
fn racing_child() {
    let Some(path) = std::env::var_os("ARTIFACT_TEST_RACE") else { return };
    let image = CString::new(RACY).unwrap();
    let (mut context, mut module, mut function) = (0_usize, 0_usize, 0_usize);
    // SAFETY: the signatures are those of cuda.h, the pointers are to live variables.
    unsafe {
        let library = Library::new(path).unwrap();
        macro_rules! call {
            ($name:literal, $($argument:expr => $type:ty),*) => {
                let function = library.get::<unsafe extern "C" fn($($type),*) -> u32>($name);
                assert_eq!(function.unwrap()($($argument),*), 0, $name);
            };
        }
        call!("cuInit", 0 => c_uint);
        call!("cuCtxCreate_v2", &mut context => *mut usize, 0 => c_uint, 0 => c_int);
        let image = image.as_ptr().cast();
        call!("cuModuleLoadData", &mut module => *mut usize, image => *const c_void);
        let name = c"racy".as_ptr();
        call!(
            "cuModuleGetFunction",
            &mut function => *mut usize, module => usize, name => *const c_char
        );
        call!(
            "cuLaunchKernel",
            function => usize,
            1 => c_uint, 1 => c_uint, 1 => c_uint, 64 => c_uint, 1 => c_uint, 1 => c_uint,
            0 => c_uint, 0 => usize, 0 => usize, 0 => usize
        );
        call!("cuCtxSynchronize",);
    }
}

/// Not a test by itself: what a test above runs in a process of its own.
#[test]
fn child() {
    let Some(path) = std::env::var_os("ARTIFACT_TEST_LIBRARY") else { return };
    let mut count: c_int = 0;
    // SAFETY: the signatures are those of cuda.h, the pointer is to a live variable.
    unsafe {
        let library = Library::new(path).unwrap();
        let init = library.get::<unsafe extern "C" fn(c_uint) -> u32>("cuInit").unwrap();
        let devices =
            library.get::<unsafe extern "C" fn(*mut c_int) -> u32>("cuDeviceGetCount").unwrap();
        let result = init(0);
        assert_eq!(devices(&mut count), 0);
        println!("init {result}, 1 devices or more: {}", count >= 1);
        // The NVIDIA driver may be behind it, which must not be unloaded.
        std::mem::forget(library);
    }
}
