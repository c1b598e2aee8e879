//! The stack limit of a thread: which kernels it counts for, what counts, and what is said.

mod common;

use common::{Rig, SEEDS, kernel_with, params};
use ptx_emulator::{Ending, Fault, FaultKind, Jobs, MachineConfig};

/// `down(n)`: 256 bytes of local memory, and then `down(n - 1)`; of the lanes, those with more go deeper.
const DOWN: &str = "
.func (.param .b32 sum) down(.param .b32 n)
{
    .local .align 16 .b8 depot[256];
    .reg .b32 %r<6>; .reg .b64 %rd<2>; .reg .pred %p;
    ld.param.b32 %r1, [n];
    mov.u64 %rd1, depot;
    st.local.b32 [%rd1+252], %r1;
    mov.b32 %r2, 0;
    setp.eq.u32 %p, %r1, 0;
    @%p bra DONE;
    sub.u32 %r3, %r1, 1;
    .loc 1 7 18 // src/walk.rs:7:18 @[ src/walk.rs:20:9 ]
    { .param .b32 a; .param .b32 v; st.param.b32 [a], %r3; call (v), down, (a); ld.param.b32 %r2, [v]; }
DONE:
    ld.local.b32 %r4, [%rd1+252];
    add.u32 %r2, %r2, %r4;
    st.param.b32 [sum], %r2;
    ret;
}";

/// `out[i] = down(callee's argument)`.
fn calling(callee: &str, argument: &str) -> String {
    format!(
        "{argument}
         {{ .param .b32 a; .param .b32 v; st.param.b32 [a], %r1; call (v), {callee}, (a); ld.param.b32 %r2, [v]; }}
         st.global.b32 [%a], %r2;
         ret;"
    )
}

fn recursion() -> String {
    format!(
        "{}\n.file 1 \"src/walk.rs\"\n",
        kernel_with(DOWN, &calling("down", "mov.u32 %r1, %n;"))
    )
}

fn with_limit(limit: u32) -> MachineConfig {
    let mut config = MachineConfig::default();
    config.stack_limit = limit;
    config
}

/// The words that 40 threads write, or the fault: the same under every schedule, with and without affine registers, with one job and several.
fn run(source: &str, n: u32, limit: u32) -> Result<Vec<u32>, Box<Fault>> {
    let jobs = [Jobs::ONE, Jobs::new(2)];
    let variants = SEEDS.map(|seed| [true, false].map(|tags| jobs.map(|jobs| (seed, tags, jobs))));
    let mut results = variants.into_iter().flatten().flatten().map(|(seed, tags, jobs)| {
        let mut config = with_limit(limit);
        config.schedule_seed = seed;
        config.affine_registers = tags;
        config.jobs = jobs;
        let mut rig = Rig::with(source, config);
        let out = rig.words("out", &[u32::MAX; 40]);
        // One warp a block: with more, a schedule chooses whose fault is seen first.
        rig.launch("k", 2, 20, &params(out, n)).map(|_| rig.read(out, 40))
    });
    let first = results.next().expect("there are variants");
    for result in results {
        match (&first, &result) {
            (Ok(first), Ok(result)) => assert_eq!(first, result),
            (Err(first), Err(result)) => {
                assert_eq!(first.kind(), result.kind());
                assert_eq!((first.lanes(), first.ptx_line()), (result.lanes(), result.ptx_line()));
            }
            (first, result) => panic!("{first:?} and {result:?}"),
        }
    }
    first
}

fn overflows(source: &str, n: u32, limit: u32) -> String {
    let fault = run(source, n, limit).expect_err("more than the limit");
    assert_eq!((fault.kind(), fault.ending()), (&FaultKind::StackOverflow, Ending::KernelBug));
    fault.to_string()
}

#[test]
fn recursion_takes_what_the_limit_says() {
    let sum = |n: u32| vec![n * (n + 1) / 2; 40];
    // 256 bytes each, and 8 for the return address of all but the last; aligned to 16.
    assert_eq!(run(&recursion(), 2, 1024).expect("3 frames"), sum(2));
    let text = overflows(&recursion(), 3, 1024);
    assert!(text.contains("at least 1072 bytes of stack, the limit is 1024"), "{text}");
    // One byte of the limit decides.
    overflows(&recursion(), 3, 1071);
    assert_eq!(run(&recursion(), 3, 1072).expect("4 frames"), sum(3));
    assert_eq!(run(&recursion(), 100, 64 << 10).expect("101 frames"), sum(100));
}

