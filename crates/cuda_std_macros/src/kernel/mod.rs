//! `#[kernel]`: one function in, a PTX entry on the device and a launch description on the host out.

mod device;
mod host;
mod limits;
mod message;
mod signature;

use proc_macro2::TokenStream;
use quote::quote;

use signature::KernelSignature;

/// Both outputs, each under its own `cfg`: a macro cannot know which target it is expanded for.
pub(crate) fn expand(options: TokenStream, item: TokenStream) -> TokenStream {
    match KernelSignature::parse(options, item) {
        Ok(signature) => {
            let device = device::expand(&signature);
            let host = host::expand(&signature);
            quote!(#device #host)
        }
        Err(error) => error.into_compile_error(),
    }
}
