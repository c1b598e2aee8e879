//! Names by scope, with numbered register families: `%r<100>` declares `%r0` to `%r99` in one entry.

use std::collections::HashMap;

/// Declared names, innermost scope first. What a name stands for is the caller's `T`.
///
/// ```
/// let mut scopes = ptx::scope::Scopes::new();
/// scopes.declare_family("%r", 10, "registers").expect("the first declaration");
/// scopes.enter();
/// scopes.declare("%r3", "a register of the inner scope").expect("shadows the outer one");
/// assert_eq!(scopes.find("%r3").map(|found| found.value), Some("a register of the inner scope"));
/// assert_eq!(scopes.find("%r9").map(|found| (found.value, found.number)), Some(("registers", Some(9))));
/// assert!(scopes.find("%r10").is_none());
/// scopes.leave();
/// assert_eq!(scopes.find("%r3").map(|found| found.value), Some("registers"));
/// ```
#[derive(Clone, Debug)]
pub struct Scopes<'a, T> {
    levels: Vec<Level<'a, T>>,
}

#[derive(Clone, Debug)]
struct Level<'a, T> {
    names: HashMap<&'a str, T>,
    /// Families by prefix, with how many members each has.
    families: HashMap<&'a str, (u32, T)>,
    /// For every way to read a declared name as prefix and number: the lowest number of that prefix, and
    /// what has it. Shows in one step whether a new family would contain a name that exists.
    lowest: HashMap<&'a str, (u32, T)>,
}

/// A name that was found.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Found<T> {
    /// What it stands for.
    pub value: T,
    /// Which member of a family it is; `None` for a name of its own.
    pub number: Option<u32>,
    /// How deep the scope that declares it is nested; 0 is the outermost.
    pub depth: usize,
}

impl<T: Copy> Default for Scopes<'_, T> {
    fn default() -> Self {
        Self::new()
    }
}

impl<'a, T: Copy> Scopes<'a, T> {
    /// One scope, empty.
    pub fn new() -> Self {
        Self { levels: vec![Level::new()] }
    }

    /// Opens a scope inside the innermost one.
    pub fn enter(&mut self) {
        self.levels.push(Level::new());
    }

    /// Closes the innermost scope. The outermost stays.
    pub fn leave(&mut self) {
        if self.levels.len() > 1 {
            self.levels.pop();
        }
    }

    /// Closes scopes until `depth` are open; the outermost stays.
    pub fn truncate(&mut self, depth: usize) {
        self.levels.truncate(depth.max(1));
    }

    /// Declares a name in the innermost scope.
    ///
    /// # Errors
    /// What the name stands for already in this very scope. Names of outer scopes are hidden.
    pub fn declare(&mut self, name: &'a str, value: T) -> Result<(), T> {
        let level = self.innermost();
        let existing = level.names.get(name).copied();
        if let Some(existing) = existing.or_else(|| level.family_member(name)) {
            return Err(existing);
        }
        level.names.insert(name, value);
        for (prefix, number) in splits(name) {
            level.note(prefix, number, value);
        }
        Ok(())
    }

    /// Declares `prefix0` to `prefix(count-1)` in the innermost scope.
    ///
    /// # Errors
    /// What one of these names stands for already in this very scope.
    pub fn declare_family(&mut self, prefix: &'a str, count: u32, value: T) -> Result<(), T> {
        if count == 0 {
            return Ok(());
        }
        let level = self.innermost();
        let same = level.families.get(prefix).map(|(_, existing)| *existing);
        let inside = level.lowest.get(prefix).filter(|(number, _)| *number < count);
        let around =
            first_members(prefix).find_map(|(shorter, number)| level.member(shorter, number));
        if let Some(existing) = same.or(inside.map(|(_, existing)| *existing)).or(around) {
            return Err(existing);
        }
        level.families.insert(prefix, (count, value));
        level.note(prefix, 0, value);
        for (shorter, number) in first_members(prefix) {
            level.note(shorter, number, value);
        }
        Ok(())
    }

    /// What a name stands for, in the innermost scope that declares it.
    pub fn find(&self, name: &str) -> Option<Found<T>> {
        self.levels.iter().enumerate().rev().find_map(|(depth, level)| {
            if let Some(value) = level.names.get(name) {
                return Some(Found { value: *value, number: None, depth });
            }
            if level.families.is_empty() {
                return None;
            }
            splits(name).find_map(|(prefix, number)| {
                let value = level.member(prefix, number)?;
                Some(Found { value, number: Some(number), depth })
            })
        })
    }

