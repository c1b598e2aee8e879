//! What the emulator supports, and where it deliberately does not do what the hardware does; as data, and as the
//! page `docs/SUPPORT.md`.

mod deviations;
mod page;

pub use deviations::{DEVIATIONS, Deviation};
pub use page::page;
