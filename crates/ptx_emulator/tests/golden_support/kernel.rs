//! Builds a kernel around a recorded instruction form, runs it, and reads its outputs back.

use std::sync::Arc;

use ptx_emulator::{CompileErrorKind, FaultKind, Launch, Machine, MachineConfig, Output, Program};

use super::{Form, Register};

/// Bytes that outputs hold before the launch, so that an element never written shows.
const FILL: u8 = 0xcc;

/// Why a form gave no outputs.
#[derive(Debug)]
pub enum Failure {
    /// The emulator says that it does not have this instruction.
    Unsupported(String),
    /// Anything else: the module did not load, the launch failed.
    Other(String),
}

/// The declaration type of a register that holds a value of this type.
fn declared(register: &Register) -> &'static str {
    match (register.ty.as_str(), register.bits()) {
        ("r8", _) => ".b8",
        (_, 1) => ".pred",
        (_, 8 | 16) => ".b16",
        (_, 32) => ".b32",
        (_, 64) => ".b64",
        _ => ".b128",
    }
}

/// Puts an address register in the place of `[mem]`: the output buffer's if the content is an output, else the form's own
/// shared location `%s`, or `%q`, which holds its generic address.
fn with_memory(form: &Form, ptx: &str) -> String {
    let global = form.outs.iter().any(|out| out.name == "mem");
    let address = |statement: &str| {
        if global {
            "[%m]"
        } else if statement.contains(".shared") {
            "[%s]"
        } else {
            "[%q]"
        }
    };
    ptx.split_inclusive(';')
        .map(|statement| statement.replace("[mem]", address(statement)))
        .collect()
}

/// PTX of the form's kernel: thread i reads element i of each input column, runs the form, and writes element i of each output
/// column. Parameters: four input and four output pointers and the number of elements.
pub fn module(form: &Form) -> String {
    let mut text =
        String::from(".version 8.8\n.target sm_90\n.address_size 64\n\n.visible .entry form(\n");
    for index in 0..8 {
        text += &format!("\t.param .u64 p{index},\n");
    }
    text += "\t.param .u32 pn\n)\n{\n";
    let mut line = |statement: &str| {
        text.push('\t');
        text.push_str(statement);
        text.push('\n');
    };
    line(".reg .pred %outside;");
    line(".reg .b16 %h;");
    line(".reg .b32 %i, %n, %t, %size;");
    line(".reg .b64 %address, %m;");
    for register in form.ins.iter().chain(form.outs.iter().filter(|out| out.name != "mem")) {
        line(&format!(".reg {} {};", declared(register), register.name));
    }
    let body = format!("{} {}", with_memory(form, &form.before), with_memory(form, &form.ptx));
    if body.contains("sx") {
        line(".shared .align 16 .b8 sx[4096];");
    }
    line("mov.u32 %t, %tid.x;");
    line("mov.u32 %i, %ctaid.x;");
    line("mov.u32 %n, %ntid.x;");
    line("mad.lo.u32 %i, %i, %n, %t;");
    line("ld.param.u32 %size, [pn];");
    line("setp.ge.u32 %outside, %i, %size;");
    line("@%outside exit;");
    for (index, input) in form.ins.iter().enumerate() {
        line(&format!("ld.param.u64 %address, [p{index}];"));
        line(&format!("mad.wide.u32 %address, %i, {}, %address;", input.bytes()));
        match input.bits() {
            1 => {
                line("ld.global.u8 %h, [%address];");
                line(&format!("setp.ne.u16 {}, %h, 0;", input.name));
            }
            8 => line(&format!("ld.global.u8 {}, [%address];", input.name)),
            bits => line(&format!("ld.global.b{bits} {}, [%address];", input.name)),
        }
    }
    if let Some(index) = form.outs.iter().position(|out| out.name == "mem") {
        line(&format!("ld.param.u64 %m, [p{}];", 4 + index));
        line(&format!("mad.wide.u32 %m, %i, {}, %m;", form.outs[index].bytes()));
    }
    line(&body);
    for (index, output) in form.outs.iter().enumerate().filter(|(_, out)| out.name != "mem") {
        line(&format!("ld.param.u64 %address, [p{}];", 4 + index));
        line(&format!("mad.wide.u32 %address, %i, {}, %address;", output.bytes()));
        match output.bits() {
            1 => {
                line(&format!("selp.u16 %h, 1, 0, {};", output.name));
                line("st.global.u8 [%address], %h;");
            }
            8 => line(&format!("st.global.u8 [%address], {};", output.name)),
            bits => line(&format!("st.global.b{bits} [%address], {};", output.name)),
        }
    }
    line("ret;");
    text += "}\n";
    text
}

