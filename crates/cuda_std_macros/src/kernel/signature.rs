//! What a function under `#[kernel]` must look like, and the parsed form that both outputs read.

use proc_macro2::{Span, TokenStream};
use quote::{ToTokens, format_ident};
use syn::spanned::Spanned;
use syn::{
    Attribute, Block, Error, FnArg, GenericParam, Generics, Ident, ItemFn, Pat, PatType,
    ReturnType, Signature, Token, Type, Visibility,
};

use super::limits::Limits;
use super::message;
use crate::attribute;

/// A kernel that passed every check of this module.
pub(crate) struct KernelSignature {
    /// Documentation, `cfg`s, lint levels: what stood above the function, less what the macro writes itself.
    pub(crate) attrs: Vec<Attribute>,
    pub(crate) vis: Visibility,
    /// The function's name, which is also the entry's name in PTX.
    pub(crate) ident: Ident,
    /// `Some` for an `unsafe fn`: such a kernel is launched in an `unsafe` block.
    pub(crate) unsafety: Option<Token![unsafe]>,
    /// Lifetimes only; nothing else may be generic.
    pub(crate) generics: Generics,
    pub(crate) params: Vec<KernelParam>,
    pub(crate) limits: Limits,
    pub(crate) body: Block,
}

/// One parameter as the user wrote it.
pub(crate) struct KernelParam {
    /// Lint levels and the like (never a `cfg`: host and device must see the same parameters).
    pub(crate) attrs: Vec<Attribute>,
    /// `mut n: usize`.
    pub(crate) mutability: Option<Token![mut]>,
    /// The name; for `_` a made-up one (`_0`, `_1`, … by position).
    pub(crate) ident: Ident,
    /// The type as written.
    pub(crate) ty: Type,
    pub(crate) kind: ParamKind,
}

/// How a parameter travels to the device.
pub(crate) enum ParamKind {
    /// `&[T]`: two PTX parameters, a 64-bit address and a 64-bit element count.
    Slice { element: Type },
    /// `DisjointSlice<T>`: as a slice.
    DisjointSlice { element: Type },
    /// `DisjointMatrix<T>`: an address, then rows and columns, 64 bits each.
    DisjointMatrix { element: Type },
    /// `&T` with `T: Sized`: one 64-bit address.
    Reference { target: Type },
    /// `*const T` or `*mut T`: one 64-bit address.
    Pointer { mutable: bool, target: Type },
    /// Anything else: by value, as its bytes, `T: Copy`. A zero-sized value takes no parameter.
    Value,
}

impl KernelSignature {
    /// Reads `#[kernel(options)] item`; the error holds every complaint about the signature, each at its place.
    pub(crate) fn parse(options: TokenStream, item: TokenStream) -> Result<Self, Error> {
        let function = parse_function(item)?;
        let mut complaints = Complaints::default();
        let limits = Limits::parse(options, &mut complaints);
        check_header(&function.sig, &mut complaints);

        let unsafety = match &function.sig.safety {
            syn::Safety::Unsafe(token) => Some(*token),
            _ => None,
        };
        let attrs = check_attributes(function.attrs, &mut complaints);
        let params: Vec<KernelParam> = function
            .sig
            .inputs
            .into_iter()
            .enumerate()
            .filter_map(|(position, input)| parse_param(position, input, &mut complaints))
            .collect();
        if unsafety.is_none() {
            for param in &params {
                if let ParamKind::Pointer { .. } = param.kind {
                    complaints.at(&param.ty, message::pointer_in_safe_kernel());
                }
            }
        }
        complaints.finish()?;

        Ok(Self {
            attrs,
            vis: function.vis,
            ident: function.sig.ident,
            unsafety,
            generics: function.sig.generics,
            params,
            limits,
            body: *function.block,
        })
    }
}

/// Collects complaints, so that one build shows them all.
#[derive(Default)]
pub(super) struct Complaints(Option<Error>);

impl Complaints {
    pub(super) fn at(&mut self, place: impl ToTokens, text: impl std::fmt::Display) {
        self.push(Error::new_spanned(place, text));
    }

    pub(super) fn push(&mut self, error: Error) {
        match &mut self.0 {
            Some(all) => all.combine(error),
            None => self.0 = Some(error),
        }
    }

    fn finish(self) -> Result<(), Error> {
        self.0.map_or(Ok(()), Err)
    }
}

fn parse_function(item: TokenStream) -> Result<ItemFn, Error> {
    let start = item.clone().into_iter().next().map_or_else(Span::call_site, |token| token.span());
    match syn::parse2::<syn::Item>(item)? {
        syn::Item::Fn(function) => Ok(function),
        _ => Err(Error::new(start, message::not_a_function())),
    }
}

