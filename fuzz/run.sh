#!/bin/sh
# Fuzzes one target with libFuzzer on the stable toolchain:  fuzz/run.sh parse|run|driver MINUTES
#
# cargo-fuzz asks for a nightly toolchain because of -Zsanitizer=address. The code under test is almost free of
# `unsafe`, so coverage alone, which stable rustc can ask LLVM for, finds what there is to find: panics, hangs,
# memory without bound.
set -eu
cd "$(dirname "$0")"
export CARGO_TARGET_DIR="${CARGO_TARGET_DIR:-../target/fuzz}"
target=${1:?parse, run or driver}
minutes=${2:-10}

coverage="-Cpasses=sancov-module -Cllvm-args=-sanitizer-coverage-level=4 \
-Cllvm-args=-sanitizer-coverage-inline-8bit-counters -Cllvm-args=-sanitizer-coverage-pc-table \
-Cllvm-args=-sanitizer-coverage-trace-compares"
host=$(rustc -vV | sed -n 's/^host: //p')
RUSTFLAGS="--cfg fuzzing -Clink-dead-code -Ccodegen-units=1 $coverage" \
    cargo build --release --target "$host" --bin "$target"

corpus=corpus/$target
mkdir -p "$corpus" artifacts
# The texts that the tests are about are the first inputs; what libFuzzer finds joins them.
if [ "$target" != driver ]; then
    for file in ../crates/ptx/tests/fixtures/*.ptx ../crates/*/tests/data/fuzz/*.ptx; do
        [ -f "$file" ] && cp "$file" "$corpus/seed-$(basename "$file")"
    done
fi
dictionary=
[ "$target" = driver ] || dictionary=-dict=ptx.dict
# shellcheck disable=SC2086 # an absent dictionary is no argument
exec "$CARGO_TARGET_DIR/$host/release/$target" "$corpus" \
    -artifact_prefix=artifacts/"$target"- -max_total_time=$((minutes * 60)) \
    -timeout=10 -rss_limit_mb=2048 -malloc_limit_mb=1024 -max_len=8192 -use_value_profile=1 $dictionary
