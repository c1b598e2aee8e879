//! Tokens the way a user writes them, for error messages.

use quote::ToTokens;

/// The text of a type or the like: `*mut Vec<f32>`, where the tokens alone would read `* mut Vec < f32 >`.
pub(crate) fn written(tokens: &impl ToTokens) -> String {
    let text = tokens.to_token_stream().to_string();
    [
        ("< ", "<"),
        (" <", "<"),
        (" >", ">"),
        (" :: ", "::"),
        ("* ", "*"),
        ("& ", "&"),
        (" ,", ","),
        (" ;", ";"),
    ]
    .iter()
    .fold(text, |text, (from, to)| text.replace(from, to))
}
