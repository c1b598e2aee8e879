//! Functions that the machine provides: `vprintf`, `__assertfail`, `malloc`, `free` (CUDA C++ Programming Guide, "Formatted Output",
//! "Assertion", "Dynamic Global Memory Allocation").

use super::block::BlockState;
use super::launch::Engine;
use super::local;
use super::printf;
use super::report::Reason;
use super::warp::Warp;
use crate::fault::{Fault, FaultKind};
use crate::memory::window::{self, Window};
use crate::memory::{Owner, Storage};
use crate::op::{CallOp, FrameSlot, Intrinsic};
use crate::row::lanes;

/// Longest string that is read from device memory, bytes.
const MAX_STRING: usize = 1 << 16;

/// What an allocation takes of the heap beside its own bytes. The emulator itself keeps more about each; without this, many small
/// ones would take much more of the host's memory than the heap has.
const HEAP_HEADER_BYTES: u64 = 64;

/// What an allocation takes of the heap.
fn heap_cost(bytes: u64) -> u64 {
    bytes.saturating_add(HEAP_HEADER_BYTES)
}

impl Engine<'_> {
    #[expect(clippy::too_many_arguments, reason = "a position in the machine has many parts")]
    pub(super) fn intrinsic(
        &mut self,
        block: &mut BlockState,
        warp: &mut Warp,
        frame: u32,
        pc: u32,
        op: &CallOp,
        intrinsic: Intrinsic,
        mask: u32,
    ) -> Result<(), Box<Fault>> {
        let base = warp.frames[frame as usize].base_local;
        let argument = |warp: &Warp, index: usize, lane: usize| {
            op.arguments.get(index).map_or(0, |slot| {
                let bytes = if slot.bytes >= 8 { 8 } else { slot.bytes.max(1) };
                let address = u64::from(base) * 4 + u64::from(slot.offset);
                local::read_local(&warp.local, lane, address, bytes)
            })
        };
        for lane in lanes(mask) {
            let one = 1u32 << lane;
            let result = match intrinsic {
                Intrinsic::Printf => {
                    let (format, arguments) = (argument(warp, 0, lane), argument(warp, 1, lane));
                    let text = self.string(block, warp, frame, lane, format).and_then(|format| {
                        printf::format(
                            &format,
                            &mut |offset, bytes| {
                                let address = arguments.wrapping_add(offset);
                                self.generic(block, warp, frame, lane, address, bytes)
                            },
                            &mut |address| self.string(block, warp, frame, lane, address),
                        )
                    });
                    match text {
                        Ok((text, conversions)) => {
                            self.output.print(&text);
                            conversions as u64
                        }
                        Err(address) => {
                            return Err(self.bad_pointer(block, warp, frame, pc, one, address));
                        }
                    }
                }
                Intrinsic::AssertFail => {
                    let read = |index: usize| {
                        let address = argument(warp, index, lane);
                        let text = self.string(block, warp, frame, lane, address);
                        text.map(|bytes| String::from_utf8_lossy(&bytes).into_owned())
                    };
                    let texts = (read(0), read(1), read(3));
                    let (Ok(message), Ok(file), Ok(function)) = texts else {
                        let address = argument(warp, 0, lane);
                        return Err(self.bad_pointer(block, warp, frame, pc, one, address));
                    };
                    let line = argument(warp, 2, lane) as u32;
                    let kind = FaultKind::Assert { message, file, line, function };
                    let lanes = mask | self.panicked(warp, frame);
                    return Err(self.fault(block, warp, frame, pc, lanes, kind));
                }
                Intrinsic::Malloc => {
                    let address = self.malloc(argument(warp, 0, lane));
                    if address != 0
                        && let Some(who) = self.heap_user(block, warp, pc, lane)
                        && let Some(memory) = self.memory.own()
                    {
                        memory.note_allocation(address, who);
                    }
                    address
                }
                Intrinsic::Free => {
                    let address = argument(warp, 0, lane);
                    if address != 0 {
                        let history = self.memory.nearest(address).map(|near| near.history);
                        if let Err(error) = self.free(address) {
                            let kind = FaultKind::IllegalAddress;
                            let mut fault = self.fault(block, warp, frame, pc, one, kind);
                            fault = fault.with_note(format!("free: {error}"));
                            let history = history.unwrap_or_default();
                            for (what, who) in
                                [("allocated", history.allocated), ("freed", history.freed)]
                            {
                                if let Some(who) = who {
                                    fault = fault.with_note(format!("{what} {who}"));
                                }
                            }
                            return Err(fault
                                .with_help("free takes what the kernel's malloc returned, once"));
                        }
                        if let Some(who) = self.heap_user(block, warp, pc, lane)
                            && let Some(memory) = self.memory.own()
                        {
                            memory.note_free(address, who);
                        }
                    }
                    0
                }
            };
            if let Some(FrameSlot { offset, bytes }) = op.returns.first().copied() {
                let address = u64::from(base) * 4 + u64::from(offset);
                let bytes = if bytes >= 8 { 8 } else { 4 };
                local::write_local(&mut warp.local, lane, address, bytes, result);
            }
        }
        Ok(())
    }

    fn malloc(&mut self, bytes: u64) -> u64 {
        let room = self.config.heap_bytes.saturating_sub(*self.heap_used);
        let cost = heap_cost(bytes);
        if bytes == 0 || cost > room {
            return 0;
        }
        let inserted = self
            .memory
            .own()
            .and_then(|memory| memory.insert(bytes, "malloc in a kernel", Owner::DeviceHeap).ok());
        if inserted.is_some() {
            *self.heap_used += cost;
        }
        inserted.unwrap_or(0)
    }

    fn free(&mut self, address: u64) -> Result<(), crate::MemoryError> {
        let bytes = self.memory.allocation(address).map_or(0, |(_, bytes)| bytes);
        if let Some(memory) = self.memory.own() {
            memory.release(address, Owner::DeviceHeap)?;
        }
        *self.heap_used = self.heap_used.saturating_sub(heap_cost(bytes));
        Ok(())
    }

    /// Up to 8 bytes at a generic address as a lane sees it; the address if it cannot be read.
    fn generic(
        &self,
        block: &BlockState,
        warp: &Warp,
        frame: u32,
        lane: usize,
        address: u64,
        bytes: u32,
    ) -> Result<u64, u64> {
        let inside = |data: &Storage, offset: u64| {
            let end = offset.checked_add(u64::from(bytes)).ok_or(address)?;
            if end > data.len() as u64 {
                return Err(address);
            }
            Ok(data.read(offset as usize, bytes))
        };
        match window::of(address) {
            Window::Shared => {
                let offset = address - window::SHARED_BASE;
                inside(&block.shared, offset.checked_sub(block.rank.shared_base).ok_or(address)?)
            }
            Window::Local => {
                let at = address - window::LOCAL_BASE;
                let top = warp.frames.get(frame as usize).map_or(0, |frame| frame.top_local);
                let whole = at.is_multiple_of(u64::from(bytes.max(1)));
                let end = at.saturating_add(u64::from(bytes));
                if at < window::LOCAL_RESERVED || end > u64::from(top) * 4 || !whole {
                    return Err(address);
                }
                Ok(local::read_local(&warp.local, lane, at, bytes))
            }
            Window::Param => inside(self.params, address - window::PARAM_BASE),
            Window::Function => Err(address),
            Window::Global => {
                let slot = self.memory.find(address, u64::from(bytes)).ok_or(address)?;
                let found = self.memory.slot(slot).ok_or(address)?;
                inside(&found.data, address - found.base)
            }
        }
    }

    /// A string that ends with a zero byte.
    fn string(
        &self,
        block: &BlockState,
        warp: &Warp,
        frame: u32,
        lane: usize,
        address: u64,
    ) -> Result<Vec<u8>, u64> {
        let mut text = Vec::new();
        while text.len() < MAX_STRING {
            let at = address.wrapping_add(text.len() as u64);
            match self.generic(block, warp, frame, lane, at, 1)? {
                0 => break,
                byte => text.push(byte as u8),
            }
        }
        Ok(text)
    }

    fn bad_pointer(
        &self,
        block: &BlockState,
        warp: &Warp,
        frame: u32,
        pc: u32,
        lanes: u32,
        address: u64,
    ) -> Box<Fault> {
        let space = match window::of(address) {
            Window::Shared => "shared",
            Window::Local => "local",
            Window::Param => "param",
            _ => "global",
        };
        let kind = FaultKind::IllegalAddress;
        let reason = Reason::OutOfBounds;
        let bad = super::report::BadAccess { kind, lanes, address, space, bytes: 1, reason };
        self.access_fault(block, warp, frame, pc, bad)
    }
}
