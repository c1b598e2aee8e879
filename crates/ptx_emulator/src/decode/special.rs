//! Special registers (PTX ISA, section "Special Registers").

use crate::op::Clock;
use crate::program::{Special, Value};
use crate::row::Class;

/// Registers that change while a kernel runs.
pub(super) fn clock(name: &str) -> Option<Clock> {
    Some(match name {
        "%clock" => Clock::Low32,
        "%clock_hi" => Clock::High32,
        "%clock64" => Clock::Full64,
        "%globaltimer" => Clock::Nanoseconds64,
        "%globaltimer_lo" => Clock::NanosecondsLow32,
        "%globaltimer_hi" => Clock::NanosecondsHigh32,
        _ => return None,
    })
}

/// Class and width in bits of a clock.
pub(super) fn clock_register(clock: Clock) -> (Class, u32) {
    match clock {
        Clock::Full64 | Clock::Nanoseconds64 => (Class::D, 64),
        _ => (Class::R, 32),
    }
}

/// The one that is a predicate.
pub(super) fn predicate(name: &str) -> Option<Value> {
    (name == "%is_explicit_cluster").then_some(Value::Special(Special::IsExplicitCluster))
}

/// Registers with one value for the life of a thread.
pub(super) fn constant(name: &str) -> Option<Value> {
    let axis = |suffix: &str| match suffix {
        "x" => Some(0),
        "y" => Some(1),
        "z" => Some(2),
        _ => None,
    };
    if let Some((register, suffix)) = name.split_once('.') {
        // The fourth component of the index vectors is 0, or 1 for extents.
        if suffix == "w" {
            return match register {
                "%tid" | "%ctaid" => Some(Value::Bits(0)),
                "%ntid" | "%nctaid" => Some(Value::Bits(1)),
                _ => None,
            };
        }
        let axis = axis(suffix)?;
        return Some(match register {
            "%tid" => Value::Special(Special::ThreadId(axis)),
            "%ntid" => Value::Special(Special::BlockDim(axis)),
            "%ctaid" => Value::Special(Special::BlockId(axis)),
            "%nctaid" => Value::Special(Special::GridDim(axis)),
            "%clusterid" => Value::Special(Special::ClusterId(axis)),
            "%nclusterid" => Value::Special(Special::ClusterCount(axis)),
            "%cluster_ctaid" => Value::Special(Special::ClusterBlockId(axis)),
            "%cluster_nctaid" => Value::Special(Special::ClusterDim(axis)),
            _ => return None,
        });
    }
    Some(match name {
        "WARP_SZ" => Value::Bits(32),
        "%laneid" => Value::Special(Special::LaneId),
        "%warpid" => Value::Special(Special::WarpId),
        "%nwarpid" => Value::Special(Special::WarpCount),
        "%smid" => Value::Special(Special::MultiprocessorId),
        "%nsmid" => Value::Special(Special::MultiprocessorCount),
        "%gridid" => Value::Special(Special::GridId),
        "%lanemask_eq" => Value::Special(Special::LaneMaskEqual),
        "%lanemask_lt" => Value::Special(Special::LaneMaskLess),
        "%lanemask_le" => Value::Special(Special::LaneMaskLessEqual),
        "%lanemask_gt" => Value::Special(Special::LaneMaskGreater),
        "%lanemask_ge" => Value::Special(Special::LaneMaskGreaterEqual),
        "%dynamic_smem_size" => Value::Special(Special::DynamicShared),
        "%total_smem_size" => Value::Special(Special::TotalShared),
        "%aggr_smem_size" => Value::Special(Special::TotalShared),
        "%cluster_ctarank" => Value::Special(Special::ClusterRank),
        "%cluster_nctarank" => Value::Special(Special::ClusterBlocks),
        // The driver's own use of them, which NVIDIA's cooperative groups and others' (CUDA.jl's) build on.
        "%envreg1" => Value::Special(Special::GridWorkspaceHigh),
        "%envreg2" => Value::Special(Special::GridWorkspaceLow),
        _ if name
            .strip_prefix("%envreg")
            .is_some_and(|n| n.parse::<u8>().is_ok_and(|n| n < 32)) =>
        {
            Value::Bits(0)
        }
        _ if name.strip_prefix("%pm").is_some_and(|n| {
            n.strip_suffix("_64").unwrap_or(n).parse::<u8>().is_ok_and(|n| n < 8)
        }) =>
        {
            Value::Bits(0)
        }
        _ => return None,
    })
}
