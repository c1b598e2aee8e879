//! What can be wrong with the arguments of a launch, and its wording.

/// The arguments given do not fit the kernel, or not the machine.
#[derive(Debug, thiserror::Error)]
#[non_exhaustive]
pub enum ArgumentError {
    /// The module has several kernels and none was named.
    #[error("{place} has {} kernels: {}; name one with --kernel", known.len(), known.join(", "))]
    KernelNeeded {
        /// The module.
        place: String,
        /// Its kernels.
        known: Vec<String>,
    },

    /// The module has no kernel at all.
    #[error("{place} has no kernel: nothing in it is declared .entry")]
    NoKernel {
        /// The module.
        place: String,
    },

    /// A kernel of this program that only runs with arguments.
    #[error(
        "kernel `{kernel}` has no inputs of its own; give its arguments with --arg, and --grid and --block (see `ferrowarp emulate --help`)"
    )]
    NoDefaults {
        /// The kernel.
        kernel: String,
    },

    /// As many arguments as parameters are needed.
    #[error(
        "kernel `{kernel}` takes {} and {given} --arg {} given; its parameters are{params}",
        if *wanted == 1 { "1 argument".to_owned() } else { format!("{wanted} arguments") },
        if *given == 1 { "is" } else { "are" }
    )]
    Count {
        /// The kernel.
        kernel: String,
        /// How many arguments were given.
        given: usize,
        /// How many there must be.
        wanted: usize,
        /// The parameters, a line each.
        params: String,
    },

    /// One argument does not fit its parameter.
    #[error("--arg {text} (argument {number}): {reason}")]
    Argument {
        /// As the user wrote it.
        text: String,
        /// Its place, 1-based.
        number: usize,
        /// What is wrong.
        reason: ArgumentReason,
    },

    /// The machine cannot hold the module's variables.
    #[error("the variables of {place} do not fit into the emulated device's memory: {source}")]
    Module {
        /// The module.
        place: String,
        /// What the machine said.
        source: ptx_emulator::MemoryError,
    },
}

/// Why an argument does not fit.
#[derive(Debug, thiserror::Error)]
#[non_exhaustive]
pub enum ArgumentReason {
    /// A number or structure of another size than the parameter.
    #[error(
        "it has {found} bytes, but parameter `{name}` of kernel `{kernel}` is {ty}, which has {wanted}"
    )]
    Size {
        /// Bytes given.
        found: u64,
        /// The parameter.
        name: String,
        /// Its kernel.
        kernel: String,
        /// Its type in PTX.
        ty: String,
        /// Its bytes.
        wanted: u64,
    },

    /// An array, for a parameter that is no pointer.
    #[error(
        "an array is passed as a pointer of 8 bytes, but parameter `{name}` of kernel `{kernel}` is {ty}, which has {wanted}"
    )]
    NoPointer {
        /// The parameter.
        name: String,
        /// Its kernel.
        kernel: String,
        /// Its type in PTX.
        ty: String,
        /// Its bytes.
        wanted: u64,
    },

    /// The emulated device has no room.
    #[error("{0}")]
    Memory(ptx_emulator::MemoryError),
}
