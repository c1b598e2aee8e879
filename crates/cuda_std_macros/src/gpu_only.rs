//! `#[gpu_only]`: a function whose body exists only in device code.

use proc_macro2::TokenStream;
use quote::{quote, quote_spanned};
use syn::spanned::Spanned;
use syn::{Error, ItemFn};

/// The function itself on the device; on the host one that panics and says so.
pub(crate) fn expand(options: &TokenStream, item: TokenStream) -> TokenStream {
    if !options.is_empty() {
        let error =
            Error::new(options.span(), "`#[gpu_only]` takes no options: write `#[gpu_only]`");
        return error.into_compile_error();
    }
    let function: ItemFn = match syn::parse2(item) {
        Ok(function) => function,
        Err(error) => {
            let text = format!("`#[gpu_only]` goes on a function: {error}");
            return Error::new(error.span(), text).into_compile_error();
        }
    };
    let ItemFn { attrs, vis, sig, block, .. } = &function;
    let name = sig.ident.to_string();
    // `#[track_caller]` is for functions of Rust's own ABI.
    let track_caller = sig.abi.is_none().then(|| quote!(#[track_caller]));
    let host = quote_spanned! {sig.ident.span()=>
        #[cfg(not(target_arch = "nvptx64"))]
        #(#attrs)*
        #[allow(unused_variables, unused_mut)]
        #track_caller
        #vis #sig {
            ::cuda_std::__private::only_on_the_device(#name)
        }
    };
    quote! {
        #[cfg(target_arch = "nvptx64")]
        #(#attrs)*
        #vis #sig #block
        #host
    }
}
