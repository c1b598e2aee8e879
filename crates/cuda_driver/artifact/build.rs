//! Names the library as the NVIDIA driver's is named, so that programs that look for `libcuda.so.1` find it.

fn main() {
    println!("cargo:rerun-if-changed=build.rs");
    // Cargo builds for the target that this variable names, not for the machine that runs this script.
    if std::env::var("CARGO_CFG_TARGET_OS").as_deref() == Ok("linux") {
        println!("cargo:rustc-cdylib-link-arg=-Wl,-soname,libcuda.so.1");
    }
}
