//! Building one function: names, rows, labels, and the list of operations.

use std::collections::HashMap;

use ptx::Span;
use ptx::ast::{self, Immediate, Operand};

use super::symbols::{Symbol, Symbols};
use super::types::{Kind, Ty};
use crate::counters::OpClass;
use crate::op::{FrameSlot, Guard, NONE, Op, OpKind, Pred};
use crate::program::{Place, Signature, Value};
use crate::row::{self, Class, RowFn, Rows, Rule};

/// Why an instruction was not decoded.
pub(super) enum Refusal {
    /// It breaks a rule: the module is rejected.
    Invalid(String),
    /// The emulator does not know it: it becomes an operation that faults when reached.
    Unsupported(String),
}

pub(super) type Decoded = Result<(), Refusal>;

/// A refusal because the module is wrong.
pub(super) fn invalid<T>(message: impl Into<String>) -> Result<T, Refusal> {
    Err(Refusal::Invalid(message.into()))
}

/// A refusal because the emulator is incomplete.
pub(super) fn unsupported<T>(what: impl Into<String>) -> Result<T, Refusal> {
    Err(Refusal::Unsupported(what.into()))
}

/// A declared register.
#[derive(Clone, Copy, Debug)]
pub(super) struct Register {
    pub(super) row: u32,
    pub(super) class: Class,
    pub(super) bits: u32,
}

/// What a name inside a function means.
#[derive(Clone, Debug)]
enum Local {
    Register(Register),
    /// `.local` variable, parameter of a device function, `.param` variable of a call.
    Slot(FrameSlot),
    KernelParam {
        offset: u32,
    },
    /// A module variable declared inside the function.
    Variable(u32),
    /// `.callprototype` and the like: named in instructions, not needed to execute them.
    Declaration,
}

#[derive(Default)]
struct Scope {
    names: HashMap<String, Local>,
    /// `%r<10>`: prefix -> type, count.
    ranges: HashMap<String, (ast::Type, u32)>,
}

/// A destination, and what has to be done once it was written.
pub(super) struct Destination {
    pub(super) row: u32,
    after: After,
}

enum After {
    Nothing,
    /// Keep the low bits only: the register is narrower than the result.
    Mask {
        row: u32,
        mask: u32,
    },
    /// The register is 64 bits wide, the result 32.
    Widen {
        from: u32,
        to: u32,
        sign_from: Option<u32>,
    },
    /// The register is 32 bits wide, the result 64.
    Narrow {
        from: u32,
        to: u32,
        mask: u32,
    },
}

/// The function being decoded.
pub(super) struct Builder<'a> {
    pub(super) symbols: &'a mut Symbols,
    pub(super) is_entry: bool,
    pub(super) ops: Vec<Op>,
    pub(super) places: Vec<Place>,
    /// What each operation counts as; `Part` until [`classify`](Builder::classify).
    pub(super) classes: Vec<OpClass>,
    pub(super) guard: Guard,
    pub(super) place: Place,
    scopes: Vec<Scope>,
    constants: HashMap<(Class, Value), u32>,
    pub(super) constant_list: Vec<(Class, u32, Value)>,
    pub(super) rows32: u32,
    pub(super) rows64: u32,
    pub(super) predicates: u32,
    pub(super) frame_bytes: u32,
    pub(super) frame_align: u32,
    pub(super) depot_bytes: u32,
    pub(super) depot_align: u32,
    pub(super) callees: Vec<u32>,
    pub(super) calls_by_address: Vec<Signature>,
    pub(super) takes_address_of: Vec<u32>,
    pub(super) shared_used: Vec<u32>,
    carry_flag: Option<u32>,
    /// `.reg` return parameters: stored to their slots before each `ret`.
    pub(super) register_returns: Vec<(Operand, FrameSlot, Ty)>,
}