#[test]
fn known_stacks_are_not_limited() {
    // The same frames, by functions that call each other in a row.
    let mut items = String::new();
    for level in 0..=40 {
        let call = match level {
            0 => "mov.b32 %r2, 0;".to_owned(),
            _ => format!(
                "sub.u32 %r3, %r1, 1;
                 {{ .param .b32 a; .param .b32 v; st.param.b32 [a], %r3; call (v), down{}, (a); ld.param.b32 %r2, [v]; }}",
                level - 1
            ),
        };
        items += &format!(
            ".func (.param .b32 sum) down{level}(.param .b32 n)
             {{ .local .align 16 .b8 depot[256]; .reg .b32 %r<6>; .reg .b64 %rd<2>;
                ld.param.b32 %r1, [n]; mov.u64 %rd1, depot; st.local.b32 [%rd1+252], %r1;
                {call}
                ld.local.b32 %r4, [%rd1+252]; add.u32 %r2, %r2, %r4; st.param.b32 [sum], %r2; ret; }}\n"
        );
    }
    let source = kernel_with(&items, &calling("down40", "mov.u32 %r1, %n;"));
    assert_eq!(run(&source, 40, 1024).expect("41 frames of a known number"), vec![820; 40]);
    // A kernel's own arrays are known too.
    let source = kernel_with(
        "",
        ".local .align 16 .b8 depot[4096]; mov.u64 %rd1, depot; st.local.b32 [%rd1+4092], %n;
         ld.local.b32 %r1, [%rd1+4092]; st.global.b32 [%a], %r1; ret;",
    );
    assert_eq!(run(&source, 5, 1024).expect("4096 bytes"), vec![5; 40]);
}

/// A kernel that calls through a pointer to `target`; `items` are its functions.
fn by_address(items: &str, target: &str) -> String {
    let items = format!("{items}\n.global .align 8 .u64 slot = {target};");
    kernel_with(
        &items,
        "ld.global.u64 %rd1, [slot];
         { .param .b32 a; .param .b32 v; st.param.b32 [a], %n;
           shape: .callprototype (.param .b32 _) _ (.param .b32 _);
           call (v), %rd1, (a), shape; ld.param.b32 %r2, [v]; }
         st.global.b32 [%a], %r2;
         ret;",
    )
}

/// A function with 600 bytes of local memory, and `rest`.
fn with_600(name: &str, params: &str, rest: &str) -> String {
    format!(
        ".func (.param .b32 v) {name}({params})
         {{ .local .align 8 .b8 depot[600]; .reg .b32 %r<4>; .reg .b64 %rd<4>; .reg .pred %p;
            ld.param.b32 %r1, [n]; mov.u64 %rd1, depot; st.local.b32 [%rd1+596], %r1;
            mov.b32 %r2, 0; {rest}
            ld.local.b32 %r3, [%rd1+596]; add.u32 %r2, %r2, %r3; st.param.b32 [v], %r2; ret; }}\n"
    )
}

/// A call through `slot` with the argument 0, by the function of [`with_600`] that has another argument.
fn call_again(params: &str, arguments: &str, more: &str) -> String {
    format!(
        "setp.eq.u32 %p, %r1, 0; @%p bra END; ld.global.u64 %rd2, [slot];
         {{ .param .b32 a; {more} .param .b32 v; st.param.b32 [a], 0;
            shape: .callprototype (.param .b32 _) _ ({params});
            call (v), %rd2, ({arguments}), shape; ld.param.b32 %r2, [v]; }}
         END:"
    )
}

#[test]
fn pointers_to_functions_that_may_come_back() {
    let again = call_again(".param .b32 _", "a", "");
    let items = with_600("visit", ".param .b32 n", &again);
    let source = by_address(&items, "visit");
    assert_eq!(run(&source, 0, 1024).expect("one frame"), vec![0; 40]);
    let text = overflows(&source, 9, 1024);
    assert!(text.contains("at least 1208 bytes of stack, the limit is 1024"), "{text}");
    assert_eq!(run(&source, 9, 1208).expect("room for two"), vec![9; 40]);
}