fn check_header(signature: &Signature, complaints: &mut Complaints) {
    if let Some(token) = &signature.constness {
        complaints.at(token, message::const_kernel());
    }
    if let Some(token) = &signature.asyncness {
        complaints.at(token, message::async_kernel());
    }
    if let Some(abi) = &signature.abi {
        // rust-cuda's macro writes `extern "C"` itself, so its users may have written it too.
        let name = abi.name.as_ref().map_or(String::from("C"), |name| name.value());
        if !matches!(name.as_str(), "C" | "ptx-kernel") {
            complaints.at(abi, message::foreign_abi(&name));
        }
    }
    for generic in &signature.generics.params {
        match generic {
            GenericParam::Lifetime(_) => {}
            GenericParam::Type(_) => complaints.at(generic, message::generic_type()),
            GenericParam::Const(_) => complaints.at(generic, message::generic_const()),
        }
    }
    if let Some(clause) = &signature.generics.where_clause {
        complaints.at(clause, message::where_clause());
    }
    if let Some(variadic) = &signature.variadic {
        complaints.at(variadic, message::variadic());
    }
    if let ReturnType::Type(_, ty) = &signature.output
        && !matches!(&**ty, Type::Tuple(tuple) if tuple.elems.is_empty())
    {
        complaints.at(&signature.output, message::return_type());
    }
}

/// Takes out what the macro writes itself and refuses what would change the entry's name.
fn check_attributes(attrs: Vec<Attribute>, complaints: &mut Complaints) -> Vec<Attribute> {
    attrs
        .into_iter()
        .filter(|attr| match attribute::name(attr).as_deref() {
            Some("no_mangle") => false,
            Some("export_name") => {
                complaints.at(attr, message::export_name());
                false
            }
            _ => true,
        })
        .collect()
}

fn parse_param(position: usize, input: FnArg, complaints: &mut Complaints) -> Option<KernelParam> {
    let PatType { attrs, pat, ty, .. } = match input {
        FnArg::Typed(typed) => typed,
        FnArg::Receiver(receiver) => {
            complaints.at(&receiver, message::receiver());
            return None;
        }
    };
    for attr in &attrs {
        if attr.path().is_ident("cfg") || attr.path().is_ident("cfg_attr") {
            complaints.at(attr, message::cfg_on_parameter());
        }
    }
    let (mutability, ident) = match &*pat {
        Pat::Ident(name) if name.by_ref.is_none() && name.subpat.is_none() => {
            (name.mutability, name.ident.clone())
        }
        Pat::Wild(wild) => (None, format_ident!("_{position}", span = wild.span())),
        other => {
            complaints.at(other, message::pattern());
            (None, format_ident!("_{position}", span = other.span()))
        }
    };
    let kind = classify(&ty, complaints)?;
    Some(KernelParam { attrs, mutability, ident, ty: *ty, kind })
}

/// A type without the parentheses and invisible groups that macros put around it.
fn bare(ty: &Type) -> &Type {
    match ty {
        Type::Group(group) => bare(&group.elem),
        Type::Paren(paren) => bare(&paren.elem),
        other => other,
    }
}

fn classify(ty: &Type, complaints: &mut Complaints) -> Option<ParamKind> {
    let complaint = match bare(ty) {
        Type::Reference(reference) => {
            let target = bare(&reference.elem);
            match (target, reference.mutability.is_some()) {
                (Type::Slice(slice), true) => message::mutable_slice(&slice.elem),
                (target, true) => message::mutable_reference(target),
                (Type::Slice(slice), false) => {
                    return Some(ParamKind::Slice { element: (*slice.elem).clone() });
                }
                (Type::Path(path), false) if path.path.is_ident("str") => message::str_slice(),
                (Type::TraitObject(_) | Type::ImplTrait(_), false) => message::trait_type(),
                (target, false) => {
                    return Some(ParamKind::Reference { target: target.clone() });
                }
            }
        }
        Type::Ptr(pointer) => {
            let mutable = matches!(pointer.mutability, syn::PointerMutability::Mut(_));
            match bare(&pointer.elem) {
                Type::Slice(slice) => message::slice_pointer(&slice.elem, mutable),
                Type::Path(path) if path.path.is_ident("str") => message::str_slice(),
                Type::TraitObject(_) => message::trait_type(),
                target => {
                    return Some(ParamKind::Pointer { mutable, target: target.clone() });
                }
            }
        }
        Type::Slice(slice) => message::unsized_slice(&slice.elem),
        Type::ImplTrait(_) | Type::TraitObject(_) => message::trait_type(),
        Type::FnPtr(_) => message::function_pointer(),
        Type::Never(_) => message::never(),
        Type::Path(path) => return Some(classify_path(&path.path)),
        _ => return Some(ParamKind::Value),
    };
    complaints.at(ty, complaint);
    None
}

/// By the name alone: the macro does not see what it means. Under another name the type is refused, not being `Copy`.
fn classify_path(path: &syn::Path) -> ParamKind {
    let Some(last) = path.segments.last() else {
        return ParamKind::Value;
    };
    let syn::PathArguments::AngleBracketed(arguments) = &last.arguments else {
        return ParamKind::Value;
    };
    let element = arguments.args.iter().find_map(|argument| match argument {
        syn::GenericArgument::Type(ty) => Some(ty.clone()),
        _ => None,
    });
    match (element, last.ident.to_string().as_str()) {
        (Some(element), "DisjointSlice") => ParamKind::DisjointSlice { element },
        (Some(element), "DisjointMatrix") => ParamKind::DisjointMatrix { element },
        _ => ParamKind::Value,
    }
}
