//! User objects: what of the program's a graph needs, counted, and given back by the program's own function.

use std::ffi::c_uint;

use super::{Emulator, with};
use crate::error::{ApiError, Outcome};
use crate::types::*;

/// `CU_USER_OBJECT_NO_DESTRUCTOR_SYNC`: must be set, since nobody can wait for the function.
const NO_DESTRUCTOR_SYNC: c_uint = 1;
/// `CU_GRAPH_USER_OBJECT_MOVE`: the caller's references become the graph's.
const MOVE: c_uint = 1;

/// A counted object of the program's.
pub(crate) struct UserObject {
    last: Last,
    count: u64,
}

/// The function to call when the last reference is gone.
#[derive(Clone, Copy)]
pub(crate) struct Last(CUhostFn, HostPtr);

// SAFETY: the program vouches, as CUDA asks, that its function may be called on any thread.
unsafe impl Send for Last {}

impl Last {
    /// Calls it; the emulator must not be locked.
    pub(crate) fn call(self) {
        if let Some(function) = self.0 {
            // SAFETY: the program vouches for the function and its data; it is called once.
            unsafe { function(self.1.raw()) };
        }
    }
}

/// References that a graph holds: an object, and how many.
pub(crate) type References = Vec<(CUuserObject, u64)>;

impl Emulator {
    /// Counts more references.
    pub(crate) fn retain_objects(&mut self, references: &References) -> Outcome {
        for (object, count) in references {
            let found = self.user_objects.get_mut(*object)?;
            found.count = found.count.saturating_add(*count);
        }
        Ok(())
    }

    /// Gives references back; gives the functions of the objects that nobody needs any more.
    pub(crate) fn release_objects(
        &mut self,
        references: &References,
    ) -> Result<Vec<Last>, ApiError> {
        let mut last = Vec::new();
        for (object, count) in references {
            let found = self.user_objects.get_mut(*object)?;
            let Some(left) = found.count.checked_sub(*count) else {
                let held = found.count;
                return Err(ApiError::argument(
                    "count",
                    count,
                    format_args!("at most {held} references"),
                ));
            };
            found.count = left;
            if left == 0 {
                last.push(self.user_objects.remove(*object)?.last);
            }
        }
        Ok(last)
    }
}

fn positive(count: c_uint) -> Result<u64, ApiError> {
    if count == 0 {
        return Err(ApiError::argument("count", 0, "at least 1 reference"));
    }
    Ok(count.into())
}

pub(crate) fn create(
    object: Out<CUuserObject>,
    data: HostPtr,
    destroy: CUhostFn,
    count: c_uint,
    flags: c_uint,
) -> Outcome {
    with(|emulator| {
        object.check("object_out")?;
        if destroy.is_none() {
            return Err(ApiError::NullPointer { name: "destroy" });
        }
        if flags != NO_DESTRUCTOR_SYNC {
            return Err(ApiError::argument(
                "flags",
                flags,
                "1 (no synchronisation with the function)",
            ));
        }
        let count = positive(count)?;
        let handle = emulator.user_objects.insert(UserObject { last: Last(destroy, data), count });
        object.set("object_out", handle)
    })
}

pub(crate) fn retain(object: CUuserObject, count: c_uint) -> Outcome {
    with(|emulator| emulator.retain_objects(&vec![(object, positive(count)?)]))
}

pub(crate) fn release(object: CUuserObject, count: c_uint) -> Outcome {
    let last = with(|emulator| emulator.release_objects(&vec![(object, positive(count)?)]))?;
    last.into_iter().for_each(Last::call);
    Ok(())
}

pub(crate) fn retain_for_graph(
    graph: CUgraph,
    object: CUuserObject,
    count: c_uint,
    flags: c_uint,
) -> Outcome {
    with(|emulator| {
        let count = positive(count)?;
        emulator.graphs.get(graph)?;
        emulator.user_objects.get(object)?;
        match flags {
            0 => emulator.retain_objects(&vec![(object, count)])?,
            MOVE => {}
            _ => return Err(ApiError::argument("flags", flags, "0 or 1 (move)")),
        }
        emulator.graphs.get_mut(graph)?.objects.push((object, count));
        Ok(())
    })
}

pub(crate) fn release_of_graph(graph: CUgraph, object: CUuserObject, count: c_uint) -> Outcome {
    let last = with(|emulator| {
        let count = positive(count)?;
        let held = &mut emulator.graphs.get_mut(graph)?.objects;
        let owned: u64 =
            held.iter().filter(|(found, _)| *found == object).map(|(_, count)| count).sum();
        let Some(left) = owned.checked_sub(count) else {
            return Err(ApiError::argument(
                "count",
                count,
                format_args!("at most {owned} references"),
            ));
        };
        held.retain(|(found, _)| *found != object);
        if left > 0 {
            held.push((object, left));
        }
        emulator.release_objects(&vec![(object, count)])
    })?;
    last.into_iter().for_each(Last::call);
    Ok(())
}
