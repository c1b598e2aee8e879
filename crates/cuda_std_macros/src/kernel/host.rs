//! The host output of `#[kernel]`: a function that packs the arguments of a launch.
//!
//! It has the kernel's name, safety and number of parameters, so that rustc checks a launch against it as it checks any
//! call. A function, and not a unit struct: only a function leaves the name free for local variables, parameters and
//! modules, exactly as it is on the device.

use proc_macro2::TokenStream;
use quote::{quote, quote_spanned};
use syn::Attribute;
use syn::spanned::Spanned;

use super::signature::{KernelParam, KernelSignature, ParamKind};
use crate::written::written;

/// Everything under `#[cfg(not(target_arch = "nvptx64"))]`.
pub(crate) fn expand(kernel: &KernelSignature) -> TokenStream {
    let KernelSignature { attrs, vis, ident, unsafety, generics, params, body, .. } = kernel;
    let outer = attrs.iter().filter(|attr| belongs_to_launch(attr));
    let inner = attrs.iter().filter(|attr| belongs_to_body(attr));
    let conditions = attrs.iter().filter(|attr| attr.path().is_ident("cfg"));
    let note = launch_note(kernel);
    let lifetimes = generics.params.iter();
    let inputs = params.iter().map(input);
    let writes = params.iter().map(write);
    let declared = params.iter().map(declared_param);
    let described = params.iter().map(describe);
    let name = ident.to_string();
    let name = name.trim_start_matches("r#");
    let is_unsafe = unsafety.is_some();
    // `mixed_site`: no parameter of the user's can have this name.
    let arguments = quote_spanned!(proc_macro2::Span::mixed_site()=> arguments);
    quote! {
        #[cfg(not(target_arch = "nvptx64"))]
        #(#outer)*
        #note
        #[allow(clippy::too_many_arguments, clippy::extra_unused_lifetimes, clippy::needless_lifetimes)]
        #vis #unsafety fn #ident<'__launch, #(#lifetimes),*>(
            #(#inputs),*
        ) -> ::cuda_std::launch::Arguments<'__launch> {
            // SAFETY: what follows packs the parameters of this very kernel, and this function is as unsafe as it is.
            #[allow(clippy::undocumented_unsafe_blocks)]
            let mut #arguments = unsafe {
                ::cuda_std::launch::Arguments::new(const {
                    &::cuda_std::launch::KernelInfo {
                        name: #name,
                        params: &[#(#described),*],
                        is_unsafe: #is_unsafe,
                        module: ::core::module_path!(),
                        file: ::core::file!(),
                        line: ::core::line!(),
                    }
                })
            };
            #({ let #arguments = &mut #arguments; #writes })*
            #arguments
        }

        // The kernel itself, never called here: so that the host build (and an editor) finds its mistakes, and its
        // imports and device functions are in use on both targets. Apart from the function above, whose parameters it
        // would hide if one of them has the kernel's name.
        #[cfg(not(target_arch = "nvptx64"))]
        #(#conditions)*
        const _: () = {
            #(#inner)*
            #[allow(dead_code, clippy::too_many_arguments)]
            #unsafety fn #ident #generics (#(#declared),*) #body
        };
    }
}

/// Documentation and what decides whether the kernel exists.
fn belongs_to_launch(attr: &Attribute) -> bool {
    ["doc", "cfg", "cfg_attr", "deprecated", "allow", "warn", "deny", "forbid"]
        .iter()
        .any(|name| attr.path().is_ident(name))
}

/// Lint levels and hints to the compiler (`expect` here alone: it would be unfulfilled on the packing function).
fn belongs_to_body(attr: &Attribute) -> bool {
    !["doc", "cfg", "deprecated"].iter().any(|name| attr.path().is_ident(name))
}

/// A line of documentation below the user's own. An undocumented kernel stays undocumented, for `missing_docs` to see.
fn launch_note(kernel: &KernelSignature) -> Option<TokenStream> {
    kernel.attrs.iter().find(|attr| attr.path().is_ident("doc"))?;
    let KernelSignature { ident, unsafety, params, .. } = kernel;
    let parameters = params
        .iter()
        .map(|KernelParam { ident, ty, .. }| format!("{ident}: {}", written(ty)))
        .collect::<Vec<_>>()
        .join(", ");
    let unsafety = unsafety.map_or("", |_| "unsafe ");
    let text = format!(
        "\n# Kernel\n```text\n#[kernel] {unsafety}fn {ident}({parameters})\n```\n\
         On the host this packs the arguments of a launch: `launch!({ident}[grid, block](…))`."
    );
    Some(quote!(#[doc = #text]))
}

/// The parameter of the kernel itself.
fn declared_param(param: &KernelParam) -> TokenStream {
    let KernelParam { attrs, mutability, ident, ty, .. } = param;
    quote!(#(#attrs)* #mutability #ident: #ty)
}

/// The parameter of the packing function: whatever may be passed for the kernel's.
fn input(param: &KernelParam) -> TokenStream {
    let KernelParam { ident, ty, kind, .. } = param;
    let accepted = match kind {
        ParamKind::Slice { element, .. } => {
            quote_spanned!(ty.span()=> impl ::cuda_std::launch::SliceArg<'__launch, #element>)
        }
        ParamKind::DisjointSlice { element } => {
            quote_spanned!(ty.span()=> impl ::cuda_std::launch::SliceMutArg<'__launch, #element>)
        }
        ParamKind::DisjointMatrix { element } => {
            quote_spanned!(ty.span()=> impl ::cuda_std::launch::MatrixMutArg<'__launch, #element>)
        }
        ParamKind::Reference { target, .. } => {
            quote_spanned!(ty.span()=> impl ::cuda_std::launch::ReferenceArg<'__launch, #target>)
        }
        ParamKind::Pointer { mutable: false, target } => {
            quote_spanned!(ty.span()=> impl ::cuda_std::launch::PointerArg<'__launch, #target>)
        }
        ParamKind::Pointer { mutable: true, target } => {
            quote_spanned!(ty.span()=> impl ::cuda_std::launch::PointerMutArg<'__launch, #target>)
        }
        ParamKind::Value => quote!(#ty),
    };
    quote!(#ident: #accepted)
}

/// The call that packs it.
fn write(param: &KernelParam) -> TokenStream {
    let KernelParam { ident, ty, kind, .. } = param;
    let arguments = quote_spanned!(proc_macro2::Span::mixed_site()=> arguments);
    match kind {
        ParamKind::Slice { element, .. } => quote!(#arguments.slice::<#element>(#ident);),
        ParamKind::DisjointSlice { element } => {
            quote!(#arguments.slice_mut::<#element>(#ident);)
        }
        ParamKind::DisjointMatrix { element } => {
            quote!(#arguments.matrix_mut::<#element>(#ident);)
        }
        ParamKind::Reference { target, .. } => quote!(#arguments.reference::<#target>(#ident);),
        ParamKind::Pointer { mutable: false, target } => {
            quote!(#arguments.pointer::<#target>(#ident);)
        }
        ParamKind::Pointer { mutable: true, target } => {
            quote!(#arguments.pointer_mut::<#target>(#ident);)
        }
        ParamKind::Value => quote_spanned!(ty.span()=> #arguments.value::<#ty>(#ident);),
    }
}

/// Its description in `KernelInfo`.
fn describe(param: &KernelParam) -> TokenStream {
    let (name, ty) = (param.ident.to_string(), written(&param.ty));
    let name = name.trim_start_matches("r#");
    quote!(::cuda_std::launch::ParamInfo { name: #name, ty: #ty })
}
