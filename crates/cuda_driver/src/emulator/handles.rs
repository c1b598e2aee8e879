//! Handles: numbers that are looked up, never dereferenced.
//!
//! A number says its kind and is never given out twice in a process, so a wrong one can be told apart:
//! of another kind, never given out, or destroyed.

use std::collections::BTreeMap;
use std::marker::PhantomData;
use std::sync::atomic::{AtomicUsize, Ordering};

use crate::error::ApiError;
use crate::types::*;

/// A kind of handle.
pub(crate) trait Handle: Copy + Ord {
    /// What messages call it.
    const KIND: &'static str;
    /// The number in bits 40 to 47 of its handles; no two kinds share it.
    const TAG: usize;
    /// The handle of this number.
    fn from_value(value: usize) -> Self;
    /// Its number.
    fn value(self) -> usize;
}

macro_rules! handle_kinds {
    ($($name:ident = $tag:literal $kind:literal;)*) => {$(
        impl Handle for $name {
            const KIND: &'static str = $kind;
            const TAG: usize = $tag;
            fn from_value(value: usize) -> Self {
                $name(value)
            }
            fn value(self) -> usize {
                self.0
            }
        }
    )*};
}

handle_kinds! {
    CUcontext = 1 "context";
    CUmodule = 2 "module";
    CUfunction = 3 "function";
    CUlibrary = 4 "library";
    CUkernel = 5 "kernel";
    CUstream = 6 "stream";
    CUevent = 7 "event";
    CUlinkState = 8 "linker";
    CUmemoryPool = 9 "memory pool";
    CUgraph = 10 "graph";
    CUgraphExec = 11 "instantiated graph";
    CUuserObject = 12 "user object";
}

/// Above every address that a program can have (47 bits), so that no pointer looks like a handle.
const PREFIX: usize = 0x00FE_0000_0000_0000;
const PREFIX_MASK: usize = 0xFFFF_0000_0000_0000;
/// Numbers are multiples of this, like pointers to objects; small integers are never handles.
const STEP: usize = 16;

/// The next number of any kind.
static NEXT: AtomicUsize = AtomicUsize::new(1);

/// Whether this number was made for a handle of kind `H`, alive or not.
pub(crate) fn is_kind<H: Handle>(value: usize) -> bool {
    value & PREFIX_MASK == PREFIX && (value >> 40) & 0xFF == H::TAG
}

/// What is behind the handles of one kind.
pub(crate) struct Handles<H, T> {
    live: BTreeMap<usize, T>,
    kind: PhantomData<H>,
}

impl<H: Handle, T> Handles<H, T> {
    pub(crate) fn new() -> Self {
        Handles { live: BTreeMap::new(), kind: PhantomData }
    }

    /// Keeps `value` and gives its handle.
    pub(crate) fn insert(&mut self, value: T) -> H {
        let number = NEXT.fetch_add(1, Ordering::Relaxed) * STEP;
        let handle = PREFIX | (H::TAG << 40) | (number & 0xFF_FFFF_FFFF);
        self.live.insert(handle, value);
        H::from_value(handle)
    }

    pub(crate) fn get(&self, handle: H) -> Result<&T, ApiError> {
        self.live.get(&handle.value()).ok_or_else(|| unknown(handle))
    }

    pub(crate) fn get_mut(&mut self, handle: H) -> Result<&mut T, ApiError> {
        self.live.get_mut(&handle.value()).ok_or_else(|| unknown(handle))
    }

    /// Takes it out; the handle is destroyed from now on.
    pub(crate) fn remove(&mut self, handle: H) -> Result<T, ApiError> {
        self.live.remove(&handle.value()).ok_or_else(|| unknown(handle))
    }

    pub(crate) fn iter(&self) -> impl Iterator<Item = (H, &T)> {
        self.live.iter().map(|(handle, value)| (H::from_value(*handle), value))
    }

    pub(crate) fn values_mut(&mut self) -> impl Iterator<Item = &mut T> {
        self.live.values_mut()
    }

    /// Takes out what `condition` holds for, and gives it back.
    pub(crate) fn remove_where(&mut self, condition: impl Fn(&T) -> bool) -> Vec<T> {
        self.live.extract_if(.., |_, value| condition(value)).map(|(_, value)| value).collect()
    }
}

fn unknown<H: Handle>(handle: H) -> ApiError {
    let value = handle.value();
    let given_out = (value & 0xFF_FFFF_FFFF) < NEXT.load(Ordering::Relaxed) * STEP;
    if is_kind::<H>(value) && given_out && value.is_multiple_of(STEP) {
        ApiError::DestroyedHandle { kind: H::KIND, value }
    } else {
        ApiError::InvalidHandle { kind: H::KIND, value }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn wrong_handles_are_told_apart() {
        let mut streams: Handles<CUstream, ()> = Handles::new();
        let mut events: Handles<CUevent, ()> = Handles::new();
        let stream = streams.insert(());
        let event = events.insert(());
        assert!(streams.get(stream).is_ok());
        assert!(matches!(streams.get(CUstream(event.0)), Err(ApiError::InvalidHandle { .. })));
        assert!(matches!(streams.get(CUstream(0xDEAD_BEEF)), Err(ApiError::InvalidHandle { .. })));
        assert!(matches!(streams.get(CUstream(stream.0 + 1)), Err(ApiError::InvalidHandle { .. })));
        streams.remove(stream).unwrap();
        assert!(matches!(streams.get(stream), Err(ApiError::DestroyedHandle { .. })));
        assert_ne!(streams.insert(()), stream);
    }
}
