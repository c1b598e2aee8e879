//! The functions of the C library that Rust's own `core` calls: comparing slices of bytes, searching in strings, `CStr`.
//!
//! On other targets a C library or `compiler_builtins` has them; the latter's are not among what the linker merges here. Copies and
//! fills (`memcpy`, `memmove`, `memset`) are not among them: LLVM makes loops of these itself.

use std::borrow::Cow;

/// How bytes compare: the first pair that differs decides. `bcmp` says no more than whether there is one, so `memcmp`'s answer does for it.
const COMPARE: (&str, &str) = (
    "i32",
    "\
(ptr readonly %a, ptr readonly %b, i64 %bytes) nounwind {
start:
  %none = icmp eq i64 %bytes, 0
  br i1 %none, label %same, label %compare
compare:
  %at = phi i64 [ 0, %start ], [ %next, %equal ]
  %a.at = getelementptr inbounds i8, ptr %a, i64 %at
  %b.at = getelementptr inbounds i8, ptr %b, i64 %at
  %a.byte = load i8, ptr %a.at, align 1
  %b.byte = load i8, ptr %b.at, align 1
  %differ = icmp ne i8 %a.byte, %b.byte
  br i1 %differ, label %different, label %equal
equal:
  %next = add nuw i64 %at, 1
  %end = icmp eq i64 %next, %bytes
  br i1 %end, label %same, label %compare
different:
  %a.wide = zext i8 %a.byte to i32
  %b.wide = zext i8 %b.byte to i32
  %difference = sub nsw i32 %a.wide, %b.wide
  ret i32 %difference
same:
  ret i32 0
}
",
);

/// How long a text is that ends in a NUL.
const LENGTH: (&str, &str) = (
    "i64",
    "\
(ptr readonly %text) nounwind {
start:
  br label %look
look:
  %at = phi i64 [ 0, %start ], [ %next, %look ]
  %byte.at = getelementptr inbounds i8, ptr %text, i64 %at
  %byte = load i8, ptr %byte.at, align 1
  %next = add nuw i64 %at, 1
  %end = icmp eq i8 %byte, 0
  br i1 %end, label %found, label %look
found:
  ret i64 %at
}
",
);

/// Name and definition of each: its result, and all behind its name. Byte by byte, as they have to work at any alignment; where a length
/// is known, LLVM unrolls them.
const DEFINITIONS: [(&str, (&str, &str)); 3] =
    [("@memcmp", COMPARE), ("@bcmp", COMPARE), ("@strlen", LENGTH)];

/// The textual module with a definition in place of the declaration of each of these functions that it has.
pub(crate) fn define(module: &str) -> Cow<'_, str> {
    let declared =
        |name: &str| module.lines().any(|line| declares(line, name)) && !defines(module, name);
    let wanted: Vec<_> = DEFINITIONS.iter().filter(|(name, _)| declared(name)).collect();
    if wanted.is_empty() {
        return Cow::Borrowed(module);
    }
    let mut out = String::with_capacity(module.len() + 2048);
    for line in module.lines() {
        match wanted.iter().find(|(name, _)| declares(line, name)) {
            Some((name, (result, rest))) => {
                out.extend(["define internal ", result, " ", name, rest]);
            }
            None => {
                out.push_str(line);
                out.push('\n');
            }
        }
    }
    Cow::Owned(out)
}

fn declares(line: &str, name: &str) -> bool {
    line.starts_with("declare ") && names(line, name)
}

/// A kernel crate may bring its own.
fn defines(module: &str, name: &str) -> bool {
    module.lines().any(|line| line.starts_with("define ") && names(line, name))
}

fn names(line: &str, name: &str) -> bool {
    line.find(name).is_some_and(|at| line[at + name.len()..].starts_with('('))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn declarations_become_definitions() {
        let module = "\
declare noundef i32 @memcmp(ptr, ptr, i64) unnamed_addr #5
declare i32 @memcmp_s(ptr, ptr, i64)
define void @f() {
  %1 = call i32 @memcmp(ptr %a, ptr %b, i64 3)
}
";
        let defined = define(module);
        assert!(defined.starts_with("define internal i32 @memcmp(ptr readonly %a"), "{defined}");
        assert!(defined.ends_with(module.split_once('\n').expect("a line").1), "{defined}");
        assert_eq!(defined.matches("memcmp(").count(), 2);
    }

    #[test]
    fn other_modules_stay() {
        for module in
            ["", "declare void @f()\n", "define i32 @memcmp(ptr %a, ptr %b, i64 %n) {\n}\n"]
        {
            assert!(matches!(define(module), Cow::Borrowed(same) if same == module));
        }
    }
}
