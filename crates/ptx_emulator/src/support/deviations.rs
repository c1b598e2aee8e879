//! Deliberate differences from the hardware (an H200, driver 580) that are not those of one instruction.

/// A deliberate difference.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Deviation {
    /// A short name, by which the tests that compare with recordings refer to it.
    pub name: &'static str,
    /// What the hardware does.
    pub hardware: &'static str,
    /// What the emulator does.
    pub emulator: &'static str,
    /// Why.
    pub reason: &'static str,
}

/// Every deliberate difference.
pub const DEVIATIONS: &[Deviation] = &[
    Deviation {
        name: "declared size",
        hardware: "checks pages of global memory and units of 128 bytes of shared memory",
        emulator: "faults at the first byte behind the declared or allocated size",
        reason: "an index that is one too large is the commonest mistake, and the hardware often hides it",
    },
    Deviation {
        name: "no clusters",
        hardware: "reads the upper byte of a shared address as the number of a block of the cluster",
        emulator: "faults unless that block is in the cluster and in progress, and reached by `.shared::cluster` or a generic address",
        reason: "such an address was not made by `mapa`, or is used too early or too late; plain `.shared` is `.shared::cta`, outside of which PTX defines nothing",
    },
    Deviation {
        name: "constants",
        hardware: "drops a generic store to constant memory",
        emulator: "faults",
        reason: "to drop it hides a mistake",
    },
    Deviation {
        name: "code addresses",
        hardware: "jumps to whatever address a register holds, and faults, hangs or goes on",
        emulator: "faults unless it is the address of a function",
        reason: "no code lies at addresses here; functions have numbers",
    },
    Deviation {
        name: "unwritten memory",
        hardware: "fresh memory holds what was there before, often zero",
        emulator: "fresh memory holds a poison pattern",
        reason: "results that depend on luck should not look right",
    },
    Deviation {
        name: "order of blocks and warps",
        hardware: "depends on load and device",
        emulator: "is fixed, or chosen by a seed",
        reason: "a failure can be repeated, and looked for under other orders",
    },
    Deviation {
        name: "memory order",
        hardware: "may reorder accesses that no fence, order or scope keeps apart, and serve them from caches",
        emulator: "makes accesses one at a time and in the order of the program; orders, scopes and cache hints change nothing",
        reason: "one order is enough to execute a program; that it needs another is for checks to find, not for luck",
    },
    Deviation {
        name: "colliding stores",
        hardware: "some lane's value stays when several lanes of one store name one place",
        emulator: "it is always the same lane's",
        reason: "one answer has to be chosen; a program that depends on it is wrong",
    },
    Deviation {
        name: "time",
        hardware: "clocks count cycles and nanoseconds",
        emulator: "clocks count executed instructions",
        reason: "results stay the same from run to run",
    },
    Deviation {
        name: "contraction",
        hardware: "ptxas may fuse `mul` and `add` that name no rounding into `fma`",
        emulator: "rounds each operation by itself",
        reason: "PTX allows both; compilers that want the fused form write `fma`",
    },
    Deviation {
        name: "impossible instructions",
        hardware: "the driver refuses a module with an instruction that does not exist",
        emulator: "refuses modifiers that do not go together, and lets an unknown instruction fault when it is reached",
        reason: "it may be newer than the emulator, in a part of the module that never runs",
    },
    Deviation {
        name: "targets",
        hardware: "the driver refuses instructions that the module's .target or .version does not have",
        emulator: "executes them",
        reason: "one emulated device stands for every target",
    },
];
