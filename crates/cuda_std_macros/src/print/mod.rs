//! `print!` and `println!`: one call of `vprintf`, its C format string made at compile time.
//!
//! The macro reads the format string, but not the types of the values. Its output names each value's formatting trait and
//! leaves the C format string to a constant of `cuda_std::io`, where the types are known.

mod parse;

use proc_macro2::{Span, TokenStream};
use quote::{format_ident, quote, quote_spanned};
use syn::ext::IdentExt;
use syn::parse::{Parse, ParseStream};
use syn::spanned::Spanned;
use syn::{Error, Expr, Ident, LitStr, Token};

use parse::{Align, Argument, Kind, Piece, Spec};

/// CUDA's `printf` takes this many values at most (CUDA C++ Programming Guide, "Formatted Output").
const MOST_VALUES: usize = 32;

/// `"format", a, b, name = c`.
struct Input {
    format: LitStr,
    arguments: Vec<(Option<Ident>, Expr)>,
}

impl Parse for Input {
    fn parse(input: ParseStream<'_>) -> syn::Result<Self> {
        let format = input.parse().map_err(|error| {
            Error::new(
                error.span(),
                "the first argument is the format string, as a literal: write `\"{}\", value`",
            )
        })?;
        let mut arguments = Vec::new();
        while !input.is_empty() {
            input.parse::<Token![,]>()?;
            if input.is_empty() {
                break;
            }
            let is_named = input.peek(Ident::peek_any)
                && input.peek2(Token![=])
                && !input.peek2(Token![==])
                && !input.peek2(Token![=>]);
            let name = if is_named {
                let name = input.call(Ident::parse_any)?;
                input.parse::<Token![=]>()?;
                Some(name)
            } else {
                None
            };
            arguments.push((name, input.parse()?));
        }
        Ok(Self { format, arguments })
    }
}

/// The print, with `end` behind it.
pub(crate) fn expand(input: TokenStream, end: &str) -> TokenStream {
    let result = if input.is_empty() {
        let format = LitStr::new("", Span::call_site());
        let arguments = Vec::new();
        try_expand(Input { format, arguments }, end)
    } else {
        syn::parse2(input).and_then(|input| try_expand(input, end))
    };
    result.unwrap_or_else(Error::into_compile_error)
}

fn try_expand(input: Input, end: &str) -> Result<TokenStream, Error> {
    let Input { format, arguments } = input;
    let text = format.value() + end;
    let pieces = parse::parse(&text).map_err(|error| Error::new(format.span(), error))?;
    let mut values = Values::new(arguments);

    let mut plan = Plan::default();
    for piece in &pieces {
        match piece {
            Piece::Text(text) => plan.text(text),
            Piece::Value { argument, spec } => {
                let value = values.find(argument, &format)?;
                plan.value(value, values.span(value), spec);
            }
        }
    }
    values.check_all_used()?;
    if plan.slots.len() > MOST_VALUES {
        let text = format!(
            "CUDA's printf takes at most {MOST_VALUES} values, and these are {}: print them in several calls",
            plan.slots.len()
        );
        return Err(Error::new(format.span(), text));
    }
    Ok(output(&plan, &values))
}

