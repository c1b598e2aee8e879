//! One kernel's own text and parameters, out of the text of a whole module.

use ptx::ast::{Item, Variable};

use crate::error::Error;

/// A kernel within a PTX module.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct KernelText<'a> {
    /// Its name.
    pub name: String,
    /// Its PTX, from its linkage to the closing brace.
    pub ptx: &'a str,
    /// Its parameters in order.
    pub params: Vec<Parameter>,
}

/// A kernel's parameter as the PTX declares it.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Parameter {
    /// Its PTX name.
    pub name: String,
    /// Its PTX type, such as `.u64` or `.b8[64]`.
    pub ty: String,
    /// Its size in bytes.
    pub bytes: u64,
}

/// The kernels of a module in source order. `place` says in messages where `source` is from.
///
/// # Errors
///
/// [`Error::BrokenPtx`] with line and column when `source` is not valid PTX.
pub fn kernels<'a>(source: &'a str, place: &str) -> Result<Vec<KernelText<'a>>, Error> {
    let broken =
        |source: ptx::Error| Error::BrokenPtx { place: place.to_owned(), source: Box::new(source) };
    let module = ptx::parse(source).map_err(broken)?;
    ptx::validate(&module, source).map_err(broken)?;
    let functions = module.items.iter().filter_map(|item| match item {
        Item::Function(function) if function.is_entry && function.body.is_some() => Some(function),
        _ => None,
    });
    Ok(functions
        .map(|function| {
            let start = function.span.start as usize;
            let end = body_end(source, function.span.end as usize);
            KernelText {
                name: function.name.clone(),
                ptx: source.get(start..end).unwrap_or_default(),
                params: function.params.iter().map(parameter).collect(),
            }
        })
        .collect())
}

/// The LLVM IR of one function, from `define` to the closing brace; `None` when the module does not define it.
#[must_use]
pub fn llvm_function<'a>(ir: &'a str, name: &str) -> Option<&'a str> {
    let plain = format!("@{name}(");
    let quoted = format!("@\"{name}\"(");
    let mut start = 0;
    for line in ir.split_inclusive('\n') {
        if line.starts_with("define ") && (line.contains(&plain) || line.contains(&quoted)) {
            // LLVM indents everything inside a body, so the first brace in column 1 ends it.
            let end = ir[start..].find("\n}").map_or(ir.len(), |position| start + position + 2);
            return Some(&ir[start..end]);
        }
        start += line.len();
    }
    None
}

fn parameter(variable: &Variable) -> Parameter {
    let element = variable.ty.bytes().unwrap_or(0);
    let dims = variable.dims.iter().map(|dim| dim.unwrap_or(0));
    let count = dims.fold(u64::from(variable.vector), u64::saturating_mul);
    let dims: String =
        variable.dims.iter().map(|dim| dim.map_or("[]".to_owned(), |n| format!("[{n}]"))).collect();
    let vector =
        if variable.vector > 1 { format!(".v{} ", variable.vector) } else { String::new() };
    Parameter {
        name: variable.name.clone(),
        ty: format!("{vector}{}{dims}", variable.ty.directive()),
        bytes: u64::from(element).saturating_mul(count),
    }
}

/// The offset just past the brace that closes the first one after `from`.
fn body_end(source: &str, from: usize) -> usize {
    let bytes = source.as_bytes();
    let (mut position, mut depth) = (from, 0_usize);
    while let Some(&byte) = bytes.get(position) {
        let rest = &bytes[position..];
        let skipped = if rest.starts_with(b"//") {
            rest.iter().position(|&b| b == b'\n').unwrap_or(rest.len())
        } else if rest.starts_with(b"/*") {
            rest.windows(2).skip(2).position(|pair| pair == b"*/").map_or(rest.len(), |at| at + 4)
        } else if byte == b'"' {
            rest[1..].iter().position(|&b| b == b'"').map_or(rest.len(), |at| at + 2)
        } else {
            match byte {
                b'{' => depth += 1,
                b'}' => depth = depth.saturating_sub(1),
                _ => {}
            }
            if byte == b'}' && depth == 0 {
                return position + 1;
            }
            1
        };
        position += skipped;
    }
    source.len()
}

#[cfg(test)]
mod tests {
    use super::*;

    const MODULE: &str = "\
.version 8.0
.target sm_90
.address_size 64

.visible .entry first(
	.param .u64 first_param_0,
	.param .align 16 .b8 first_param_1[64]
)
{
	// a brace } in a comment
	.reg .b32 %r<2>;
	{ /* } */
	mov.b32 %r1, 1;
	}
	ret;
}
.visible .entry second()
{
	ret;
}
";

    #[test]
    fn a_kernel_ends_at_its_own_brace() {
        let kernels = kernels(MODULE, "a test").unwrap();
        assert_eq!(
            kernels.iter().map(|k| k.name.as_str()).collect::<Vec<_>>(),
            ["first", "second"]
        );
        assert!(kernels[0].ptx.starts_with(".visible .entry first("), "{}", kernels[0].ptx);
        assert!(kernels[0].ptx.ends_with("ret;\n}"), "{}", kernels[0].ptx);
        assert_eq!(kernels[1].ptx, ".visible .entry second()\n{\n\tret;\n}");
    }

    #[test]
    fn parameters_have_types_and_sizes() {
        let kernels = kernels(MODULE, "a test").unwrap();
        let params: Vec<_> =
            kernels[0].params.iter().map(|p| (p.name.as_str(), p.ty.as_str(), p.bytes)).collect();
        assert_eq!(params, [("first_param_0", ".u64", 8), ("first_param_1", ".b8[64]", 64)]);
    }

    #[test]
    fn broken_ptx_names_the_place() {
        let error = kernels(&MODULE.replace("ret;", "ret"), "some.ptx").unwrap_err();
        assert!(error.to_string().starts_with("some.ptx is not valid PTX: "), "{error}");
    }

    #[test]
    fn llvm_functions_are_found_by_exact_name() {
        let ir = "declare void @f()\ndefine ptx_kernel void @f_2() {\nstart:\n  ret void\n}\n\ndefine void @f() #0 {\n  ret void\n}\n";
        assert_eq!(llvm_function(ir, "f"), Some("define void @f() #0 {\n  ret void\n}"));
        assert_eq!(
            llvm_function(ir, "f_2"),
            Some("define ptx_kernel void @f_2() {\nstart:\n  ret void\n}")
        );
        assert_eq!(llvm_function(ir, "g"), None);
    }
}
