//! What the validator accepts: each snippet is close to something that it refuses (see `errors/`).

#[track_caller]
fn valid(source: &str) {
    let module = ptx::parse(source).unwrap_or_else(|error| panic!("{error}"));
    ptx::validate(&module, source).unwrap_or_else(|error| panic!("{error}"));
}

fn module(items: &str) {
    valid(&format!(".version 8.8\n.target sm_90\n.address_size 64\n{items}\n"));
}

fn body(statements: &str) {
    module(&format!(
        ".global .b32 g[4];\n.func (.param .b32 r) two(.param .b32 a, .param .b32 b);\n\
         .entry k(.param .b64 p) {{\n.reg .pred %p; .reg .b32 %r<9>; .reg .b64 %rd<9>;\n{statements}\n}}"
    ));
}

#[test]
fn headers_may_be_repeated_and_sizes_left_out() {
    valid(".version 8.8\n.target sm_90, debug\n.version 8.8\n.target sm_90, debug\n");
    valid(
        "\u{feff}// a byte order mark and a comment\n.version 6.0 .target sm_70 .address_size 64 .address_size 64",
    );
}

#[test]
fn symbols_may_be_declared_and_then_defined() {
    module(".extern .global .b32 x;\n.global .b32 x = 1;\n.extern .global .b32 x;");
    module(".func f(.param .b32 a);\n.func f(.param .b32 b) { ret; }\n.func f(.param .b32 c);");
    module(".entry k();\n.entry k() { ret; }");
    module(".func f() { ret; }\n.func a();\n.alias a, f;");
    module(".alias a, f;\n.func f() { ret; }\n.func g() { call a; ret; }");
}

#[test]
fn module_scope_is_known_before_it_stands() {
    module(
        ".global .b64 table[2] = {f, generic(x)};\n.func f() { call g; ret; }\n.func g() { ret; }\n.global .b32 x;",
    );
}

#[test]
fn sizes_at_their_limits() {
    module(".entry k(.param .b8 a[32752], .param .b64 b, .param .b32 c) { ret; }");
    module(".global .b8 x[1099511627776];");
    module(".global .b64 x[18446744073709551615][18446744073709551615][0];");
    module(".global .align 1048576 .b8 x;");
    module(".entry k() { .reg .b32 %r<1048576>; ret; }");
}

#[test]
fn initialisers_that_fill_or_underfill() {
    module(".global .b32 x[2] = {1, 2};\n.global .b32 y[4] = {1};\n.global .b32 z[2] = {};");
    module(".global .b32 x[2][2] = {1, 2, 3, 4};\n.global .b32 y[2][2] = {{1, 2}, {3}};");
    module(".global .v2 .f32 v = {1.0, 2.0};\n.global .v2 .f32 w[2] = {{1.0, 2.0}, {3.0, 4.0}};");
    // LLVM writes statics of no length so.
    module(".global .align 1 .b8 nothing[];\n.extern .shared .align 16 .b8 dynamic[];");
    module(".global .b32 a;\n.global .b8 x[9] = {1, 0xFF(a), 0xFF00000000000000(generic(a)+4)};");
}

#[test]
fn names_of_inner_scopes_hide_those_outside() {
    body("{ .reg .b64 %r1; { .reg .pred %r1; @%r1 bra OUT; } } OUT: ret;");
    body("{ L: bra L; } { L: bra L; } L: bra L;");
    body(".shared .b32 g; .local .b32 two; mov.u32 %r1, g; ret;");
    // `%r1<5>` is `%r10` to `%r14`: none of them is in `%r<9>`.
    body(".reg .f32 %r1<5>; mov.f32 %r10, %r14; ret;");
}

#[test]
fn every_kind_of_operand() {
    body(
        "mov.u64 %rd1, g+4; mov.u64 %rd1, two; mov.u64 %rd1, p; mov.u32 %r1, %tid.x; mov.v4.u32 {%r1, %r2, %r3, _}, %ntid;",
    );
    body(
        ".reg .v2 .b32 v; mov.b32 %r1, v.y; mov.b32 v.x, 1; ld.param.b64 %rd1, [p]; ld.b32 %r1, [g+4]; ld.b32 %r1, [64];",
    );
    body("and.pred %p, %p, !%p; @!%p mov.u32 %r1, %laneid; setp.eq.s32 %p|_, %r1, 0;");
    body("no.such.instruction::at.all %r1, [%rd1, {%r2, 3}], {%r3, _}|%p, 0f00000000;");
}

#[test]
fn labels_ahead_behind_and_outside() {
    body("B: @%p bra A; { bra B; } A: T: .branchtargets A, B, T2; brx.idx %r1, T; T2: ret;");
    body("bra END; END:");
}

#[test]
fn calls_of_every_form() {
    body("call (%r1), two, (%r1, 2); call.uni (%r1), two, (%r1, %r2); ret;");
    body("P: .callprototype (.param .b32 _) _ (.param .b32 _); call (%r1), %rd1, (%r2), P; ret;");
    body("T: .calltargets two; call (%r1), %rd1, (%r2, %r3), T; ret;");
    module(".func f() { call f; call f, (); ret; }");
}
