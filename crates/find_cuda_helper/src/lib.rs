//! Takes the place of crates.io's `find_cuda_helper` in the build scripts of `cust` and `cust_raw`, through
//! `[patch.crates-io]` in the workspace's `Cargo.toml`.
//!
//! The original looks for an installed CUDA toolkit, fails the build without one, and links `libcuda`. Here
//! `cuda_driver` defines the driver's symbols itself, so there is nothing to look for and nothing to link:
//! a program builds on a machine without CUDA and finds the NVIDIA driver, if there is one, when it starts.

/// What `cust` and `cust_raw` call from their build scripts: looks for nothing and links nothing.
///
/// It tells cargo one thing, which it needs so that the build script does not run again for every change
/// in the package.
pub fn include_cuda() {
    println!("cargo:rerun-if-changed=build.rs");
}
