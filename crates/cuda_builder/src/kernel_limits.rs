//! Tells LLVM the limits of kernels: the most threads of a block, and the like.
//!
//! Rust has no attribute for them. `cuda_std`'s `#[kernel(launch_bounds(…), max_registers(…), cluster(…))]` therefore puts the function
//! into a link section whose name lists them, and this pass puts function attributes in its place (LLVM, "User Guide for NVPTX Back-end",
//! Function Attributes), of which `llc` makes directives of the entry:
//!
//! | section | attribute | PTX |
//! | --- | --- | --- |
//! | `.cuda.kernel.maxntid=256` | `"nvvm.maxntid"="256"` | `.maxntid 256` |
//! | `.cuda.kernel.minctasm=2` | `"nvvm.minctasm"="2"` | `.minnctapersm 2` |
//! | `.cuda.kernel.maxnreg=64` | `"nvvm.maxnreg"="64"` | `.maxnreg 64` |
//! | `.cuda.kernel.cluster_dim=2x2x1` | `"nvvm.cluster_dim"="2,2,1"` | `.reqnctapercluster 2, 2, 1` |
//! | `.cuda.kernel.maxntid=256,minctasm=2` | both | both |

use crate::NvvmArch;
use crate::error::{AddressSpaceError, NoClusters, readable};
use crate::ir::location::Locations;
use crate::ir::token::{Kind, tokens};
use crate::symbols::global_name;

/// What the section's name begins with.
const PREFIX: &str = ".cuda.kernel.";

/// The attributes of one number that it may list.
const KNOWN: [&str; 3] = ["maxntid", "minctasm", "maxnreg"];

/// The first compute capability with clusters (PTX ISA, `.reqnctapercluster`).
const CLUSTERS: u32 = 90;

/// Refuses clusters where `arch` has none. `llc` would leave the directive out, and the blocks not be together: a barrier of the cluster
/// would then wait for the block alone.
///
/// # Errors
///
/// The first kernel with clusters.
pub(crate) fn check(module: &str, arch: NvvmArch) -> Result<(), NoClusters> {
    if arch.capability_value() >= CLUSTERS {
        return Ok(());
    }
    let has_clusters = |line: &&str| {
        let section = line.split_once(PREFIX).map(|(_, section)| section);
        line.starts_with("define ")
            && section.is_some_and(|section| section.contains("cluster_dim="))
    };
    match module.lines().find(has_clusters) {
        Some(line) => Err(NoClusters {
            kernel: global_name(line).map(readable).unwrap_or_default(),
            place: Locations::new(module).of_function(line),
            arch,
        }),
        None => Ok(()),
    }
}

/// The textual module with the attributes.
///
/// # Errors
///
/// If a section's name lists something else.
pub(crate) fn rewrite(module: &str) -> Result<String, AddressSpaceError> {
    let mut out = String::with_capacity(module.len());
    for line in module.lines() {
        if line.starts_with("define ") && line.contains(PREFIX) {
            rewrite_line(line, &mut out)?;
        } else {
            out.push_str(line);
        }
        out.push('\n');
    }
    Ok(out)
}

/// Copies a `define … section ".cuda.kernel.maxntid=256" … {` line with attributes for the section.
fn rewrite_line(line: &str, out: &mut String) -> Result<(), AddressSpaceError> {
    let mut name = "";
    let mut tokens = tokens(line);
    while let Some(token) = tokens.next() {
        if token.kind == Kind::Global && name.is_empty() {
            name = token.text;
        }
        if !token.is("section") {
            out.push_str(token.text);
            continue;
        }
        // The blank and the name.
        let (blank, section) = (tokens.next(), tokens.next());
        let section = section.map_or("", |token| token.text);
        let Some(list) = section.trim_matches('"').strip_prefix(PREFIX) else {
            out.push_str(token.text);
            out.push_str(blank.map_or("", |token| token.text));
            out.push_str(section);
            continue;
        };
        let attributes: Option<Vec<String>> = list.split(',').map(attribute).collect();
        let attributes = attributes.ok_or_else(|| AddressSpaceError::UnknownSection {
            name: name.to_owned(),
            section: section.trim_matches('"').to_owned(),
        })?;
        out.push_str(&attributes.join(" "));
    }
    Ok(())
}

