//! Initialisers: their shape, and the symbols whose addresses they hold.

use super::{Checker, Symbol};
use crate::ast::{Initializer, Variable};
use crate::error::Error;

impl<'a> Checker<'a, '_> {
    /// Checks a variable's initialiser once the names it may use are known.
    pub(super) fn initializer_of(&self, variable: &Variable) -> Result<(), Error> {
        let Some(init) = &variable.init else { return Ok(()) };
        if let Initializer::Fields(_) = init {
            if variable.ty.is_opaque() && variable.dims.is_empty() {
                return Ok(());
            }
            let problem = "only a texture, sampler or surface reference has named properties";
            return Err(self.bad(&variable.name, problem, variable.span));
        }
        // The extents that braces may stand for, outermost first.
        let mut extents: Vec<Option<u64>> = variable.dims.clone();
        if variable.vector > 1 {
            extents.push(Some(variable.vector.into()));
        }
        if !extents.is_empty() && !matches!(init, Initializer::List(_)) {
            let problem = "an array or vector is initialised with a list in braces";
            return Err(self.bad(&variable.name, problem, variable.span));
        }
        self.value(variable, init, &extents)
    }

    /// One value, which may be a list as deep as there are extents. The parser bounds the depth of
    /// lists.
    fn value(
        &self,
        variable: &Variable,
        init: &Initializer,
        extents: &[Option<u64>],
    ) -> Result<(), Error> {
        let fail = |problem| Err(self.bad(&variable.name, problem, variable.span));
        match init {
            Initializer::List(values) => {
                let Some((extent, inner)) = extents.split_first() else {
                    return fail(
                        "its initialiser has more levels of braces than it has dimensions",
                    );
                };
                // A list without inner braces may run over several dimensions, as in C.
                let flat = !values.iter().any(|value| matches!(value, Initializer::List(_)));
                let room = match (extent, flat) {
                    (None, _) => None,
                    (Some(_), true) => {
                        extents.iter().try_fold(1_u64, |all, one| all.checked_mul((*one)?))
                    }
                    (Some(extent), false) => Some(*extent),
                };
                if room.is_some_and(|room| values.len() as u64 > room) {
                    return fail("its initialiser has more values than it has elements");
                }
                values.iter().try_for_each(|value| self.value(variable, value, inner))
            }
            Initializer::Immediate(_) => Ok(()),
            Initializer::Address { symbol, .. } => {
                if variable.ty.bytes().is_none_or(|bytes| bytes < 4) {
                    return fail(
                        "an address needs 4 or 8 bytes; take one byte of it with a mask, `0xFF(x)`",
                    );
                }
                self.address_of(variable, symbol)
            }
            Initializer::Masked { mask, inner } => match &**inner {
                Initializer::Address { symbol, .. } => {
                    let byte = mask >> (mask.trailing_zeros().min(63) / 8 * 8);
                    if byte != 0xFF {
                        return fail(
                            "the mask of an address selects one byte: `0xFF`, `0xFF00`, …",
                        );
                    }
                    self.address_of(variable, symbol)
                }
                _ => fail("a mask is applied to the address of a symbol"),
            },
            Initializer::Fields(_) => fail("named properties stand in no list"),
        }
    }

    fn address_of(&self, variable: &Variable, symbol: &str) -> Result<(), Error> {
        let expected = "a variable or function";
        match self.scopes.find(symbol).map(|found| found.value) {
            Some(Symbol::Variable(_) | Symbol::Function(_) | Symbol::Alias(_)) => Ok(()),
            Some(other) => Err(self.wrong_kind(symbol, other.describe(), expected, variable.span)),
            None => Err(self.unknown(symbol, expected, variable.span)),
        }
    }
}
