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
    let KernelSignature { attrs, vis, ident, unsafety, generics, params, body } = kernel;
    let inputs = params.iter().map(input);
    let rebuilt = params.iter().filter_map(rebuild);
    let checks = params.iter().filter_map(|param| check(param, kernel));
    quote! {
        #[cfg(target_arch = "nvptx64")]
        #(#attrs)*
        #[allow(improper_ctypes_definitions)]
        #[unsafe(no_mangle)]
        #vis #unsafety extern "ptx-kernel" fn #ident #generics (#(#inputs),*) {
            #(#rebuilt)*
            #body
        }
        #(#checks)*
    }
}

/// The parameter, or the two parameters, of the entry.
fn input(param: &KernelParam) -> TokenStream {
    let KernelParam { attrs, mutability, ident, ty, kind } = param;
    match kind {
        ParamKind::Slice { element, .. } => {
            let (address, length) = slice_parts(param);
            quote!(#address: *const #element, #length: usize)
        }
        _ => quote!(#(#attrs)* #mutability #ident: #ty),
    }
}

fn rebuild(param: &KernelParam) -> Option<TokenStream> {
    let ParamKind::Slice { .. } = &param.kind else {
        return None;
    };
    let KernelParam { attrs, mutability, ident, ty, .. } = param;
    let (address, length) = slice_parts(param);
    Some(quote! {
        #(#attrs)*
        #[allow(unused_unsafe)]
        // SAFETY: the launch passes the address and the length of a slice on the device.
        let #mutability #ident: #ty = unsafe { ::core::slice::from_raw_parts(#address, #length) };
    })
}

/// The names of a slice's two parameters.
fn slice_parts(param: &KernelParam) -> (syn::Ident, syn::Ident) {
    let name = param.ident.to_string();
    let name = name.trim_start_matches("r#");
    (
        format_ident!("__{name}_address", span = param.ident.span()),
        format_ident!("__{name}_length", span = param.ident.span()),
    )
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