fn output(plan: &Plan, values: &Values) -> TokenStream {
    let Plan { pieces, slots, host, c_bytes } = plan;
    let count = slots.len();
    // `((), …)` from the end: a list of nested pairs.
    let list = slots.iter().rev().fold(quote!(()), |rest, slot| quote!((#slot, #rest)));
    let c_bytes = c_bytes + 1;
    let names: Vec<Ident> = (0..values.expressions.len()).map(value_name).collect();
    let expressions = &values.expressions;
    quote! {
        // The values first: the names inside cannot get in their way.
        match (#(&(#expressions),)*) {
            (#(#names,)*) => {
                struct Format;
                impl ::cuda_std::io::__private::Format for Format {
                    const PIECES: &'static [::cuda_std::io::__private::Piece] = &[#(#pieces),*];
                }
                ::cuda_std::io::__private::print::<Format, #c_bytes, #count, _>(&#list);
                #[cfg(not(target_arch = "nvptx64"))]
                ::cuda_std::io::__private::host_print(::core::format_args!(#host, #(*#names),*));
            }
        }
    }
}

/// The variable that holds a reference to a value.
fn value_name(index: usize) -> Ident {
    format_ident!("value_{index}", span = Span::mixed_site())
}

/// What the output is made of, collected piece by piece.
#[derive(Default)]
struct Plan {
    /// The constants.
    pieces: Vec<TokenStream>,
    /// One call for each conversion.
    slots: Vec<TokenStream>,
    /// The same as a Rust format string, for the host.
    host: String,
    /// Upper bound for the bytes of the C format string, without the NUL.
    c_bytes: usize,
}

impl Plan {
    fn text(&mut self, text: &str) {
        self.pieces.push(quote!(::cuda_std::io::__private::Piece::Text(#text)));
        self.host.push_str(&text.replace('{', "{{").replace('}', "}}"));
        // Each `%` is doubled.
        self.c_bytes += text.len() + text.matches('%').count();
    }

    fn value(&mut self, value: usize, span: Span, spec: &Spec) {
        let name = value_name(value);
        let function = match spec.kind {
            Kind::Display => "plain",
            Kind::Debug => "debug",
            Kind::LowerHex | Kind::UpperHex | Kind::Octal => "digits",
            Kind::LowerExp | Kind::UpperExp => "exponent",
            Kind::Pointer => "address",
        };
        let function = Ident::new(function, span);
        // At the value's place, which is where rustc then reports a type that cannot be printed.
        self.slots.push(quote_spanned!(span=> ::cuda_std::io::__private::#function(#name)));
        self.pieces.push(conversion(spec));
        self.host.push_str(&format!("{{{value}:{}}}", spec.text));
        let digits = |number: Option<u32>| number.map_or(0, |number| number.to_string().len());
        // `+` or `0x`, `%`, `+`, `0` or `-`, width, `.`, precision (two digits if none is given), `llx`.
        self.c_bytes += 3 + 3 + digits(spec.width) + 1 + digits(spec.precision).max(2) + 3;
    }
}

fn conversion(spec: &Spec) -> TokenStream {
    let Spec { plus, alternate, zero, .. } = spec;
    let kind = match spec.kind {
        Kind::Display | Kind::Debug => quote!(Plain),
        Kind::LowerHex => quote!(LowerHex),
        Kind::UpperHex => quote!(UpperHex),
        Kind::Octal => quote!(Octal),
        Kind::LowerExp => quote!(LowerExp),
        Kind::UpperExp => quote!(UpperExp),
        Kind::Pointer => quote!(Pointer),
    };
    let align = match spec.align {
        None => quote!(Default),
        Some(Align::Left) => quote!(Left),
        Some(Align::Right) => quote!(Right),
    };
    let width = spec.width.unwrap_or(0);
    let precision = match spec.precision {
        Some(precision) => quote!(::core::option::Option::Some(#precision)),
        None => quote!(::core::option::Option::None),
    };
    quote! {
        ::cuda_std::io::__private::Piece::Value(::cuda_std::io::__private::Conversion {
            kind: ::cuda_std::io::__private::Kind::#kind,
            plus: #plus,
            alternate: #alternate,
            zero: #zero,
            align: ::cuda_std::io::__private::Align::#align,
            width: #width,
            precision: #precision,
        })
    }
}

/// The arguments, and the variables that the format string names.
struct Values {
    names: Vec<Option<String>>,
    expressions: Vec<Expr>,
    used: Vec<bool>,
    /// Arguments as given; behind them come captured variables.
    given: usize,
    /// What the next `{}` prints.
    next: usize,
}

impl Values {
    fn new(arguments: Vec<(Option<Ident>, Expr)>) -> Self {
        let (names, expressions): (Vec<_>, Vec<_>) = arguments
            .into_iter()
            .map(|(name, expression)| (name.map(|name| name.unraw().to_string()), expression))
            .unzip();
        Self {
            used: vec![false; expressions.len()],
            given: expressions.len(),
            next: 0,
            names,
            expressions,
        }
    }

    fn span(&self, value: usize) -> Span {
        self.expressions[value].span()
    }

    /// The number of the value that `argument` means.
    fn find(&mut self, argument: &Argument, format: &LitStr) -> Result<usize, Error> {
        let value = match argument {
            Argument::Next => {
                let value = self.next;
                self.next += 1;
                self.check_position(value, format)?
            }
            Argument::Position(value) => self.check_position(*value, format)?,
            Argument::Name(name) => {
                let known =
                    self.names.iter().position(|known| known.as_deref() == Some(name.as_str()));
                known.unwrap_or_else(|| self.capture(name, format))
            }
        };
        self.used[value] = true;
        Ok(value)
    }

    fn check_position(&self, value: usize, format: &LitStr) -> Result<usize, Error> {
        if value < self.given {
            return Ok(value);
        }
        let text = format!(
            "the format string asks for argument number {value}, counted from 0, and {} {} given",
            self.given,
            if self.given == 1 { "is" } else { "are" }
        );
        Err(Error::new(format.span(), text))
    }

    /// A variable named in the format string itself.
    fn capture(&mut self, name: &str, format: &LitStr) -> usize {
        let is_plain = syn::parse_str::<Ident>(name).is_ok()
            || matches!(name, "self" | "Self" | "super" | "crate");
        let ident = if is_plain {
            Ident::new(name, format.span())
        } else {
            Ident::new_raw(name, format.span())
        };
        self.names.push(Some(name.to_owned()));
        self.expressions.push(syn::parse_quote!(#ident));
        self.used.push(false);
        self.expressions.len() - 1
    }

    fn check_all_used(&self) -> Result<(), Error> {
        match self.used.iter().position(|used| !used) {
            Some(unused) => Err(Error::new_spanned(
                &self.expressions[unused],
                "this argument is never printed: add a `{}` to the format string, or remove it",
            )),
            None => Ok(()),
        }
    }
}
