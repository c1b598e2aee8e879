//! Barriers in shared memory that threads and copies arrive at.

use core::cell::UnsafeCell;
use core::mem::MaybeUninit;

use crate::__private::Uninit;
use crate::gpu_only;
#[cfg(target_arch = "nvptx64")]
use crate::ptr::shared_address;

/// A barrier in shared memory: CUDA's `cuda::barrier<thread_scope_block>`, PTX's `mbarrier`.
///
/// It goes through phases. One ends when as many arrivals as [`init`](Self::init) said have been made, and all bytes that were
/// [expected](Self::expect_tx) have come; the next one begins at once, with the same number. Unlike
/// [`sync_threads`](crate::thread::sync_threads) it separates arriving from waiting, and not all threads of the block need
/// take part. What a thread wrote to memory before it arrived is visible to those that waited for that phase.
///
/// ```
/// use cuda_std::async_copy::Barrier;
/// use cuda_std::prelude::*;
///
/// #[address_space(shared)]
/// static mut READY: Barrier = Barrier::uninit();
///
/// /// # Safety
/// /// `out` has an element for each thread of the block.
/// #[kernel]
/// pub unsafe fn turn_around(out: *mut u32) {
///     let tile = shared_array![u32; 1024];
///     let ready = unsafe { &*(&raw const READY) };
///     let (i, n) = (thread::thread_idx_x() as usize, thread::block_dim_x());
///     unsafe {
///         if i == 0 {
///             ready.init(n);
///         }
///         thread::sync_threads();
///         *tile.add(i) = i as u32;
///         let token = ready.arrive();
///         // Time for something else.
///         ready.wait(token);
///         *out.add(i) = *tile.add(n as usize - 1 - i);
///     }
/// }
/// ```
///
/// # Safety of its operations
///
/// The barrier lies in shared memory and has been initialised by one thread, with a [`sync_threads`](crate::thread::sync_threads)
/// between that and the others' first operation; and no phase has more arrivals than it is to have.
#[repr(transparent)]
pub struct Barrier(UnsafeCell<MaybeUninit<u64>>);

impl Uninit for Barrier {}

/// The phase in which a thread arrived at a [`Barrier`].
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[must_use = "a token is what `wait` waits with"]
pub struct BarrierToken(u64);

#[cfg(target_arch = "nvptx64")]
macro_rules! mbarrier {
    ($instruction:expr, $barrier:expr $(, $($rest:tt)*)?) => {
        core::arch::asm!(
            $instruction,
            barrier = in(reg32) $barrier.address(),
            $($($rest)*,)?
            options(nostack, preserves_flags)
        )
    };
}

/// Asks with an instruction that gives a predicate.
#[cfg(target_arch = "nvptx64")]
macro_rules! asks {
    ($instruction:literal, $barrier:expr, $($phase:tt)*) => {{
        let done: u32;
        // SAFETY: the caller's promise.
        unsafe {
            mbarrier!(
                concat!(
                    "{{ .reg .pred %done; ", $instruction, " %done, [{barrier}], {phase}; ",
                    "selp.u32 {done}, 1, 0, %done; }}"
                ),
                $barrier, phase = $($phase)*, done = out(reg32) done
            );
        }
        done != 0
    }};
}

impl Barrier {
    /// The initial value of a `static` in shared memory: no barrier yet.
    #[must_use]
    pub const fn uninit() -> Self {
        Self(UnsafeCell::new(MaybeUninit::uninit()))
    }

    #[cfg(target_arch = "nvptx64")]
    #[inline(always)]
    pub(super) fn address(&self) -> u32 {
        // SAFETY: a barrier lies in shared memory, which every operation asks for.
        unsafe { shared_address(self.0.get()) }
    }

    /// Makes the memory a barrier with `count` arrivals a phase, from 1 to 2^20 - 1.
    ///
    /// PTX: `mbarrier.init`, PTX ISA 7.0, sm_80.
    ///
    /// # Safety
    ///
    /// The barrier lies in shared memory. One thread makes the call, and others use the barrier only after a
    /// [`sync_threads`](crate::thread::sync_threads). It is not in use already.
    #[inline(always)]
    #[gpu_only]
    pub unsafe fn init(&self, count: u32) {
        // SAFETY: the caller's promise.
        unsafe {
            mbarrier!("mbarrier.init.shared.b64 [{barrier}], {count};", self, count = in(reg32) count)
        }
    }

