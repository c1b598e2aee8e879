//! A global variable's definition, taken apart.
//!
//! LLVM Language Reference, "Global Variables":
//! `@name = [linkage] … [addrspace(n)] [externally_initialized] <global | constant> <type> [<initialiser>] [, section "…"]
//! [, align n] [, !dbg !n]*`, on one line.

use super::parser::Parser;
use super::token::Kind;

/// The parts of one definition, as slices of its line.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct GlobalVariable<'a> {
    /// The name with its `@`, and its quotes if it has any.
    pub(crate) name: &'a str,
    /// Everything between `=` and `global` or `constant`: linkage, visibility, `unnamed_addr`, …
    pub(crate) attributes: Vec<&'a str>,
    /// Whether it is a `constant`.
    pub(crate) constant: bool,
    /// The type.
    pub(crate) ty: &'a str,
    /// The initial value; `None` for a declaration.
    pub(crate) initialiser: Option<&'a str>,
    /// The section's name, without quotes.
    pub(crate) section: Option<&'a str>,
    /// What follows the initialiser, other than section and comdat, each as ` align 4`, ` !dbg !7`, …
    pub(crate) rest: Vec<&'a str>,
}

impl GlobalVariable<'_> {
    /// Whether the definition is private to the module.
    pub(crate) fn is_local(&self) -> bool {
        self.attributes.iter().any(|&attribute| matches!(attribute, "internal" | "private"))
    }
}

/// Reads a line as the definition of a global variable; `None` if it is anything else (a function, an alias, metadata, …).
pub(crate) fn parse(line: &str) -> Option<GlobalVariable<'_>> {
    if !line.starts_with('@') {
        return None;
    }
    let mut parser = Parser::new(line);
    let name = parser.next().filter(|token| token.kind == Kind::Global)?.text;
    parser.next().filter(|token| token.is("="))?;
    let mut attributes = Vec::new();
    let constant = loop {
        let start = parser.position();
        let token = parser.next()?;
        match token.text {
            "global" => break false,
            "constant" => break true,
            "alias" | "ifunc" => return None,
            _ => {}
        }
        if parser.peek().is_some_and(|token| token.is("(")) {
            parser.tree()?;
        }
        attributes.push(line[start..parser.position()].trim());
    };
    let ty = parser.ty()?;
    let start = parser.position();
    parser.skip_to_comma();
    let initialiser = Some(line[start..parser.position()].trim()).filter(|text| !text.is_empty());
    let mut section = None;
    let mut rest = Vec::new();
    while parser.next().is_some_and(|token| token.is(",")) {
        let start = parser.position();
        let word = parser.peek()?;
        parser.skip_to_comma();
        let clause = &line[start..parser.position()];
        if word.is("section") {
            section = clause.split('"').nth(1);
        } else if !word.is("comdat") {
            rest.push(clause.trim_end());
        }
    }
    Some(GlobalVariable { name, attributes, constant, ty, initialiser, section, rest })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn takes_a_definition_apart() {
        let line = r#"@_RNvC1k5TABLE = internal unnamed_addr constant [16 x i8] c"a, section\22b;", section ".cuda.constant", align 4, !dbg !7"#;
        assert_eq!(
            parse(line),
            Some(GlobalVariable {
                name: "@_RNvC1k5TABLE",
                attributes: vec!["internal", "unnamed_addr"],
                constant: true,
                ty: "[16 x i8]",
                initialiser: Some(r#"c"a, section\22b;""#),
                section: Some(".cuda.constant"),
                rest: vec![" align 4", " !dbg !7"],
            })
        );
    }

    #[test]
    fn splits_type_from_initialiser_whatever_the_type() {
        for (ty, initialiser) in [
            ("[4096 x i8]", "undef"),
            ("<{ ptr, [16 x i8] }>", r#"<{ ptr @a, [16 x i8] c"\01\02" }>"#),
            ("ptr", "@other"),
            ("ptr addrspace(3)", "null"),
            ("i32", "7"),
            ("float", "0x3FF0000000000000"),
            ("%\"my, type\"", "zeroinitializer"),
            ("<2 x float>", "<float 1.0, float 2.0>"),
            ("{ i32, { ptr, i64 } }", "poison"),
            ("target(\"spirv.Image\", i32, 0)", "zeroinitializer"),
            ("i64", "ptrtoint (ptr getelementptr inbounds (i8, ptr @a, i64 4) to i64)"),
        ] {
            let line = format!(
                "@x = dso_local local_unnamed_addr addrspace(1) global {ty} {initialiser}, comdat, align 16"
            );
            let global = parse(&line).expect("this is a global variable");
            assert_eq!((global.ty, global.initialiser), (ty, Some(initialiser)), "{line}");
            assert_eq!(global.attributes, ["dso_local", "local_unnamed_addr", "addrspace(1)"]);
            assert_eq!(global.rest, [" align 16"]);
        }
    }

    #[test]
    fn reads_declarations_and_quoted_names() {
        let global = parse(
            r#"@"a = global \22" = external global [0 x i8], align 16 ; comment, section ".x""#,
        )
        .expect("a declaration");
        assert_eq!(
            (global.name, global.initialiser, global.section),
            (r#"@"a = global \22""#, None, None)
        );
        assert!(!global.is_local());
    }

    #[test]
    fn other_lines_are_not_global_variables() {
        for line in [
            "",
            "define void @f() {",
            "@f = alias void (), ptr @g",
            "@i = ifunc void (), ptr @g",
            "  store i32 0, ptr @x",
            "!0 = !{}",
            "@x",
            "@x = internal",
            "@x = global [4",
        ] {
            assert_eq!(parse(line), None, "{line}");
        }
    }
}
