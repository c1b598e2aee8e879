//! `#[address_space(…)]`: puts a `static` into one of the device's memories.
//!
//! Stock rustc knows no address spaces, so the macro puts the `static` into a marker section that `cuda_builder` looks
//! for in the module: it moves the variable into the address space and rewrites its uses. On the host the `static`
//! stays as it is.

use proc_macro2::TokenStream;
use quote::{ToTokens, quote, quote_spanned};
use syn::spanned::Spanned;
use syn::{Block, Error, Expr, Ident, ItemStatic, StaticMutability, Stmt};

use crate::attribute::any_names_the_symbol;
use crate::written::written;

/// The memories that a `static` can live in.
enum Space {
    /// One for each block, uninitialised when the block starts.
    Shared,
    /// Read-only for kernels, cached; the host may write a `static mut`.
    Constant,
    /// The device's main memory.
    Global,
}

impl Space {
    fn parse(options: TokenStream) -> Result<Self, Error> {
        const KNOWN: &str = "write `#[address_space(shared)]`, `#[address_space(constant)]` or `#[address_space(global)]`";
        if options.is_empty() {
            return Err(Error::new(
                proc_macro2::Span::call_site(),
                format!("`#[address_space]` needs the memory's name: {KNOWN}"),
            ));
        }
        let name: Ident = syn::parse2(options.clone())
            .map_err(|_| Error::new_spanned(&options, format!("not a memory's name: {KNOWN}")))?;
        match name.to_string().as_str() {
            "shared" => Ok(Self::Shared),
            "constant" => Ok(Self::Constant),
            "global" => Ok(Self::Global),
            // PTX ISA 5.1.5: module-scope `.local` variables are not allowed in code that uses the ABI.
            "local" => Err(Error::new(
                name.span(),
                "local memory holds a thread's own variables, and PTX has no `static` there: \
                 write `let` in the function",
            )),
            other => {
                Err(Error::new(name.span(), format!("there is no memory named `{other}`: {KNOWN}")))
            }
        }
    }

    /// The marker section.
    fn section(&self) -> &'static str {
        match self {
            Self::Shared => ".cuda.shared",
            Self::Constant => ".cuda.constant",
            Self::Global => ".cuda.global",
        }
    }
}

/// The `static` in its marker section. After an error the `static` as it is, so that its uses are no errors too.
pub(crate) fn expand(options: TokenStream, item: TokenStream) -> TokenStream {
    try_expand(options, item.clone()).unwrap_or_else(|error| {
        let error = error.into_compile_error();
        quote!(#error #item)
    })
}

fn try_expand(options: TokenStream, item: TokenStream) -> Result<TokenStream, Error> {
    let space = Space::parse(options)?;
    let item: ItemStatic = syn::parse2(item).map_err(|error| {
        Error::new(
            error.span(),
            "`#[address_space]` goes on a `static` with a type and a value: \
             `static mut NAME: MaybeUninit<T> = MaybeUninit::uninit();`",
        )
    })?;
    let is_mut = matches!(item.mutability, StaticMutability::Mut(_));
    let mut checks = TokenStream::new();
    if let Space::Shared = space {
        check_shared(&item, is_mut)?;
        checks = shared_type_check(&item);
    }

    // A `static mut` in constant or global memory is there for the host to write or to read. Its symbol keeps LLVM
    // from concluding that nobody does, and gives the host a name to look it up by.
    let for_the_host = is_mut && !matches!(space, Space::Shared);
    let symbol = (for_the_host && !any_names_the_symbol(&item.attrs))
        .then(|| quote!(#[cfg_attr(target_arch = "nvptx64", unsafe(no_mangle))]));
    let section = space.section();
    Ok(quote! {
        #[cfg_attr(target_arch = "nvptx64", unsafe(link_section = #section))]
        #symbol
        #item
        #checks
    })
}

/// Shared memory belongs to a block and starts uninitialised (PTX ISA 5.1.7: `.shared` variables have no initialisers).
fn check_shared(item: &ItemStatic, is_mut: bool) -> Result<(), Error> {
    if !is_uninit(&item.expr) {
        let text = format!(
            "shared memory cannot be initialised: each block starts with it undefined; \
             write `static mut {}: MaybeUninit<{ty}> = MaybeUninit::uninit();`, let threads fill it, then `sync_threads()`",
            item.ident,
            ty = written(&without_maybe_uninit(&item.ty)),
        );
        return Err(Error::new_spanned(&item.expr, text));
    }
    if !is_mut {
        let text = format!(
            "an immutable shared variable could never hold a value: write `static mut {}: {} = …`",
            item.ident,
            written(&item.ty)
        );
        return Err(Error::new(item.static_token.span(), text));
    }
    Ok(())
}

/// `T` of `MaybeUninit<T>`, so that the advice does not wrap it twice.
fn without_maybe_uninit(ty: &syn::Type) -> TokenStream {
    if let syn::Type::Path(path) = ty
        && let Some(last) = path.path.segments.last()
        && last.ident == "MaybeUninit"
        && let syn::PathArguments::AngleBracketed(arguments) = &last.arguments
    {
        return arguments.args.to_token_stream();
    }
    ty.to_token_stream()
}

/// `MaybeUninit::uninit()`, by whatever path, an array repeating it, or a `const` block around it.
fn is_uninit(expr: &Expr) -> bool {
    match expr {
        Expr::Call(call) => {
            call.args.is_empty()
                && matches!(&*call.func, Expr::Path(path)
                    if path.path.segments.last().is_some_and(|last| last.ident == "uninit"))
        }
        Expr::Repeat(repeat) => is_uninit(&repeat.expr),
        Expr::Const(block) => is_uninit_block(&block.block),
        Expr::Paren(paren) => is_uninit(&paren.expr),
        Expr::Group(group) => is_uninit(&group.expr),
        _ => false,
    }
}

fn is_uninit_block(block: &Block) -> bool {
    matches!(block.stmts.as_slice(), [Stmt::Expr(expr, None)] if is_uninit(expr))
}

/// The syntax says `uninit()`; this makes sure that it is `MaybeUninit`'s.
fn shared_type_check(item: &ItemStatic) -> TokenStream {
    let ty = &item.ty;
    let cfgs = item.attrs.iter().filter(|attr| attr.path().is_ident("cfg"));
    quote_spanned! {ty.span()=>
        #(#cfgs)*
        const _: () = ::cuda_std::__private::must_be_uninit::<#ty>();
    }
}
