#!/bin/sh
# Compiles functions.rs to tests/data/both_ways.ptx.gz. Needs a rustc with the sources of `core`, and `opt` and `llc` of
# the same LLVM version; the variables are those of cuda_builder.
set -eu
here=$(cd "$(dirname "$0")" && pwd)
rustc=${CUDA_BUILDER_RUSTC:-rustc}
llvm=${CUDA_BUILDER_LLVM_BIN:-/usr/lib/llvm-22/bin}
work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT
mkdir "$work/src"
cp "$here/functions.rs" "$work/src/"
cp "$here/device.rs" "$work/src/lib.rs"
cat > "$work/Cargo.toml" <<'TOML'
[package]
name = "both_ways"
version = "0.0.0"
edition = "2024"
[lib]
crate-type = ["cdylib"]
[profile.release]
panic = "abort"
lto = "fat"
codegen-units = 1
[workspace]
TOML
cd "$work"
RUSTC=$rustc RUSTC_BOOTSTRAP=1 CARGO_TARGET_DIR="$work/target" cargo rustc --release \
    --target nvptx64-nvidia-cuda -Z build-std=core --crate-type cdylib -- \
    --emit=llvm-bc -C linker=/bin/true -C target-cpu=sm_90
# Without -fp-contract=fast: a fused product and sum is rounded once, the processor's twice.
"$llvm/opt" -O3 -mcpu=sm_90 target/nvptx64-nvidia-cuda/release/deps/both_ways*.bc -o both_ways.bc
"$llvm/llc" -O3 -mcpu=sm_90 both_ways.bc -o both_ways.ptx
gzip -9nc both_ways.ptx > "$here/../data/both_ways.ptx.gz"