    fn innermost(&mut self) -> &mut Level<'a, T> {
        if self.levels.is_empty() {
            self.levels.push(Level::new());
        }
        let top = self.levels.len() - 1;
        &mut self.levels[top]
    }
}

impl<'a, T: Copy> Level<'a, T> {
    fn new() -> Self {
        // Empty maps own no memory: scopes without declarations are cheap.
        Self { names: HashMap::new(), families: HashMap::new(), lowest: HashMap::new() }
    }

    fn member(&self, prefix: &str, number: u32) -> Option<T> {
        self.families.get(prefix).filter(|(count, _)| number < *count).map(|(_, value)| *value)
    }

    fn family_member(&self, name: &str) -> Option<T> {
        splits(name).find_map(|(prefix, number)| self.member(prefix, number))
    }

    fn note(&mut self, prefix: &'a str, number: u32, value: T) {
        let lowest = self.lowest.entry(prefix).or_insert((number, value));
        if number < lowest.0 {
            *lowest = (number, value);
        }
    }
}

/// Every way to read a name as a prefix and a number without leading zeros, longest number first.
fn splits(name: &str) -> impl Iterator<Item = (&str, u32)> {
    let digits = name.bytes().rev().take(10).take_while(u8::is_ascii_digit).count();
    let end = name.len();
    // Digits are ASCII: every split is at a character boundary.
    (end - digits..end).filter_map(move |at| {
        let (prefix, number) = name.split_at(at);
        if number.len() > 1 && number.starts_with('0') {
            return None;
        }
        Some((prefix, number.parse().ok()?))
    })
}

/// The ways to read member 0 of a family as a member of a family with a shorter prefix: `%r10` of
/// `%r1<5>` is also number 10 of `%r`. Member 0 has the lowest such number, so that families meet if
/// and only if they meet there.
fn first_members(prefix: &str) -> impl Iterator<Item = (&str, u32)> {
    splits(prefix)
        .filter(|(_, number)| *number > 0)
        .filter_map(|(shorter, number)| Some((shorter, number.checked_mul(10)?)))
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    #[test]
    fn splits_have_no_leading_zeros() {
        let all: Vec<(&str, u32)> = splits("%r120").collect();
        assert_eq!(all, [("%r", 120), ("%r1", 20), ("%r12", 0)]);
        let all: Vec<(&str, u32)> = splits("x00").collect();
        assert_eq!(all, [("x0", 0)]);
        assert_eq!(splits("abc").count(), 0);
        assert_eq!(splits("99999999999999").last(), Some(("9999999999999", 9)));
    }

    #[test]
    fn families_that_share_a_member_clash() {
        let mut scopes = Scopes::new();
        assert_eq!(scopes.declare_family("%r", 11, 1), Ok(()));
        assert_eq!(scopes.declare_family("%r1", 5, 2), Err(1), "%r10");
        assert_eq!(scopes.declare_family("%r2", 5, 3), Ok(()), "%r20 is not in %r<11>");
        assert_eq!(scopes.declare_family("%r", 2, 4), Err(1));
        assert_eq!(scopes.declare("%r10", 5), Err(1));
        assert_eq!(scopes.declare("%r11", 6), Ok(()));
        assert_eq!(scopes.declare("%r11", 7), Err(6));
    }

    proptest! {
        #![proptest_config(ProptestConfig::with_cases(1024))]
        /// Against the plain meaning of a family: the set of its members' names.
        #[test]
        fn agrees_with_written_out_families(
            declarations in proptest::collection::vec(("[ab][012]{0,3}", proptest::option::of(0_u32..130)), 1..8),
            looked_up in "[ab][012]{0,4}",
        ) {
            let mut scopes = Scopes::new();
            let mut plain: HashMap<String, usize> = HashMap::new();
            for (index, (name, count)) in declarations.iter().enumerate() {
                let members: Vec<String> = match count {
                    Some(count) => (0..*count).map(|number| format!("{name}{number}")).collect(),
                    None => vec![name.clone()],
                };
                let clash = members.iter().any(|member| plain.contains_key(member));
                let declared = match count {
                    Some(count) => scopes.declare_family(name, *count, index).is_ok(),
                    None => scopes.declare(name, index).is_ok(),
                };
                prop_assert_eq!(declared, !clash, "{} {:?} after {:?}", name, count, &declarations[..index]);
                if declared {
                    plain.extend(members.into_iter().map(|member| (member, index)));
                }
            }
            prop_assert_eq!(scopes.find(&looked_up).map(|found| found.value), plain.get(&looked_up).copied());
        }
    }
}
