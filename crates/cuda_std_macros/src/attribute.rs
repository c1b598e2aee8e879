//! Small questions about attributes that several macros ask.

use syn::{Attribute, Ident, Meta};

/// The attribute's name, looking through `unsafe(…)`: `no_mangle` for `#[no_mangle]` and for `#[unsafe(no_mangle)]`.
pub(crate) fn name(attr: &Attribute) -> Option<String> {
    let name = attr.path().get_ident()?.to_string();
    if name == "unsafe"
        && let Meta::List(list) = &attr.meta
        && let Ok(inner) = syn::parse2::<Meta>(list.tokens.clone())
    {
        return inner.path().get_ident().map(Ident::to_string);
    }
    Some(name)
}

/// Whether any of `attrs` gives the item a symbol of its own.
pub(crate) fn any_names_the_symbol(attrs: &[Attribute]) -> bool {
    attrs.iter().filter_map(name).any(|name| name == "no_mangle" || name == "export_name")
}
