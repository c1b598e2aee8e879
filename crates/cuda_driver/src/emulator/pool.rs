//! Memory pools. Memory comes from the device and goes back to it at once, so a pool only counts.

use std::ffi::{c_int, c_uint};

use super::device::check_device;
use super::{Emulator, with};
use crate::error::{ApiError, Outcome};
use crate::types::*;

/// `CUmemPool_attribute`: the first three are switches, then the release threshold and four counts of bytes.
const RELEASE_THRESHOLD: c_uint = 4;
const RESERVED_CURRENT: c_uint = 5;
const RESERVED_HIGH: c_uint = 6;
const USED_CURRENT: c_uint = 7;
const USED_HIGH: c_uint = 8;

/// A pool.
pub(crate) struct Pool {
    /// Whether memory may be reused in three ways; kept and answered.
    switches: [c_int; 3],
    release_threshold: u64,
    /// The most bytes in use at once since it was last reset.
    high: u64,
}

/// The device's pools.
#[derive(Default)]
pub(crate) struct DevicePool {
    default: Option<CUmemoryPool>,
    current: Option<CUmemoryPool>,
}

impl Emulator {
    fn new_pool(&mut self) -> CUmemoryPool {
        self.pools.insert(Pool { switches: [1; 3], release_threshold: 0, high: 0 })
    }

    fn default_pool(&mut self) -> CUmemoryPool {
        match self.device_pool.default {
            Some(pool) => pool,
            None => {
                let pool = self.new_pool();
                self.device_pool.default = Some(pool);
                pool
            }
        }
    }

    /// The pool that stream-ordered allocations come from.
    pub(crate) fn device_pool(&mut self) -> Result<CUmemoryPool, ApiError> {
        let default = self.default_pool();
        Ok(self.device_pool.current.unwrap_or(default))
    }

    fn used_of(&self, pool: CUmemoryPool) -> u64 {
        self.allocations
            .values()
            .filter(|found| found.pool == Some(pool))
            .map(|found| found.bytes)
            .sum()
    }
}

pub(crate) fn default_pool(pool: Out<CUmemoryPool>, device: CUdevice) -> Outcome {
    with(|emulator| {
        pool.check("pool")?;
        check_device(device)?;
        let found = emulator.default_pool();
        pool.set("pool", found)
    })
}

pub(crate) fn device_pool(pool: Out<CUmemoryPool>, device: CUdevice) -> Outcome {
    with(|emulator| {
        pool.check("pool")?;
        check_device(device)?;
        let found = emulator.device_pool()?;
        pool.set("pool", found)
    })
}

pub(crate) fn set_device_pool(device: CUdevice, pool: CUmemoryPool) -> Outcome {
    with(|emulator| {
        check_device(device)?;
        emulator.pools.get(pool)?;
        emulator.device_pool.current = Some(pool);
        Ok(())
    })
}

pub(crate) fn create(pool: Out<CUmemoryPool>, properties: Opaque) -> Outcome {
    with(|emulator| {
        pool.check("pool")?;
        if properties.is_null() {
            return Err(ApiError::NullPointer { name: "pool_props" });
        }
        let handle = emulator.new_pool();
        pool.set("pool", handle)
    })
}

pub(crate) fn destroy(pool: CUmemoryPool) -> Outcome {
    with(|emulator| {
        if emulator.device_pool.default == Some(pool) {
            return Err(ApiError::DefaultPool(pool.0));
        }
        emulator.pools.remove(pool)?;
        if emulator.device_pool.current == Some(pool) {
            emulator.device_pool.current = None;
        }
        Ok(())
    })
}

pub(crate) fn alloc_from(
    address: Out<CUdeviceptr>,
    bytes: usize,
    pool: CUmemoryPool,
    stream: CUstream,
) -> Outcome {
    with(|emulator| {
        let context = emulator.stream_context(stream)?;
        emulator.may_queue(context)?;
        address.check("address")?;
        emulator.pools.get(pool)?;
        let found = emulator.allocate(context, bytes as u64, Some(pool))?;
        let used = emulator.used_of(pool);
        let pool = emulator.pools.get_mut(pool)?;
        pool.high = pool.high.max(used);
        address.set("address", found)
    })
}

pub(crate) fn trim(pool: CUmemoryPool, _keep: usize) -> Outcome {
    with(|emulator| emulator.pools.get(pool).map(drop))
}

fn unknown_attribute(attribute: c_uint) -> ApiError {
    ApiError::argument("attribute", attribute, "1 to 8")
}

pub(crate) fn set_attribute(pool: CUmemoryPool, attribute: c_uint, value: HostPtr) -> Outcome {
    with(|emulator| {
        let used = emulator.used_of(pool);
        let pool = emulator.pools.get_mut(pool)?;
        match attribute {
            1..=3 => {
                pool.switches[attribute as usize - 1] = value.out::<c_int>().get("value", 0)?
            }
            RELEASE_THRESHOLD => pool.release_threshold = value.out::<u64>().get("value", 0)?,
            RESERVED_HIGH | USED_HIGH => match value.out::<u64>().get("value", 0)? {
                0 => pool.high = used,
                other => {
                    return Err(ApiError::argument("value", other, "0, which resets the mark"));
                }
            },
            RESERVED_CURRENT | USED_CURRENT => {
                return Err(ApiError::argument(
                    "attribute",
                    attribute,
                    "one that can be set: 1 to 4, 6 or 8",
                ));
            }
            _ => return Err(unknown_attribute(attribute)),
        }
        Ok(())
    })
}

pub(crate) fn get_attribute(pool: CUmemoryPool, attribute: c_uint, value: HostPtr) -> Outcome {
    with(|emulator| {
        let used = emulator.used_of(pool);
        let pool = emulator.pools.get(pool)?;
        let word = match attribute {
            1..=3 => {
                return value.out::<c_int>().set("value", pool.switches[attribute as usize - 1]);
            }
            RELEASE_THRESHOLD => pool.release_threshold,
            RESERVED_CURRENT | USED_CURRENT => used,
            RESERVED_HIGH | USED_HIGH => pool.high.max(used),
            _ => return Err(unknown_attribute(attribute)),
        };
        value.out::<u64>().set("value", word)
    })
}
