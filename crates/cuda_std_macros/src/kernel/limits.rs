//! `#[kernel(launch_bounds(…), max_registers(…), cluster(…))]`: what a launch keeps to, and the compiler may reckon with.

use std::fmt::Write;
use std::ops::RangeInclusive;

use proc_macro2::TokenStream;
use quote::ToTokens;
use syn::punctuated::Punctuated;
use syn::{Expr, Lit, Meta, Token};

use super::message;
use super::signature::Complaints;

/// Threads in the largest block (CUDA C++ Programming Guide, "Technical Specifications per Compute Capability").
const THREADS: RangeInclusive<u32> = 1..=1024;
/// Blocks that a multiprocessor can hold, on any GPU so far (the same table).
const BLOCKS: RangeInclusive<u32> = 1..=32;
/// Blocks of a cluster, on every GPU that has clusters (CUDA C++ Programming Guide, "Thread Block Clusters").
const CLUSTER: RangeInclusive<u32> = 1..=8;
/// Registers of a thread: at least what calls need by the ABI, at most what an instruction can name (the same table).
const REGISTERS: RangeInclusive<u32> = 16..=255;

/// The limits of a kernel.
#[derive(Default)]
pub(crate) struct Limits {
    /// The most threads that a block of a launch has.
    max_threads: Option<u32>,
    /// The fewest blocks that a multiprocessor is to hold at the same time.
    min_blocks: Option<u32>,
    /// The most registers of a thread.
    max_registers: Option<u32>,
    /// The blocks of a cluster along x, y and z.
    cluster: Option<[u32; 3]>,
}

impl Limits {
    /// Reads the options of `#[kernel(…)]`.
    pub(super) fn parse(options: TokenStream, complaints: &mut Complaints) -> Self {
        let mut limits = Self::default();
        if options.is_empty() {
            return limits;
        }
        let parser = Punctuated::<Meta, Token![,]>::parse_terminated;
        let options = match syn::parse::Parser::parse2(parser, options) {
            Ok(options) => options,
            Err(error) => {
                complaints.push(error);
                return limits;
            }
        };
        for option in &options {
            let name = option.path().get_ident().map(ToString::to_string).unwrap_or_default();
            let again = match name.as_str() {
                "launch_bounds" => limits.max_threads.is_some(),
                "max_registers" => limits.max_registers.is_some(),
                "cluster" => limits.cluster.is_some(),
                _ => {
                    let name = if name.is_empty() { "…" } else { &name };
                    complaints.at(option, message::unknown_option(name));
                    continue;
                }
            };
            if again {
                complaints.at(option, message::option_again(&name));
                continue;
            }
            let Some(values) = values(option, &name, complaints) else { continue };
            match (name.as_str(), values.as_slice()) {
                ("launch_bounds", [threads]) => {
                    limits.max_threads = number(threads, "threads of a block", THREADS, complaints);
                }
                ("launch_bounds", [threads, blocks]) => {
                    limits.max_threads = number(threads, "threads of a block", THREADS, complaints);
                    limits.min_blocks =
                        number(blocks, "blocks of a multiprocessor", BLOCKS, complaints);
                }
                ("max_registers", [registers]) => {
                    limits.max_registers =
                        number(registers, "registers of a thread", REGISTERS, complaints);
                }
                ("cluster", [_, ..]) if values.len() <= 3 => {
                    limits.cluster = cluster(&values, complaints);
                }
                _ => complaints.at(option, message::option_values(&name)),
            }
        }
        if limits.min_blocks.is_some() && limits.max_registers.is_some() {
            complaints.at(&options, message::registers_twice());
        }
        limits
    }

    /// The marker section that tells `cuda_builder` of the limits, which rustc has no word for; `None` without any.
    pub(super) fn section(&self) -> Option<String> {
        let attributes = [
            ("maxntid", self.max_threads),
            ("minctasm", self.min_blocks),
            ("maxnreg", self.max_registers),
        ];
        let mut section = String::new();
        for (name, value) in attributes {
            if let Some(value) = value {
                let start = if section.is_empty() { ".cuda.kernel." } else { "," };
                // A `String` takes everything.
                let _ = write!(section, "{start}{name}={value}");
            }
        }
        if let Some([x, y, z]) = self.cluster {
            let start = if section.is_empty() { ".cuda.kernel." } else { "," };
            let _ = write!(section, "{start}cluster_dim={x}x{y}x{z}");
        }
        (!section.is_empty()).then_some(section)
    }
}

/// What stands in the option's parentheses.
fn values(option: &Meta, name: &str, complaints: &mut Complaints) -> Option<Vec<Expr>> {
    let list = match option {
        Meta::List(list) => list,
        _ => {
            complaints.at(option, message::option_values(name));
            return None;
        }
    };
    match list.parse_args_with(Punctuated::<Expr, Token![,]>::parse_terminated) {
        Ok(values) => Some(values.into_iter().collect()),
        Err(error) => {
            complaints.push(error);
            None
        }
    }
}

/// The blocks of a cluster; what is missing counts as 1.
fn cluster(values: &[Expr], complaints: &mut Complaints) -> Option<[u32; 3]> {
    let mut blocks = [1; 3];
    for (axis, value) in blocks.iter_mut().zip(values) {
        *axis = number(value, "blocks of a cluster", CLUSTER, complaints)?;
    }
    if blocks.iter().product::<u32>() > *CLUSTER.end() {
        complaints.at(&values[0], message::cluster_too_large(blocks, *CLUSTER.end()));
        return None;
    }
    Some(blocks)
}

/// A number written out: the macro cannot compute a constant.
fn number(
    value: &Expr,
    what: &str,
    range: RangeInclusive<u32>,
    complaints: &mut Complaints,
) -> Option<u32> {
    let written = match value {
        Expr::Lit(literal) => match &literal.lit {
            Lit::Int(integer) => integer.base10_parse::<u32>().ok(),
            _ => None,
        },
        _ => {
            complaints.at(value, message::not_a_number(&value.to_token_stream().to_string()));
            return None;
        }
    };
    let number = written.filter(|number| range.contains(number));
    if number.is_none() {
        complaints.at(value, message::out_of_range(what, *range.start(), *range.end()));
    }
    number
}
