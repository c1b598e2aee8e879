//! The C format strings, as the C library prints them, against Rust's own formatting of the same call.

use core::cell::RefCell;
use core::mem::MaybeUninit;
use std::string::String;

use super::__private::{Format, Slots, c_format};

std::thread_local! {
    static C: RefCell<String> = const { RefCell::new(String::new()) };
    static RUST: RefCell<String> = const { RefCell::new(String::new()) };
}

/// Stands in for the device's `print`: the same format string and the same buffer, read by the C library.
pub fn print<F: Format, const N: usize, const COUNT: usize, S: Slots>(values: &S) {
    let format = const { &c_format::<N>(F::PIECES, S::CLASSES) };
    let mut buffer = [MaybeUninit::<u64>::uninit(); COUNT];
    let mut storage = MaybeUninit::uninit();
    // SAFETY: as on the device.
    let text = unsafe {
        values.store(buffer.as_mut_ptr().cast(), &mut storage);
        c_printed(format, buffer.as_ptr().cast())
    };
    C.with_borrow_mut(|c| *c = text);
}

/// Stands in for the host's half.
pub fn host_print(text: core::fmt::Arguments<'_>) {
    RUST.with_borrow_mut(|rust| *rust = std::format!("{text}"));
}

/// `vsnprintf` with an argument list that, like `vprintf`'s on the device, is a buffer of 8 bytes for each value: in the
/// System V ABI that is a `va_list` whose registers are used up.
unsafe fn c_printed(format: &[u8], arguments: *const u64) -> String {
    #[repr(C)]
    struct VaList {
        gp_offset: u32,
        fp_offset: u32,
        overflow_area: *const u64,
        register_area: *const u64,
    }
    unsafe extern "C" {
        fn vsnprintf(to: *mut u8, size: usize, format: *const u8, list: *mut VaList) -> i32;
    }
    let mut out = [0; 2048];
    let mut list = VaList {
        gp_offset: 48,
        fp_offset: 176,
        overflow_area: arguments,
        register_area: core::ptr::null(),
    };
    // SAFETY: the format string ends with NUL and reads the values in `arguments` only.
    let len = unsafe { vsnprintf(out.as_mut_ptr(), out.len(), format.as_ptr(), &raw mut list) };
    let bytes = &out[..usize::try_from(len).expect("a valid format string")];
    core::str::from_utf8(bytes).expect("UTF-8").into()
}

/// Prints the same; the two texts.
macro_rules! printed {
    ($($arguments:tt)*) => {{
        crate::print!($($arguments)*);
        (C.with_borrow(String::clone), RUST.with_borrow(String::clone))
    }};
}

/// C prints what Rust prints.
macro_rules! same {
    ($($arguments:tt)*) => {{
        let (c, rust) = printed!($($arguments)*);
        assert_eq!(c, rust, "{}", stringify!($($arguments)*));
    }};
}

mod on_the_c_library {
    use super::{C, RUST};
    use std::string::String;

    #[test]
    fn integers_of_every_type_at_their_ends() {
        same!("{} {} {} {}", i8::MIN, i16::MIN, i32::MIN, i64::MIN);
        same!("{} {} {} {}", u8::MAX, u16::MAX, u32::MAX, u64::MAX);
        same!("{} {} {:?} {:?}", isize::MIN, usize::MAX, -1, 1_u8);
    }

    #[test]
    fn width_sign_and_alignment() {
        for value in [0, 7, -42, 123_456, i32::MIN] {
            same!(
                "[{value:5}] [{value:<5}] [{value:>5}] [{value:05}] [{value:<05}] [{value:+}] [{value:+7}] [{value:+07}]"
            );
        }
        for value in [0_u64, 42, u64::MAX] {
            same!(
                "[{value:5}] [{value:<25}] [{value:025}] [{value:+}] [{value:+012}] [{value:.3}]"
            );
        }
    }