#[test]
fn pointers_to_functions_that_cannot_come_back() {
    // ptxas knows the stack of such kernels: a function of which nobody knows which it is, but none that calls another by address.
    let deep = with_600("leaf", ".param .b32 n", "").replace("600", "3000").replace("596", "2996");
    let source = by_address(&deep, "leaf");
    assert_eq!(run(&source, 4, 1024).expect("3000 bytes"), vec![4; 40]);
    // One that does, with other parameters than those that are called so: only functions with these can be meant.
    let other = call_again(".param .b32 _, .param .b64 _", "a, b", ".param .b64 b;");
    let outer = with_600("outer", ".param .b32 n", &other);
    let inner = with_600("inner", ".param .b32 n, .param .b64 more", "");
    let table = ".global .align 8 .u64 second = inner;";
    let source = by_address(&format!("{inner}{outer}{table}"), "outer")
        .replace("ld.global.u64 %rd2, [slot]", "ld.global.u64 %rd2, [second]");
    assert_eq!(run(&source, 4, 1024).expect("two frames of 600 bytes"), vec![4; 40]);
}

#[test]
fn the_limit_counts_for_the_kernels_that_reach_a_circle() {
    let leaf = with_600("leaf", ".param .b32 n", "").replace("600", "3000").replace("596", "2996");
    let source = kernel_with(&format!("{DOWN}\n{leaf}"), &calling("leaf", "mov.u32 %r1, %n;"));
    assert_eq!(run(&source, 4, 1024).expect("3000 bytes"), vec![4; 40]);
    // The same call in a kernel whose stack nobody knows, for the sake of a call that is not made.
    let body = "setp.eq.u32 %p1, %n, 77; @!%p1 bra REST;
        { .param .b32 a; .param .b32 v; st.param.b32 [a], 1; call (v), down, (a); }
        REST: mov.u32 %r1, %n;";
    let source = kernel_with(&format!("{DOWN}\n{leaf}"), &calling("leaf", body));
    let text = overflows(&source, 4, 1024);
    assert!(text.contains("with the call a thread needs at least 3000 bytes of stack"), "{text}");
}

#[test]
fn a_context_can_change_the_limit_between_launches() {
    let mut rig = Rig::new(&recursion(), None);
    let out = rig.words("out", &[0; 20]);
    let mut overflow = |limit: u32| {
        rig.machine.set_stack_limit(limit);
        rig.launch("k", 1, 20, &params(out, 6)).is_err()
    };
    assert_eq!([1024, 4096, 1024].map(&mut overflow), [true, false, true]);
}

#[test]
fn recursion_without_end_ends() {
    let endless = ".func down() { call down, (); ret; }";
    let source = kernel_with(endless, "call down, (); ret;");
    // Return addresses alone fill the stack, as on a GPU.
    let text = overflows(&source, 0, 1024);
    assert!(text.contains("with the 130 calls a thread needs at least 1032 bytes"), "{text}");
    // With more stack than a million calls take, the emulator's own limit ends it, and says so.
    let fault = run(&source, 0, u32::MAX - 1).expect_err("endless");
    assert_eq!((fault.kind(), fault.ending()), (&FaultKind::CallDepth, Ending::LimitReached));
    let text = fault.to_string();
    assert!(text.starts_with("limit reached: too many nested calls"), "{text}");
    assert!(text.contains("257 calls would be active; the emulator follows 256"), "{text}");
}

#[test]
fn the_message_says_what_takes_how_much() {
    // Odd lanes go one call deeper than the limit allows.
    let argument = "and.b32 %r1, %t, 1; add.u32 %r1, %r1, 2;";
    let lines = "\n.file 1 \"src/walk.rs\"\n";
    let source = kernel_with(DOWN, &calling("down", argument)) + lines;
    let fault = run(&source, 0, 1024).expect_err("3 calls of `down` fit");
    let expected = "error: stack overflow
  kernel:  k, grid (2, 1, 1), block (20, 1, 1)
  where:   block (0, 0, 0), warp 0, lanes 1, 3, 5, 7, 9, 11, 13, 15, 17, 19 (first thread (1, 0, 0))
  ptx:     line 17: call (v), down, (a);
  source:  src/walk.rs:7:18
  inlined: src/walk.rs:7:18, called at src/walk.rs:20:9
  stack:   down
           down at src/walk.rs:7:18
           down at src/walk.rs:7:18
           k
  note:    with the 4 calls a thread needs at least 1072 bytes of stack, the limit is 1024: 4 times 256 in `down`, and return addresses
  note:    the limit counts because these calls can come back to a function that is active, so nobody knows before the launch how much stack the kernel needs
help: set a larger stack limit before the launch (CU_LIMIT_STACK_SIZE); or take less: a loop instead of recursion, println! instead of println_full! or format!";
    assert_eq!(fault.to_string(), expected);
}