    /// Ends the barrier, so that its memory can be used for something else. PTX: `mbarrier.inval`, PTX ISA 7.0, sm_80.
    ///
    /// # Safety
    ///
    /// As the [type](Self) says; no thread uses the barrier at the same time or later without a new [`init`](Self::init).
    #[inline(always)]
    #[gpu_only]
    pub unsafe fn invalidate(&self) {
        // SAFETY: the caller's promise.
        unsafe { mbarrier!("mbarrier.inval.shared.b64 [{barrier}];", self) }
    }

    /// Arrives, without waiting. PTX: `mbarrier.arrive`, PTX ISA 7.0, sm_80.
    ///
    /// # Safety
    ///
    /// As the [type](Self) says.
    #[inline(always)]
    #[gpu_only]
    pub unsafe fn arrive(&self) -> BarrierToken {
        let token: u64;
        // SAFETY: the caller's promise.
        unsafe {
            mbarrier!("mbarrier.arrive.shared.b64 {token}, [{barrier}];", self, token = out(reg64) token)
        }
        BarrierToken(token)
    }

    /// Arrives for `count` threads at once, this one among them or not. PTX: `mbarrier.arrive` with a count, PTX ISA 7.8, sm_90.
    ///
    /// # Safety
    ///
    /// As the [type](Self) says: `count` is at least 1 and at most the arrivals that the phase still lacks.
    #[inline(always)]
    #[gpu_only]
    pub unsafe fn arrive_n(&self, count: u32) -> BarrierToken {
        let token: u64;
        // SAFETY: the caller's promise.
        unsafe {
            mbarrier!(
                "mbarrier.arrive.shared.b64 {token}, [{barrier}], {count};",
                self,
                token = out(reg64) token,
                count = in(reg32) count
            )
        }
        BarrierToken(token)
    }

    /// Arrives for the last time: later phases have one arrival less. PTX: `mbarrier.arrive_drop`, PTX ISA 7.0, sm_80.
    ///
    /// # Safety
    ///
    /// As the [type](Self) says.
    #[inline(always)]
    #[gpu_only]
    pub unsafe fn arrive_and_drop(&self) -> BarrierToken {
        let token: u64;
        // SAFETY: the caller's promise.
        unsafe {
            mbarrier!("mbarrier.arrive_drop.shared.b64 {token}, [{barrier}];", self, token = out(reg64) token)
        }
        BarrierToken(token)
    }

    /// Makes an arrival as soon as all copies that this thread has begun ([`cp_async_4`](super::cp_async_4), …) are done. It is one of
    /// those that [`init`](Self::init) was told of.
    ///
    /// PTX: `cp.async.mbarrier.arrive.noinc`, PTX ISA 7.0, sm_80.
    ///
    /// # Safety
    ///
    /// As the [type](Self) says.
    #[inline(always)]
    #[gpu_only]
    pub unsafe fn arrive_after_copies(&self) {
        // SAFETY: the caller's promise.
        unsafe { mbarrier!("cp.async.mbarrier.arrive.noinc.shared.b64 [{barrier}];", self) }
    }

    /// Whether the phase of `token` has ended. PTX: `mbarrier.test_wait`, PTX ISA 7.0, sm_80.
    ///
    /// # Safety
    ///
    /// As the [type](Self) says, and the token is of the present phase or the one before.
    #[inline(always)]
    #[must_use]
    #[gpu_only]
    pub unsafe fn test_wait(&self, token: BarrierToken) -> bool {
        asks!("mbarrier.test_wait.shared.b64", self, in(reg64) token.0)
    }

    /// Whether the phase with this parity has ended: 0 for the first, third, …, 1 for the second, fourth, ….
    ///
    /// It answers for the present phase and the one before. PTX: `mbarrier.test_wait.parity`, PTX ISA 7.1, sm_80.
    ///
    /// # Safety
    ///
    /// As the [type](Self) says. `parity` is 0 or 1.
    #[inline(always)]
    #[must_use]
    #[gpu_only]
    pub unsafe fn test_wait_parity(&self, parity: u32) -> bool {
        asks!("mbarrier.test_wait.parity.shared.b64", self, in(reg32) parity)
    }

