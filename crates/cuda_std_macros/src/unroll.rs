//! `unroll!`: a loop of a known number of rounds, written out.

use proc_macro2::TokenStream;
use quote::{ToTokens, quote};
use syn::visit::{self, Visit};
use syn::{
    Error, Expr, ExprBreak, ExprClosure, ExprContinue, ExprForLoop, ExprLit, ExprLoop, ExprRange,
    ExprWhile, Item, Lit, LitInt, RangeLimits,
};

/// More rounds than this make a program that no cache of instructions holds.
const MOST_ROUNDS: u128 = 1024;

pub(crate) fn expand(input: TokenStream) -> TokenStream {
    match unrolled(input) {
        Ok(rounds) => rounds,
        Err(error) => error.into_compile_error(),
    }
}

fn unrolled(input: TokenStream) -> Result<TokenStream, Error> {
    let found: ExprForLoop = syn::parse2(input.clone()).map_err(|_| {
        Error::new_spanned(&input, "`unroll!` takes one loop: `unroll! { for i in 0..8 { … } }`")
    })?;
    if let Some(label) = &found.label {
        return Err(Error::new_spanned(
            label,
            "there is no loop left that the label could name: remove it",
        ));
    }
    if let Some(attribute) = found.attrs.first() {
        return Err(Error::new_spanned(attribute, "there is no loop left for the attribute"));
    }
    let (range, suffix) = rounds(&found.expr)?;
    let mut jumps = Jumps(None);
    jumps.visit_block(&found.body);
    if let Some(error) = jumps.0 {
        return Err(error);
    }
    let (pat, body) = (&found.pat, &found.body);
    let rounds = range.map(|round| {
        let mut number = LitInt::new(&format!("{round}{suffix}"), proc_macro2::Span::call_site());
        number.set_span(syn::spanned::Spanned::span(&found.expr));
        quote! {{
            #[allow(unused_variables)]
            let #pat = #number;
            #body
        }}
    });
    Ok(quote!({ #(#rounds)* }))
}

/// The numbers of the range, and the type that one of its ends has written behind it.
fn rounds(range: &Expr) -> Result<(std::ops::Range<u128>, String), Error> {
    let refused = || {
        Error::new_spanned(
            range,
            format!(
                "`unroll!` needs both ends of the range as numbers written out, as in `0..8`; `{}` is not",
                range.to_token_stream()
            ),
        )
    };
    let Expr::Range(ExprRange { start: Some(start), end: Some(end), limits, .. }) = range else {
        return Err(refused());
    };
    let (Some(first), Some(last)) = (integer(start), integer(end)) else {
        return Err(refused());
    };
    let suffix = if first.suffix().is_empty() { last.suffix() } else { first.suffix() };
    let (first, mut last): (u128, u128) = (first.base10_parse()?, last.base10_parse()?);
    if matches!(limits, RangeLimits::Closed(_)) {
        last = last.saturating_add(1);
    }
    let count = last.saturating_sub(first);
    if count > MOST_ROUNDS {
        return Err(Error::new_spanned(
            range,
            format!(
                "{count} rounds; `unroll!` writes out at most {MOST_ROUNDS}: put a loop around a shorter one"
            ),
        ));
    }
    Ok((first..last, suffix.to_owned()))
}

fn integer(end: &Expr) -> Option<&LitInt> {
    match end {
        Expr::Lit(ExprLit { lit: Lit::Int(number), .. }) => Some(number),
        _ => None,
    }
}

/// Looks for a `break` or `continue` of the loop that is no more.
struct Jumps(Option<Error>);

impl Jumps {
    fn refuse(&mut self, jump: &impl ToTokens, word: &str) {
        let text = format!(
            "`{word}` has no loop to act on in `unroll!`: use an `if` around the rest of the round, or an ordinary `for`"
        );
        self.0.get_or_insert_with(|| Error::new_spanned(jump, text));
    }
}

impl<'a> Visit<'a> for Jumps {
    fn visit_expr_break(&mut self, jump: &'a ExprBreak) {
        if jump.label.is_none() {
            self.refuse(jump, "break");
        }
        visit::visit_expr_break(self, jump);
    }

    fn visit_expr_continue(&mut self, jump: &'a ExprContinue) {
        if jump.label.is_none() {
            self.refuse(jump, "continue");
        }
    }

    // Loops, closures and items within have jumps of their own.
    fn visit_expr_for_loop(&mut self, inner: &'a ExprForLoop) {
        self.visit_expr(&inner.expr);
    }

    fn visit_expr_while(&mut self, _: &'a ExprWhile) {}

    fn visit_expr_loop(&mut self, _: &'a ExprLoop) {}

    fn visit_expr_closure(&mut self, _: &'a ExprClosure) {}

    fn visit_item(&mut self, _: &'a Item) {}
}
