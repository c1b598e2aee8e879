//! `#[externally_visible]`: keeps an item in the module under its own name.

use proc_macro2::TokenStream;
use quote::{ToTokens, quote};
use syn::spanned::Spanned;
use syn::{Error, Item};

use crate::attribute::any_names_the_symbol;

/// The item with a symbol that the host can look up.
pub(crate) fn expand(options: &TokenStream, item: TokenStream) -> TokenStream {
    if !options.is_empty() {
        let text = "`#[externally_visible]` takes no options: write `#[externally_visible]`";
        return Error::new(options.span(), text).into_compile_error();
    }
    let item: Item = match syn::parse2(item) {
        Ok(item) => item,
        Err(error) => return error.into_compile_error(),
    };
    let attrs = match &item {
        Item::Static(item) => &item.attrs,
        Item::Fn(item) => &item.attrs,
        other => {
            let text = "`#[externally_visible]` goes on a `static` or a function: nothing else has a symbol";
            return Error::new(other.span(), text).into_compile_error();
        }
    };
    if any_names_the_symbol(attrs) {
        return item.into_token_stream();
    }
    quote! {
        #[cfg_attr(target_arch = "nvptx64", unsafe(no_mangle))]
        #item
    }
}