/// `"nvvm.maxntid"="256"` of `maxntid=256`.
fn attribute(limit: &str) -> Option<String> {
    let (name, value) = limit.split_once('=')?;
    let is_number = |value: &str| value.parse::<u32>().is_ok();
    let value = match name {
        "cluster_dim" => {
            let blocks: Vec<&str> = value.split('x').collect();
            (blocks.len() == 3 && blocks.iter().all(|axis| is_number(axis)))
                .then(|| blocks.join(","))?
        }
        _ => (KNOWN.contains(&name) && is_number(value)).then(|| value.to_owned())?,
    };
    Some(format!("\"nvvm.{name}\"=\"{value}\""))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn sections_of_kernels_become_attributes() {
        let module = "\
@x = global i32 0, section \".cuda.kernel.maxntid=1\"
define ptx_kernel void @a(ptr %p) unnamed_addr #0 section \".cuda.kernel.maxntid=256,minctasm=2\" !dbg !7 {
  call void asm \"section \\22.cuda.kernel.maxnreg=8\\22\", \"\"()
define ptx_kernel void @\"section .cuda.kernel.\"() section \".cuda.kernel.maxnreg=64\" {
define ptx_kernel void @c() section \".cuda.kernel.maxntid=8,cluster_dim=2x4x1\" {
define void @other() section \".text.cuda.kernel.x\" {
";
        let expected = "\
@x = global i32 0, section \".cuda.kernel.maxntid=1\"
define ptx_kernel void @a(ptr %p) unnamed_addr #0 \"nvvm.maxntid\"=\"256\" \"nvvm.minctasm\"=\"2\" !dbg !7 {
  call void asm \"section \\22.cuda.kernel.maxnreg=8\\22\", \"\"()
define ptx_kernel void @\"section .cuda.kernel.\"() \"nvvm.maxnreg\"=\"64\" {
define ptx_kernel void @c() \"nvvm.maxntid\"=\"8\" \"nvvm.cluster_dim\"=\"2,4,1\" {
define void @other() section \".text.cuda.kernel.x\" {
";
        assert_eq!(rewrite(module).expect("all are known"), expected);
    }

    #[test]
    fn clusters_need_an_architecture_that_has_them() {
        let module = "\
define ptx_kernel void @plain() section \".cuda.kernel.maxntid=8\" {
define ptx_kernel void @together() section \".cuda.kernel.maxntid=8,cluster_dim=2x4x1\" !dbg !3 {
!1 = !DIFile(filename: \"src/lib.rs\", directory: \"/home/me\")
!3 = distinct !DISubprogram(name: \"together\", scope: !9, file: !1, line: 10)
";
        let error = check(module, NvvmArch::Compute89).expect_err("sm_89 has no clusters");
        assert_eq!(error.kernel, "together");
        assert_eq!(error.place.as_deref(), Some("src/lib.rs:10"));
        let text = error.to_string();
        assert!(text.contains("`together` (src/lib.rs:10)") && text.contains("sm_89"), "{text}");
        assert_eq!(check(module, NvvmArch::Compute90), Ok(()));
        let (plain, _) =
            module.split_once("define ptx_kernel void @together").expect("it is there");
        assert_eq!(check(plain, NvvmArch::Compute89), Ok(()));
    }

    #[test]
    fn what_is_unknown_is_an_error() {
        for list in [
            "maxntid",
            "maxntid=x",
            "maxntid=1,",
            "cluster=2",
            "cluster_dim=2",
            "cluster_dim=2x2",
            "cluster_dim=2x2x2x2",
            "maxnreg=-1",
            "",
        ] {
            let module = format!("define void @k() section \".cuda.kernel.{list}\" {{");
            let error = rewrite(&module).expect_err(list).to_string();
            assert!(error.contains("@k") || error.contains('k'), "{error}");
            assert!(error.contains(&format!(".cuda.kernel.{list}")), "{error}");
        }
    }
}
