//! What nearly every kernel uses: `use cuda_std::prelude::*;`
//!
//! `assert_eq!` and `assert_ne!` without an import are core's. [`io::assert_eq!`](crate::io::assert_eq) and
//! [`io::assert_ne!`](crate::io::assert_ne) name the compared expressions in the message; they need a `use` of their own, since
//! Rust refuses a glob import that competes with its own prelude. For the same reason a crate that is `no_std` on the device
//! alone writes `use cuda_std::{print, println};` besides.

pub use alloc::borrow::ToOwned;
pub use alloc::boxed::Box;
pub use alloc::rc::Rc;
pub use alloc::string::{String, ToString};
pub use alloc::vec::Vec;
pub use alloc::{format, vec};

pub use crate::io::{print, println};
pub use crate::{DisjointMatrix, DisjointSlice, address_space, f16, kernel, shared_array, thread};
