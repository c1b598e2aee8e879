//! Counters as text.

use std::fmt::{self, Display, Formatter};

use super::activity::{Activity, GlobalTraffic, SharedTraffic};
use super::summary::Counters;

/// Widths of names and of numbers.
const NAME: usize = 30;
const NUMBER: usize = 15;

/// A table of the totals; the listings are [`Counters::instruction_listing`] and [`Counters::line_listing`].
impl Display for Counters {
    fn fmt(&self, f: &mut Formatter<'_>) -> fmt::Result {
        let triple = |[x, y, z]: [u32; 3]| format!("({x}, {y}, {z})");
        writeln!(
            f,
            "{}, grid {}, block {}",
            ptx::demangle(&self.kernel),
            triple(self.grid),
            triple(self.block)
        )?;
        let total = &self.total;
        line(f, "warp instructions", number(total.warp_instructions))?;
        line(f, "thread instructions", number(total.thread_instructions))?;
        line(f, "average active lanes", decimal(total.average_active_lanes(), ""))?;
        for class in &self.classes {
            line(f, &format!("  {}", class.class), number(class.warp_instructions))?;
        }
        line(f, "branches", number(total.branches))?;
        line(f, "divergent branches", number(total.divergent_branches))?;
        for (name, traffic) in [
            ("global loads", total.global_loads),
            ("global stores", total.global_stores),
            ("global atomics", total.global_atomics),
        ] {
            global(f, name, &traffic)?;
        }
        for (name, traffic) in [
            ("shared loads", total.shared_loads),
            ("shared stores", total.shared_stores),
            ("shared atomics", total.shared_atomics),
        ] {
            shared(f, name, &traffic)?;
        }
        if total.atomic_requests() != 0 {
            let lanes = u64::from(total.max_lanes_on_one_address);
            line(f, "most lanes on one address", number(lanes))?;
        }
        line(f, "local bytes loaded", number(total.local_load_bytes))?;
        line(f, "local bytes stored", number(total.local_store_bytes))?;
        line(f, "barriers", number(total.barriers))?;
        line(f, "barrier waits", number(total.barrier_waits))
    }
}

fn line(f: &mut Formatter<'_>, name: &str, value: String) -> fmt::Result {
    writeln!(f, "  {name:<NAME$}{value:>NUMBER$}")
}

fn global(f: &mut Formatter<'_>, name: &str, traffic: &GlobalTraffic) -> fmt::Result {
    if traffic.requests == 0 {
        return Ok(());
    }
    line(f, name, number(traffic.requests))?;
    line(f, "  bytes", number(traffic.bytes))?;
    line(f, "  32-byte sectors", number(traffic.sectors))?;
    line(f, "  ideal sectors", number(traffic.ideal_sectors))?;
    line(f, "  128-byte lines", number(traffic.lines))?;
    line(f, "  sectors per request", decimal(traffic.sectors_per_request(), ""))?;
    line(f, "  efficiency", decimal(traffic.efficiency().map(|part| 100.0 * part), " %"))
}

fn shared(f: &mut Formatter<'_>, name: &str, traffic: &SharedTraffic) -> fmt::Result {
    if traffic.requests == 0 {
        return Ok(());
    }
    line(f, name, number(traffic.requests))?;
    line(f, "  bytes", number(traffic.bytes))?;
    line(f, "  wavefronts", number(traffic.wavefronts))?;
    line(f, "  ideal wavefronts", number(traffic.ideal_wavefronts))?;
    line(f, "  bank conflicts", number(traffic.bank_conflicts()))?;
    line(f, "  conflict degree", decimal(traffic.conflict_degree(), ""))?;
    line(f, "  largest degree", number(u64::from(traffic.max_degree)))
}

/// Digits in groups of three.
fn number(value: u64) -> String {
    let digits = value.to_string();
    let mut text = String::new();
    for (index, digit) in digits.chars().enumerate() {
        if index > 0 && (digits.len() - index).is_multiple_of(3) {
            text.push(',');
        }
        text.push(digit);
    }
    text
}

fn decimal(value: Option<f64>, unit: &str) -> String {
    value.map_or_else(|| "-".to_owned(), |value| format!("{value:.2}{unit}"))
}

impl Counters {
    /// The counters of each PTX instruction, a line each, with its text.
    #[must_use]
    pub fn instruction_listing(&self) -> impl Display + '_ {
        Listing(self, |counters: &Counters, f: &mut Formatter<'_>| {
            heading(f, "PTX")?;
            let mut function = "";
            for instruction in &counters.instructions {
                if instruction.function != function {
                    function = &instruction.function;
                    writeln!(f, "{function}:")?;
                }
                row(f, &instruction.activity)?;
                writeln!(f, "  {:>6}  {}", instruction.line, instruction.text)?;
            }
            Ok(())
        })
    }

    /// The counters of each line of the program's own source. `text` gives the text of a file's line (1-based) where it is known.
    pub fn line_listing<'a>(
        &'a self,
        text: impl Fn(&str, u32) -> Option<String> + 'a,
    ) -> impl Display + 'a {
        Listing(self, move |counters: &Counters, f: &mut Formatter<'_>| {
            heading(f, "source")?;
            let mut file = "";
            for line in &counters.lines {
                let position = &line.position;
                if position.file != file {
                    file = &position.file;
                    writeln!(f, "{file}:")?;
                }
                row(f, &line.activity)?;
                let text = text(&position.file, position.line).unwrap_or_default();
                writeln!(f, "  {:>6}  {}", position.line, text.trim_end())?;
            }
            Ok(())
        })
    }
}