    #[test]
    fn other_bases() {
        for value in [0, 1, 10, -1, i32::MAX] {
            same!(
                "[{value:x}] [{value:X}] [{value:o}] [{value:#x}] [{value:#X}] [{value:#o}] [{value:#010x}] [{value:08X}] [{value:10x}] [{value:<10o}|]"
            );
        }
        same!("{:x} {:x} {:x}", -1_i8, -1_i16, -1_i64);
        same!("{:#04x} {:#02x}", 1, 1);
    }

    #[test]
    fn floats_with_precision() {
        for value in [0.0, -0.0, 1.5, -2.25, 1e10, 1.0 / 3.0, f64::INFINITY, f64::NEG_INFINITY] {
            same!("[{value:.3}] [{value:+.1}] [{value:12.4}] [{value:<12.0}|]");
        }
        same!("{:010.3} {:.2} {:8.2}", -3.75, 2.675_f32, f32::MAX);
    }

    #[test]
    fn floats_without_precision_have_the_digits_of_their_type() {
        assert_eq!(printed!("{} {} {:?}", 0.1_f32, 0.1_f64, 1.0_f32).0, "0.1 0.1 1");
        assert_eq!(
            printed!("{} {}", 1.0_f32 / 3.0, 1.0_f64 / 3.0).0,
            "0.3333333 0.333333333333333"
        );
        assert_eq!(printed!("{} {}", 1_234_567.0_f32, 1e20_f64).0, "1234567 1e+20");
        assert_eq!(
            printed!("{:e} {:E} {:.2e}", 1234.5_f32, 0.5_f64, 1234.5_f64).0,
            "1.234500e+03 5.00000000000000E-01 1.23e+03"
        );
    }

    #[test]
    fn texts() {
        let name = "grüße";
        same!("[{}] [{:8}] [{:>8}] [{:<8}|] [{:.3}]", "plain", "abc", "abc", "abc", "abcdef");
        same!("{name} {} {}", true, false);
        same!("[{:7}] [{:>7}]", true, false);
        same!("{}{}{}", 'a', 'é', '😀');
        same!("{:?} {:?} {:?} {name:?}", "text", 'c', 'é');
    }

    #[test]
    fn a_long_text_is_cut_between_characters() {
        let long: String = core::iter::repeat_n("é", 200).collect();
        assert_eq!(printed!("{}|", long.as_str()).0, "é".repeat(127) + "|");
    }

    #[test]
    fn percent_signs_and_braces_are_text() {
        same!("100 % of {{}} %d %s %n {}", 5);
        same!("");
    }

    #[test]
    fn arguments_by_position_name_and_capture() {
        let (captured, r#type) = (3, 4);
        same!("{0} {1} {0} {captured} {named} {} {type}", 1, 2, named = captured + 1);
    }

    #[test]
    fn expressions_run_once_and_keep_temporaries() {
        let mut calls = 0;
        let mut count = || {
            calls += 1;
            calls
        };
        same!("{0} {0} {0:x}", count());
        assert_eq!(calls, 1);
        same!("{}", String::from("temporary").as_str());
    }

    #[test]
    fn references_and_pointers() {
        let value = 5_u32;
        let pointer = &raw const value;
        same!("{} {:?} {:x}", &value, &&value, &value);
        same!("{:?} {:p} {:p}", pointer, pointer, &value);
    }

    #[test]
    fn the_most_values() {
        same!(
            "{} {} {} {} {} {} {} {} {} {} {} {} {} {} {} {} {} {} {} {} {} {} {} {} {} {} {} {} {} {} {} {}",
            1,
            2,
            3,
            4,
            5,
            6,
            7,
            8,
            9,
            10,
            11,
            12,
            13,
            14,
            15,
            16,
            17,
            18,
            19,
            20,
            21,
            22,
            23,
            24,
            25,
            26,
            27,
            28,
            29,
            30,
            31,
            32.5_f32
        );
    }

    #[test]
    fn println_ends_the_line() {
        crate::println!("x = {}", 1);
        assert_eq!(C.with_borrow(String::clone), "x = 1\n");
        crate::println!();
        assert_eq!(C.with_borrow(String::clone), "\n");
        assert_eq!(RUST.with_borrow(String::clone), "\n");
    }
}
