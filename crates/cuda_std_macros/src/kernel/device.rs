//! The device output of `#[kernel]`: a PTX entry with flattened parameters.

use proc_macro2::TokenStream;
use quote::{format_ident, quote, quote_spanned};
use syn::spanned::Spanned;

use super::signature::{KernelParam, KernelSignature, ParamKind};

/// The `extern "ptx-kernel"` function.
///
/// A `&[T]` would be one 16-byte parameter in that ABI; CUDA and rust-cuda pass pointer and length apart, so the
/// macro does the flattening itself and puts the slice together again in front of the body.
pub(crate) fn expand(kernel: &KernelSignature) -> TokenStream {
    let KernelSignature { attrs, vis, ident, unsafety, generics, params, limits, body } = kernel;
    let limits = limits.section().map(|section| quote!(#[unsafe(link_section = #section)]));
    let inputs = params.iter().map(input);
    let rebuilt = params.iter().filter_map(rebuild);
    let checks = params.iter().filter_map(|param| check(param, kernel));
    quote! {
        #[cfg(target_arch = "nvptx64")]
        #(#attrs)*
        #[allow(improper_ctypes_definitions)]
        #[unsafe(no_mangle)]
        #limits
        #vis #unsafety extern "ptx-kernel" fn #ident #generics (#(#inputs),*) {
            #(#rebuilt)*
            #body
        }
        #(#checks)*
    }
}

/// The parameter of the entry, or its several.
fn input(param: &KernelParam) -> TokenStream {
    let KernelParam { attrs, mutability, ident, ty, kind } = param;
    let part = |name: &str| part(param, name);
    let (address, length) = (part("address"), part("length"));
    let (rows, columns) = (part("rows"), part("columns"));
    match kind {
        ParamKind::Slice { element } => quote!(#address: *const #element, #length: usize),
        ParamKind::DisjointSlice { element } => quote!(#address: *mut #element, #length: usize),
        ParamKind::DisjointMatrix { element } => {
            quote!(#address: *mut #element, #rows: usize, #columns: usize)
        }
        _ => quote!(#(#attrs)* #mutability #ident: #ty),
    }
}

/// Puts together again what was passed in parts.
fn rebuild(param: &KernelParam) -> Option<TokenStream> {
    let part = |name: &str| part(param, name);
    let (address, length) = (part("address"), part("length"));
    let (rows, columns) = (part("rows"), part("columns"));
    // The paths have the user's place: what is wrong with the parameter shows there.
    let value = match &param.kind {
        ParamKind::Slice { .. } => quote!(::cuda_std::__private::slice(#address, #length)),
        ParamKind::DisjointSlice { .. } => {
            quote!(::cuda_std::DisjointSlice::from_raw_parts(#address, #length))
        }
        ParamKind::DisjointMatrix { .. } => {
            quote!(::cuda_std::DisjointMatrix::from_raw_parts(#address, #rows, #columns))
        }
        _ => return None,
    };
    let KernelParam { attrs, mutability, ident, ty, .. } = param;
    Some(quote! {
        #(#attrs)*
        #[allow(unused_unsafe)]
        // SAFETY: the launch passes the parts of a slice or matrix on the device, an exclusive one where the type is.
        let #mutability #ident: #ty = unsafe { #value };
    })
}

/// The name of one of the parameters that something is passed in.
fn part(param: &KernelParam, part: &str) -> syn::Ident {
    let name = param.ident.to_string();
    let name = name.trim_start_matches("r#");
    format_ident!("__{name}_{part}", span = param.ident.span())
}

/// What only the type checker can tell of a by-value parameter, on both targets: that it is `Copy` and not aligned too
/// far for the kernel ABI.
fn check(param: &KernelParam, kernel: &KernelSignature) -> Option<TokenStream> {
    let ParamKind::Value = param.kind else {
        return None;
    };
    let ty = &param.ty;
    let check = quote_spanned!(ty.span()=> ::cuda_std::__private::by_value::<#ty>());
    let cfgs = kernel.attrs.iter().filter(|attr| attr.path().is_ident("cfg"));
    let generics = &kernel.generics;
    Some(if generics.params.is_empty() {
        quote!(#(#cfgs)* const _: () = #check;)
    } else {
        // A constant has no lifetimes to name. Inside a function it is checked when the function is used.
        quote! {
            #(#cfgs)*
            const _: () = {
                #[allow(dead_code, clippy::extra_unused_lifetimes)]
                const fn check #generics () { #check }
            };
        }
    })
}