    /// [`test_wait`](Self::test_wait) that lets the thread sleep for a while, as long as the hardware likes, before it answers
    /// `false`.
    ///
    /// PTX: `mbarrier.try_wait`, PTX ISA 7.8, sm_90.
    ///
    /// # Safety
    ///
    /// As for [`test_wait`](Self::test_wait).
    #[inline(always)]
    #[must_use]
    #[gpu_only]
    pub unsafe fn try_wait(&self, token: BarrierToken) -> bool {
        asks!("mbarrier.try_wait.shared.b64", self, in(reg64) token.0)
    }

    /// [`test_wait_parity`](Self::test_wait_parity) that lets the thread sleep for a while, as long as the hardware likes, before it
    /// answers `false`.
    ///
    /// PTX: `mbarrier.try_wait.parity`, PTX ISA 7.8, sm_90.
    ///
    /// # Safety
    ///
    /// As for [`test_wait_parity`](Self::test_wait_parity).
    #[inline(always)]
    #[must_use]
    #[gpu_only]
    pub unsafe fn try_wait_parity(&self, parity: u32) -> bool {
        asks!("mbarrier.try_wait.parity.shared.b64", self, in(reg32) parity)
    }

    /// Waits until the phase of `token` has ended, by asking again and again ([`test_wait`](Self::test_wait)).
    ///
    /// # Safety
    ///
    /// As for [`test_wait`](Self::test_wait).
    #[inline(always)]
    pub unsafe fn wait(&self, token: BarrierToken) {
        // SAFETY: the caller's promise.
        while !unsafe { self.test_wait(token) } {}
    }

    /// Waits until the phase with this parity has ended, by asking again and again
    /// ([`test_wait_parity`](Self::test_wait_parity)).
    ///
    /// # Safety
    ///
    /// As for [`test_wait_parity`](Self::test_wait_parity).
    #[inline(always)]
    pub unsafe fn wait_parity(&self, parity: u32) {
        // SAFETY: the caller's promise.
        while !unsafe { self.test_wait_parity(parity) } {}
    }

    /// Arrives, and waits for the others.
    ///
    /// # Safety
    ///
    /// As the [type](Self) says.
    #[inline(always)]
    pub unsafe fn arrive_and_wait(&self) {
        // SAFETY: the caller's promise; the token is new.
        unsafe { self.wait(self.arrive()) }
    }

    /// Has the present phase wait for `bytes` more bytes of asynchronous copies. PTX: `mbarrier.expect_tx`, PTX ISA 8.0, sm_90.
    ///
    /// # Safety
    ///
    /// As the [type](Self) says. At most 2^20 - 1 bytes are expected at a time.
    #[inline(always)]
    #[gpu_only]
    pub unsafe fn expect_tx(&self, bytes: u32) {
        // SAFETY: the caller's promise.
        unsafe {
            mbarrier!("mbarrier.expect_tx.relaxed.cta.shared::cta.b64 [{barrier}], {bytes};", self, bytes = in(reg32) bytes)
        }
    }

    /// [`expect_tx`](Self::expect_tx) and [`arrive`](Self::arrive) in one. PTX: `mbarrier.arrive.expect_tx`, PTX ISA 8.0, sm_90.
    ///
    /// # Safety
    ///
    /// As for [`expect_tx`](Self::expect_tx).
    #[inline(always)]
    #[gpu_only]
    pub unsafe fn arrive_expect_tx(&self, bytes: u32) -> BarrierToken {
        let token: u64;
        // SAFETY: the caller's promise.
        unsafe {
            mbarrier!(
                "mbarrier.arrive.expect_tx.shared.b64 {token}, [{barrier}], {bytes};",
                self,
                token = out(reg64) token,
                bytes = in(reg32) bytes
            )
        }
        BarrierToken(token)
    }

    /// Counts `bytes` of those expected as come, as a copy would. PTX: `mbarrier.complete_tx`, PTX ISA 8.0, sm_90.
    ///
    /// # Safety
    ///
    /// As the [type](Self) says. So many bytes are expected.
    #[inline(always)]
    #[gpu_only]
    pub unsafe fn complete_tx(&self, bytes: u32) {
        // SAFETY: the caller's promise.
        unsafe {
            mbarrier!("mbarrier.complete_tx.relaxed.cta.shared::cta.b64 [{barrier}], {bytes};", self, bytes = in(reg32) bytes)
        }
    }
}
