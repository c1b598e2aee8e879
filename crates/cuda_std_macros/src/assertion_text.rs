//! The message of a failed comparison. Only a format string without values survives the device's panic handler.

use proc_macro2::{Delimiter, TokenStream, TokenTree};
use quote::ToTokens;
use syn::LitStr;

/// A string literal for tokens such as `a, ==, b`.
pub(crate) fn expand(input: TokenStream) -> TokenStream {
    let text: String = split_at_commas(input).iter().map(written).collect::<Vec<_>>().join(" ");
    let message = format!("assertion failed: `{text}`").replace('{', "{{").replace('}', "}}");
    LitStr::new(&message, proc_macro2::Span::call_site()).into_token_stream()
}

/// The parts between top-level commas. Expressions come in invisible groups, so their own commas are out of sight.
fn split_at_commas(input: TokenStream) -> Vec<TokenStream> {
    let mut parts = vec![TokenStream::new()];
    for token in input {
        match token {
            TokenTree::Punct(comma) if comma.as_char() == ',' => parts.push(TokenStream::new()),
            token => {
                if let Some(part) = parts.last_mut() {
                    part.extend([token]);
                }
            }
        }
    }
    parts
}

/// One part, without the invisible group around it: the compiler then writes its tokens as the user spaced them.
fn written(part: &TokenStream) -> String {
    let mut tokens = part.clone().into_iter();
    if let (Some(TokenTree::Group(group)), None) = (tokens.next(), tokens.next())
        && group.delimiter() == Delimiter::None
    {
        return group.stream().to_string();
    }
    part.to_string()
}

#[cfg(test)]
mod tests {
    use super::expand;
    use quote::quote;

    #[test]
    fn braces_are_no_places_for_values() {
        let text = expand(quote!(f(a, b), ==, Point { x })).to_string();
        assert!(text.contains("{{"), "{text}");
        assert!(!text.replace("{{", "").contains('{'), "{text}");
        assert!(text.starts_with("\"assertion failed: `"), "{text}");
    }
}
