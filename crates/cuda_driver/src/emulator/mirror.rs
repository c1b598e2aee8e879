//! Host memory that kernels can use: kept in two copies, made equal around each use by the device.
//!
//! The machine's memory belongs to the emulator alone, so pinned and managed memory exists twice. The
//! host's copy counts while no kernel runs: it is copied in before a launch and out after it, and so is
//! each part that a copy or fill touches on the device's side. Kernels and the host therefore never see
//! half of each other's writes; a kernel that waits for the host to write while it runs would wait for ever.

use super::Emulator;
use crate::error::{ApiError, Outcome};
use crate::types::HostPtr;

/// A stretch of both copies.
#[derive(Clone, Copy)]
struct Stretch {
    host: u64,
    device: u64,
    bytes: usize,
}

impl Emulator {
    fn mirrored(&self) -> Vec<Stretch> {
        self.host
            .blocks()
            .filter_map(|(host, block)| {
                Some(Stretch { host, device: block.device?, bytes: block.bytes })
            })
            .collect()
    }

    /// The parts of mirrored memory among `bytes` bytes of device memory.
    fn mirrored_within(&self, device: u64, bytes: u64) -> Vec<Stretch> {
        let end = device.saturating_add(bytes);
        self.mirrored()
            .into_iter()
            .filter_map(|stretch| {
                let from = stretch.device.max(device);
                let to = (stretch.device + stretch.bytes as u64).min(end);
                let bytes =
                    usize::try_from(to.checked_sub(from)?).ok().filter(|bytes| *bytes > 0)?;
                Some(Stretch { host: stretch.host + (from - stretch.device), device: from, bytes })
            })
            .collect()
    }

    fn copy_in(&mut self, stretches: &[Stretch]) -> Outcome {
        for stretch in stretches {
            let host = HostPtr::at(stretch.host).read("host memory", stretch.bytes)?;
            self.machine.memory_mut().write(stretch.device, host).map_err(|error| {
                ApiError::Memory { action: "copying host memory in".to_owned(), error }
            })?;
        }
        Ok(())
    }

    fn copy_out(&mut self, stretches: &[Stretch]) -> Outcome {
        for stretch in stretches {
            let host = HostPtr::at(stretch.host).write("host memory", stretch.bytes)?;
            self.machine.memory().read(stretch.device, host).map_err(|error| ApiError::Memory {
                action: "copying host memory out".to_owned(),
                error,
            })?;
        }
        Ok(())
    }

    /// Before a launch.
    pub(crate) fn mirrors_in(&mut self) -> Outcome {
        let all = self.mirrored();
        self.copy_in(&all)
    }

    /// After a launch.
    pub(crate) fn mirrors_out(&mut self) -> Outcome {
        let all = self.mirrored();
        self.copy_out(&all)
    }

    /// Reads device memory.
    pub(crate) fn device_read(&mut self, address: u64, target: &mut [u8]) -> Outcome {
        let mirrored = self.mirrored_within(address, target.len() as u64);
        self.copy_in(&mirrored)?;
        self.machine
            .memory()
            .read(address, target)
            .map_err(|error| copy_error(target.len() as u64, error))
    }

    /// Writes device memory.
    pub(crate) fn device_write(&mut self, address: u64, source: &[u8]) -> Outcome {
        let bytes = source.len() as u64;
        self.machine
            .memory_mut()
            .write(address, source)
            .map_err(|error| copy_error(bytes, error))?;
        let mirrored = self.mirrored_within(address, bytes);
        self.copy_out(&mirrored)
    }

    /// Copies within device memory.
    pub(crate) fn device_copy(&mut self, to: u64, from: u64, bytes: u64) -> Outcome {
        let mirrored = self.mirrored_within(from, bytes);
        self.copy_in(&mirrored)?;
        self.machine
            .memory_mut()
            .copy(to, from, bytes)
            .map_err(|error| copy_error(bytes, error))?;
        let mirrored = self.mirrored_within(to, bytes);
        self.copy_out(&mirrored)
    }

    /// Fills device memory with `count` times `pattern`.
    pub(crate) fn device_fill(&mut self, address: u64, pattern: &[u8], count: u64) -> Outcome {
        let bytes = count.saturating_mul(pattern.len() as u64);
        self.machine.memory_mut().fill(address, pattern, count).map_err(|error| {
            ApiError::Memory { action: format!("a fill of {bytes} bytes"), error }
        })?;
        let mirrored = self.mirrored_within(address, bytes);
        self.copy_out(&mirrored)
    }
}

fn copy_error(bytes: u64, error: ptx_emulator::MemoryError) -> ApiError {
    ApiError::Memory { action: format!("a copy of {bytes} bytes"), error }
}