/// What a kernel prints goes nowhere.
struct Silent;

impl Output for Silent {
    fn print(&mut self, _text: &[u8]) {}
}

/// Runs the form over all its inputs; the outputs have a column for each register, as recorded.
///
/// # Errors
/// [`Failure`], when there are no outputs.
pub fn run(form: &Form) -> Result<Vec<Vec<u128>>, Failure> {
    let source = module(form);
    let program = Program::compile(&source).map_err(|error| match error.kind() {
        CompileErrorKind::Unsupported => Failure::Unsupported(error.to_string()),
        _ => Failure::Other(error.to_string()),
    })?;
    let other = |error: &dyn std::fmt::Display| Failure::Other(error.to_string());
    let mut machine = Machine::new(MachineConfig::default());
    let mut params = [0u8; 8 * 8 + 4];
    for (index, column) in form.inputs.iter().enumerate() {
        // A set can have more columns than the form reads.
        let Some(input) = form.ins.get(index) else { break };
        let bytes = input.bytes();
        let data: Vec<u8> =
            column.iter().flat_map(|value| value.to_le_bytes().into_iter().take(bytes)).collect();
        let address = machine
            .memory_mut()
            .alloc(data.len() as u64, &input.name)
            .map_err(|error| other(&error))?;
        machine.memory_mut().write(address, &data).map_err(|error| other(&error))?;
        params[8 * index..8 * index + 8].copy_from_slice(&address.to_le_bytes());
    }
    let mut outputs = Vec::new();
    for (index, output) in form.outs.iter().enumerate() {
        let bytes = form.count() * output.bytes();
        let address = machine
            .memory_mut()
            .alloc(bytes as u64, &output.name)
            .map_err(|error| other(&error))?;
        machine.memory_mut().write(address, &vec![FILL; bytes]).map_err(|error| other(&error))?;
        params[8 * (4 + index)..8 * (5 + index)].copy_from_slice(&address.to_le_bytes());
        outputs.push((address, bytes));
    }
    params[64..].copy_from_slice(&(form.count() as u32).to_le_bytes());
    let module = machine.load(Arc::new(program)).map_err(|error| other(&error))?;
    let grid = [(form.count() as u32).div_ceil(form.block), 1, 1];
    let launch = Launch {
        kernel: "form",
        grid,
        block: [form.block, 1, 1],
        dynamic_shared_bytes: 0,
        params: &params,
    };
    machine.launch(module, &launch, &mut Silent).map_err(|fault| match fault.kind() {
        FaultKind::UnsupportedInstruction { mnemonic } => Failure::Unsupported(mnemonic.clone()),
        _ => Failure::Other(fault.to_string()),
    })?;
    let mut columns = Vec::new();
    for (output, (address, bytes)) in form.outs.iter().zip(outputs) {
        let mut data = vec![0; bytes];
        machine.memory().read(address, &mut data).map_err(|error| other(&error))?;
        columns.push(
            data.chunks_exact(output.bytes()).map(|element| recorded(output, element)).collect(),
        );
    }
    Ok(columns)
}

/// An element of memory as the record shows it: a predicate is one hexadecimal digit.
fn recorded(output: &Register, element: &[u8]) -> u128 {
    let mut bytes = [0; 16];
    bytes[..element.len()].copy_from_slice(element);
    let value = u128::from_le_bytes(bytes);
    if output.bits() == 1 { value & 0xf } else { value }
}