impl<'a> Builder<'a> {
    pub(super) fn new(symbols: &'a mut Symbols, is_entry: bool) -> Builder<'a> {
        Builder {
            symbols,
            is_entry,
            ops: Vec::new(),
            places: Vec::new(),
            classes: Vec::new(),
            guard: Guard::ALWAYS,
            place: Place { span: Span::default(), line: NONE },
            scopes: vec![Scope::default()],
            constants: HashMap::new(),
            constant_list: Vec::new(),
            rows32: 0,
            rows64: 0,
            predicates: 0,
            frame_bytes: 0,
            frame_align: 16,
            depot_bytes: 0,
            depot_align: 1,
            callees: Vec::new(),
            calls_by_address: Vec::new(),
            takes_address_of: Vec::new(),
            shared_used: Vec::new(),
            carry_flag: None,
            register_returns: Vec::new(),
        }
    }

    // ---- emission

    pub(super) fn emit(&mut self, kind: OpKind) {
        self.ops.push(Op { guard: self.guard, kind });
        self.places.push(self.place);
        self.classes.push(OpClass::Part);
    }

    /// Gives the operations from `start` on, which make one instruction, its class: one of them counts.
    pub(super) fn classify(&mut self, start: usize, class: OpClass) {
        let made = self.ops.get(start..).unwrap_or_default();
        let calls = |op: &Op| matches!(op.kind, OpKind::Call(_) | OpKind::Return);
        // Operands and results are converted by operations of their own.
        let acts = |op: &Op| {
            !matches!(
                op.kind,
                OpKind::Row { .. }
                    | OpKind::Move32 { .. }
                    | OpKind::Move64 { .. }
                    | OpKind::Clock { .. }
            )
        };
        let main = made.iter().position(calls).or_else(|| made.iter().position(acts)).unwrap_or(0);
        if let Some(slot) = self.classes.get_mut(start + main) {
            *slot = class;
        }
    }

    /// Registers to registers: destination first, then as many sources as `f` takes.
    /// `result` and `sources` say how wide the operands are and how immediates are read.
    pub(super) fn row_op(
        &mut self,
        operands: &[Operand],
        f: RowFn,
        result: Ty,
        sources: &[Ty],
    ) -> Decoded {
        let (class, classes) = f.signature();
        if operands.len() > classes.len() + 1 {
            // Newer forms have more operands, `min` of three numbers for instance.
            return unsupported(format!("a form with {} operands", operands.len()));
        }
        if operands.len() != classes.len() + 1 {
            return invalid(format!(
                "takes {} operands, {} are given",
                classes.len() + 1,
                operands.len()
            ));
        }
        let mut s = [0; 4];
        for (index, class) in classes.iter().enumerate() {
            let ty = sources.get(index).or(sources.last()).copied().unwrap_or(Ty::B32);
            s[index] = self.source(&operands[index + 1], *class, ty)?;
        }
        let d = self.destination(&operands[0], class, result)?;
        self.emit(OpKind::Row { f, rows: Rows { d: d.row, s } });
        self.finish(d);
        Ok(())
    }

    /// A row of 32 bits that belongs to nobody else.
    pub(super) fn temporary(&mut self, class: Class) -> u32 {
        let counter = match class {
            Class::R => &mut self.rows32,
            Class::D => &mut self.rows64,
            Class::Predicate => &mut self.predicates,
        };
        *counter += 1;
        *counter - 1
    }

    /// Two 64-bit rows, one after the other.
    fn pair(&mut self) -> u32 {
        self.rows64 += 2;
        self.rows64 - 2
    }

    /// The row that holds the thread's carry flag.
    pub(super) fn carry_flag(&mut self) -> u32 {
        match self.carry_flag {
            Some(row) => row,
            None => {
                let row = self.temporary(Class::Predicate);
                self.carry_flag = Some(row);
                row
            }
        }
    }

    pub(super) fn constant(&mut self, class: Class, value: Value) -> u32 {
        if let Some(row) = self.constants.get(&(class, value)) {
            return *row;
        }
        let row = self.temporary(class);
        self.constants.insert((class, value), row);
        self.constant_list.push((class, row, value));
        row
    }

    pub(super) fn constant_bits(&mut self, class: Class, bits: u64) -> u32 {
        self.constant(class, Value::Bits(bits))
    }

    // ---- names

    pub(super) fn open_scope(&mut self) {
        self.scopes.push(Scope::default());
    }

    pub(super) fn close_scope(&mut self) {
        self.scopes.pop();
    }

    fn scope(&mut self) -> &mut Scope {
        // The function's own scope is never closed.
        let last = self.scopes.len() - 1;
        &mut self.scopes[last]
    }

    fn declare(&mut self, name: &str, local: Local) {
        self.scope().names.insert(name.to_owned(), local);
    }

    pub(super) fn declare_registers(&mut self, declaration: &ast::RegisterDeclaration) {
        for (name, count) in &declaration.names {
            match count {
                Some(count) => {
                    self.scope().ranges.insert(name.clone(), (declaration.ty, *count));
                }
                None if declaration.vector > 1 => {
                    for part in ["x", "y", "z", "w"].iter().take(declaration.vector as usize) {
                        let register = self.new_register(declaration.ty);
                        self.declare(&format!("{name}.{part}"), Local::Register(register));
                    }
                }
                None => {
                    let register = self.new_register(declaration.ty);
                    self.declare(name, Local::Register(register));
                }
            }
        }
    }

    pub(super) fn new_register(&mut self, ty: ast::Type) -> Register {
        let (class, bits) = match ty {
            ast::Type::Pred => (Class::Predicate, 1),
            other => match other.bytes().unwrap_or(4) * 8 {
                bits @ 64.. => (Class::D, bits),
                bits => (Class::R, bits),
            },
        };
        let row = if bits == 128 { self.pair() } else { self.temporary(class) };
        Register { row, class, bits }
    }

    pub(super) fn declare_register(&mut self, name: &str, register: Register) {
        self.declare(name, Local::Register(register));
    }

    /// Reserves frame memory. Sizes that no thread can have add up to `u32::MAX`, which the caller refuses.
    pub(super) fn declare_slot(&mut self, name: &str, bytes: u32, align: u32) -> FrameSlot {
        // Words of local memory are shared by no two slots, so that whole words can be copied.
        let align = align.clamp(4, 4096).checked_next_power_of_two().unwrap_or(4096);
        self.frame_align = self.frame_align.max(align);
        let offset = self.frame_bytes.checked_next_multiple_of(align).unwrap_or(u32::MAX);
        let rounded = bytes.checked_next_multiple_of(4).unwrap_or(u32::MAX);
        self.frame_bytes = offset.saturating_add(rounded);
        let slot = FrameSlot { offset, bytes };
        self.declare(name, Local::Slot(slot));
        slot
    }

    /// Reserves frame memory for a `.local` variable.
    pub(super) fn declare_local(&mut self, name: &str, bytes: u32, align: u32) {
        let slot = self.declare_slot(name, bytes, align);
        self.depot_align = self.depot_align.max(align);
        let offset = self.depot_bytes.checked_next_multiple_of(align.max(1)).unwrap_or(u32::MAX);
        self.depot_bytes = offset.saturating_add(slot.bytes);
    }

    pub(super) fn declare_kernel_param(&mut self, name: &str, offset: u32) {
        self.declare(name, Local::KernelParam { offset });
    }

    pub(super) fn declare_variable(&mut self, name: &str, index: u32) {
        self.declare(name, Local::Variable(index));
    }

    pub(super) fn declare_prototype(&mut self, name: &str) {
        self.declare(name, Local::Declaration);
    }

    fn find(&self, name: &str) -> Option<&Local> {
        self.scopes.iter().rev().find_map(|scope| scope.names.get(name))
    }

    /// The register with this name; members of `%r<n>` get their row at first use.
    pub(super) fn register(&mut self, name: &str) -> Option<Register> {
        let stem = name.trim_end_matches(|c: char| c.is_ascii_digit());
        let number = &name[stem.len()..];
        let canonical = !number.is_empty() && (number == "0" || !number.starts_with('0'));
        for index in (0..self.scopes.len()).rev() {
            match self.scopes[index].names.get(name) {
                Some(Local::Register(register)) => return Some(*register),
                Some(_) => return None,
                None => {}
            }
            if canonical
                && let Some((ty, count)) = self.scopes[index].ranges.get(stem).copied()
                && number.parse::<u32>().is_ok_and(|number| number < count)
            {
                let register = self.new_register(ty);
                self.scopes[index].names.insert(name.to_owned(), Local::Register(register));
                return Some(register);
            }
        }
        None
    }

    pub(super) fn slot(&self, name: &str) -> Option<FrameSlot> {
        match self.find(name)? {
            Local::Slot(slot) => Some(*slot),
            _ => None,
        }
    }

    pub(super) fn kernel_param(&self, name: &str) -> Option<u32> {
        match self.find(name)? {
            Local::KernelParam { offset } => Some(*offset),
            _ => None,
        }
    }

    // ---- operands

    /// A row of `class` with the operand's value; converts where the register is wider or narrower.
    pub(super) fn source(
        &mut self,
        operand: &Operand,
        class: Class,
        ty: Ty,
    ) -> Result<u32, Refusal> {
        match operand {
            Operand::Immediate(immediate) => match immediate_bits(*immediate, ty) {
                Some(bits) => Ok(self.constant_bits(class, bits)),
                None => invalid("the number does not fit the operand's type"),
            },
            Operand::Name(name) => {
                if let Some(register) = self.register(name) {
                    return self.convert_source(name, register, class);
                }
                if let Some(clock) = super::special::clock(name) {
                    let (from, register) = super::special::clock_register(clock);
                    let row = self.temporary(from);
                    self.emit(OpKind::Clock { d: row, clock });
                    let register = Register { row, class: from, bits: register };
                    return self.convert_source(name, register, class);
                }
                if let Some(special) = super::special::constant(name) {
                    return Ok(self.constant(class, special));
                }
                let value = self.address_value(name, 0)?;
                Ok(self.constant(class, value))
            }
            Operand::NameOffset(name, offset) => {
                let value = self.address_value(name, *offset)?;
                Ok(self.constant(class, value))
            }
            other => invalid(format!("operand {} cannot be used here", describe(other))),
        }
    }

    fn convert_source(
        &mut self,
        name: &str,
        register: Register,
        class: Class,
    ) -> Result<u32, Refusal> {
        let f = match (register.class, class) {
            (from, to) if from == to => return Ok(register.row),
            (Class::D, Class::R) => row::rd(|a| a as u32).with(Rule::Truncate),
            (Class::R, Class::D) => row::dr(u64::from).with(Rule::WidenUnsigned),
            _ => return invalid(format!("register `{name}` is a predicate, or should be one")),
        };
        let d = self.temporary(class);
        self.emit(OpKind::Row { f, rows: Rows { d, s: [register.row, 0, 0, 0] } });
        Ok(d)
    }

    /// The address of a variable, parameter or function, as a constant.
    pub(super) fn address_value(&mut self, name: &str, offset: i64) -> Result<Value, Refusal> {
        if let Some(slot) = self.slot(name) {
            return Ok(Value::Frame(slot.offset.wrapping_add(offset as u32)));
        }
        if let Some(at) = self.kernel_param(name) {
            return Ok(Value::Param(u64::from(at).wrapping_add(offset as u64)));
        }
        let symbol = match self.find(name) {
            Some(Local::Variable(index)) => Some(Symbol::Variable(*index)),
            _ => self.symbols.lookup(name),
        };
        match symbol {
            Some(Symbol::Variable(index)) => {
                if self.symbols.is_shared(index) {
                    self.shared_used.push(index);
                }
                Ok(Value::Variable { index, offset: offset as u64 })
            }
            Some(Symbol::Function(index)) if offset == 0 => {
                self.takes_address_of.push(index);
                Ok(Value::Function(index))
            }
            Some(_) => unsupported(format!("the address of `{name}`")),
            None => invalid(format!("`{name}` is not declared")),
        }
    }

    /// A predicate operand, `p` or `!p`.
    pub(super) fn predicate(&mut self, operand: &Operand) -> Result<Pred, Refusal> {
        let (name, negated) = match operand {
            Operand::Name(name) => (name, false),
            Operand::Not(name) => (name, true),
            // `1` and `0` stand for true and false in `mov.pred` and as operands.
            Operand::Immediate(Immediate::Integer(value)) => {
                let row = self.constant_bits(Class::Predicate, u64::from(u32::MAX));
                return Ok(Pred { row, negated: *value == 0 });
            }
            other => return invalid(format!("{} is not a predicate", describe(other))),
        };
        match self.register(name) {
            Some(Register { row, class: Class::Predicate, .. }) => Ok(Pred { row, negated }),
            None if let Some(special) = super::special::predicate(name) => {
                Ok(Pred { row: self.constant(Class::Predicate, special), negated })
            }
            _ => invalid(format!("`{name}` is not a predicate register")),
        }
    }

    /// A destination row of `class` for a result of type `result`; pass it to [`finish`](Builder::finish) after the
    /// operation that writes it.
    pub(super) fn destination(
        &mut self,
        operand: &Operand,
        class: Class,
        result: Ty,
    ) -> Result<Destination, Refusal> {
        let Operand::Name(name) = operand else {
            return invalid(format!("{} cannot be written", describe(operand)));
        };
        if name == "_" {
            let row = self.temporary(class);
            return Ok(Destination { row, after: After::Nothing });
        }
        let Some(register) = self.register(name) else {
            return invalid(format!("`{name}` is not a register"));
        };
        let narrow_mask = match register.bits {
            8 => 0xFF,
            16 => 0xFFFF,
            _ => u32::MAX,
        };
        Ok(match (register.class, class) {
            (Class::R, Class::R) if result.bits > register.bits => Destination {
                row: register.row,
                after: After::Mask { row: register.row, mask: narrow_mask },
            },
            (from, to) if from == to => Destination { row: register.row, after: After::Nothing },
            (Class::D, Class::R) => {
                let from = self.temporary(Class::R);
                let sign_from = result.is_signed().then_some(result.bits);
                Destination { row: from, after: After::Widen { from, to: register.row, sign_from } }
            }
            (Class::R, Class::D) => {
                let from = self.temporary(Class::D);
                let after = After::Narrow { from, to: register.row, mask: narrow_mask };
                Destination { row: from, after }
            }
            _ => return invalid(format!("register `{name}` is a predicate, or should be one")),
        })
    }

    /// Brings a result from where it was computed to its register.
    pub(super) fn finish(&mut self, destination: Destination) {
        let (f, d, a) = match destination.after {
            After::Nothing => return,
            After::Mask { row, mask } => (row::rr(move |a| a & mask), row, row),
            After::Widen { from, to, sign_from: None } => {
                (row::dr(u64::from).with(Rule::WidenUnsigned), to, from)
            }
            After::Widen { from, to, sign_from: Some(bits) } => {
                let shift = 64 - bits.min(64);
                (row::dr(move |a| ((u64::from(a) << shift) as i64 >> shift) as u64), to, from)
            }
            After::Narrow { from, to, mask } => (row::rd(move |a| a as u32 & mask), to, from),
        };
        self.emit(OpKind::Row { f, rows: Rows { d, s: [a, 0, 0, 0] } });
    }

    /// A predicate destination; `_` gives a row that nobody reads.
    pub(super) fn predicate_destination(&mut self, operand: &Operand) -> Result<u32, Refusal> {
        match operand {
            Operand::Name(name) if name == "_" => Ok(self.temporary(Class::Predicate)),
            Operand::Name(name) => match self.register(name) {
                Some(Register { row, class: Class::Predicate, .. }) => Ok(row),
                _ => invalid(format!("`{name}` is not a predicate register")),
            },
            other => invalid(format!("{} is not a predicate register", describe(other))),
        }
    }
}

/// The bits of an immediate as an operand of type `ty`.
pub(super) fn immediate_bits(immediate: Immediate, ty: Ty) -> Option<u64> {
    Some(match (immediate, ty.kind) {
        (Immediate::Integer(value), Kind::Predicate) => {
            u64::from(if value != 0 { u32::MAX } else { 0 })
        }
        (Immediate::Integer(value), _) => {
            let bits = value as u64;
            if ty.bits >= 64 { bits } else { bits & ((1 << ty.bits) - 1) }
        }
        (Immediate::F32(bits), Kind::F64) => f64::from(f32::from_bits(bits)).to_bits(),
        (Immediate::F32(bits), _) if ty.bits >= 32 => u64::from(bits),
        (Immediate::F64(bits), Kind::F32) => u64::from((f64::from_bits(bits) as f32).to_bits()),
        (Immediate::F64(bits), _) if ty.bits >= 64 => bits,
        _ => return None,
    })
}

/// An operand in words, for messages.
pub(super) fn describe(operand: &Operand) -> String {
    match operand {
        Operand::Name(name) | Operand::NameOffset(name, _) => format!("`{name}`"),
        Operand::Not(name) => format!("`!{name}`"),
        Operand::Immediate(_) => "a number".to_owned(),
        Operand::Address { .. } => "an address".to_owned(),
        Operand::Vector(_) => "a vector".to_owned(),
        Operand::Pair(..) => "a pair".to_owned(),
        Operand::List(_) => "a list".to_owned(),
    }
}
