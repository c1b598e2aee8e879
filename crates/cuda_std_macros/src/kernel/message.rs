//! The wording of every compile error of `#[kernel]`: what is wrong, and what to write instead.

use syn::Type;

use crate::written::written;

pub(super) fn not_a_function() -> String {
    "`#[kernel]` goes on a function: write `#[kernel] pub unsafe fn name(…) { … }`".into()
}

pub(super) fn unknown_option(name: &str) -> String {
    format!(
        "`#[kernel]` has no option `{name}`: it takes `launch_bounds(…)`, `max_registers(…)` and `cluster(…)`"
    )
}

pub(super) fn option_again(name: &str) -> String {
    format!("`{name}` is given twice: a kernel has one; remove this")
}

pub(super) fn option_values(name: &str) -> String {
    match name {
        "launch_bounds" => "`launch_bounds` takes the most threads of a block and, if wanted, the fewest blocks \
             that a multiprocessor is to hold: write `launch_bounds(256)` or `launch_bounds(256, 4)`",
        "cluster" => "`cluster` takes the blocks of a cluster along x and, if wanted, y and z: write `cluster(2)` or \
             `cluster(2, 2, 1)`",
        _ => "`max_registers` takes the most registers of a thread: write `max_registers(64)`",
    }
    .into()
}

pub(super) fn not_a_number(written: &str) -> String {
    format!("`{written}` is no number written out, and macros cannot compute: write `256`, say")
}

pub(super) fn out_of_range(what: &str, least: u32, most: u32) -> String {
    format!("the {what} are a number from {least} to {most}")
}

pub(super) fn cluster_too_large([x, y, z]: [u32; 3], most: u32) -> String {
    format!("{x} x {y} x {z} are {} blocks; a cluster has at most {most}", x * y * z)
}

pub(super) fn registers_twice() -> String {
    "the blocks of a multiprocessor and `max_registers` both limit the registers: \
     keep one of them (CUDA C++ Programming Guide, \"Maximum Number of Registers per Thread\")"
        .into()
}

pub(super) fn const_kernel() -> String {
    "a kernel cannot be `const`: it only runs when the host launches it; remove `const`".into()
}

pub(super) fn async_kernel() -> String {
    "a kernel cannot be `async`: the launch itself is asynchronous on the host; remove `async`"
        .into()
}

pub(super) fn foreign_abi(name: &str) -> String {
    format!(
        "a kernel has the device's kernel ABI, not `extern \"{name}\"`; remove the `extern \"{name}\"`"
    )
}

pub(super) fn generic_type() -> String {
    "a kernel cannot have type parameters: it is an entry with one fixed name; \
     write a generic device function and one kernel for each type that calls it"
        .into()
}

pub(super) fn generic_const() -> String {
    "a kernel cannot have const parameters: it is an entry with one fixed name; \
     write a generic device function and one kernel for each value that calls it"
        .into()
}

pub(super) fn where_clause() -> String {
    "a kernel cannot have a `where` clause, since nothing in it is generic; remove it".into()
}

pub(super) fn variadic() -> String {
    "a kernel cannot be variadic: each launch passes exactly the parameters written here".into()
}

pub(super) fn return_type() -> String {
    "a kernel returns nothing: every thread runs it; take a `*mut T` parameter and write the result there"
        .into()
}

pub(super) fn export_name() -> String {
    "the entry is named after the function, which is how the host finds it; \
     remove `export_name` and rename the function"
        .into()
}

pub(super) fn receiver() -> String {
    "a kernel is a free function without `self`: take the value as an ordinary parameter".into()
}

pub(super) fn cfg_on_parameter() -> String {
    "a kernel's parameters must be the same on the host and on the device, whose `cfg`s differ; \
     put the `cfg` on the whole kernel"
        .into()
}

pub(super) fn pattern() -> String {
    "a kernel's parameter is a plain name (`x: T` or `mut x: T`): take it apart in the body with `let`".into()
}

pub(super) fn mutable_slice(element: &Type) -> String {
    let element = written(element);
    format!(
        "`&mut [{element}]` would give every thread the same exclusive slice; \
         write `DisjointSlice<{element}>`, of which each thread has its own elements, \
         or `*mut {element}` and the length as a `usize` parameter"
    )
}

pub(super) fn mutable_reference(target: &Type) -> String {
    let target = written(target);
    format!(
        "`&mut {target}` would give every thread the same exclusive reference; write `*mut {target}`"
    )
}

pub(super) fn slice_pointer(element: &Type, mutable: bool) -> String {
    let element = written(element);
    let star = if mutable { "*mut" } else { "*const" };
    format!(
        "`{star} [{element}]` is a pointer and a length in one, which has no kernel ABI; \
         write `{star} {element}` and the length as a `usize` parameter"
    )
}

pub(super) fn str_slice() -> String {
    "a string has no kernel ABI; write `&[u8]` and, where needed, `core::str::from_utf8` in the body".into()
}

pub(super) fn trait_type() -> String {
    "a kernel's parameter has one concrete type: write that type instead of the trait".into()
}

pub(super) fn unsized_slice(element: &Type) -> String {
    let element = written(element);
    format!("a slice has no size of its own; write `&[{element}]`")
}

pub(super) fn function_pointer() -> String {
    "a function of the host has no address on the device; write one kernel for each function, \
     or pass a number and `match` on it"
        .into()
}

pub(super) fn never() -> String {
    "a parameter of type `!` can never be passed; remove it".into()
}

pub(super) fn pointer_in_safe_kernel() -> String {
    "a kernel with a raw pointer trusts its launch: declare it `unsafe fn`, \
     and say in its documentation what the pointer must point to; \
     an output of which each thread writes its own element can be a `DisjointSlice<T>` instead"
        .into()
}