/// Something written by a function.
struct Listing<'a, F>(&'a Counters, F);

impl<F: Fn(&Counters, &mut Formatter<'_>) -> fmt::Result> Display for Listing<'_, F> {
    fn fmt(&self, f: &mut Formatter<'_>) -> fmt::Result {
        self.1(self.0, f)
    }
}

fn heading(f: &mut Formatter<'_>, text: &str) -> fmt::Result {
    writeln!(
        f,
        "{:>12} {:>6} {:>12} {:>7} {:>12} {:>7} {:>9}  {:>6}  {text}",
        "warp instr.", "lanes", "sectors", "ideal", "wavefronts", "ideal", "divergent", "line"
    )
}

/// One row: instructions, average active lanes; sectors and which part of them was needed; wavefronts likewise;
/// divergent branches. Blank where there is nothing.
fn row(f: &mut Formatter<'_>, activity: &Activity) -> fmt::Result {
    let (global, shared) = (activity.global(), activity.shared());
    let count = |value: u64| if value == 0 { String::new() } else { number(value) };
    let lanes = activity.average_active_lanes().map_or_else(String::new, |l| format!("{l:.1}"));
    let percent = |part: u64, whole: u64| match whole {
        0 => String::new(),
        whole => format!("{:.0} %", 100.0 * part as f64 / whole as f64),
    };
    write!(
        f,
        "{:>12} {:>6} {:>12} {:>7} {:>12} {:>7} {:>9}",
        number(activity.warp_instructions),
        lanes,
        count(global.sectors),
        percent(global.ideal_sectors, global.sectors),
        count(shared.wavefronts),
        percent(shared.ideal_wavefronts, shared.wavefronts),
        count(activity.divergent_branches)
    )
}

#[cfg(test)]
mod tests {
    use super::super::{ClassCounters, InstructionCounters, LineCounters, OpClass};
    use super::*;
    use crate::program::SourcePosition;

    fn counters() -> Counters {
        let activity = Activity {
            warp_instructions: 1_234_567,
            thread_instructions: 19_753_072,
            branches: 10,
            divergent_branches: 3,
            global_loads: GlobalTraffic {
                requests: 8,
                bytes: 1024,
                sectors: 64,
                ideal_sectors: 32,
                lines: 16,
            },
            shared_stores: SharedTraffic {
                requests: 2,
                bytes: 256,
                wavefronts: 8,
                ideal_wavefronts: 2,
                max_degree: 4,
            },
            barriers: 2,
            barrier_waits: 1,
            ..Activity::default()
        };
        Counters {
            kernel: "k".to_owned(),
            grid: [2, 1, 1],
            block: [64, 2, 1],
            total: activity,
            classes: vec![ClassCounters {
                class: OpClass::Single,
                warp_instructions: 1000,
                thread_instructions: 32_000,
            }],
            instructions: vec![InstructionCounters {
                function: "k".to_owned(),
                line: 12,
                column: 5,
                text: "ld.global.f32 %f1, [%rd1];".to_owned(),
                class: OpClass::Single,
                source: None,
                activity,
            }],
            lines: vec![LineCounters {
                position: SourcePosition { file: "k.rs".to_owned(), line: 7, column: 0 },
                activity: Activity::default(),
            }],
        }
    }

    #[test]
    fn the_table() {
        let expected = "\
k, grid (2, 1, 1), block (64, 2, 1)
  warp instructions                   1,234,567
  thread instructions                19,753,072
  average active lanes                    16.00
    fp32                                  1,000
  branches                                   10
  divergent branches                          3
  global loads                                8
    bytes                                 1,024
    32-byte sectors                          64
    ideal sectors                            32
    128-byte lines                           16
    sectors per request                    8.00
    efficiency                          50.00 %
  shared stores                               2
    bytes                                   256
    wavefronts                                8
    ideal wavefronts                          2
    bank conflicts                            6
    conflict degree                        4.00
    largest degree                            4
  local bytes loaded                          0
  local bytes stored                          0
  barriers                                    2
  barrier waits                               1
";
        assert_eq!(counters().to_string(), expected);
    }

    #[test]
    fn the_listings() {
        let counters = counters();
        let expected = " warp instr.  lanes      sectors   ideal   wavefronts   ideal divergent    line  PTX
k:
   1,234,567   16.0           64    50 %            8    25 %         3      12  ld.global.f32 %f1, [%rd1];
";
        assert_eq!(counters.instruction_listing().to_string(), expected);
        let expected = " warp instr.  lanes      sectors   ideal   wavefronts   ideal divergent    line  source
k.rs:
           0                                                                  7  k.rs 7
";
        let text = |file: &str, line| Some(format!("{file} {line}\n"));
        assert_eq!(counters.line_listing(text).to_string(), expected);
    }
}
