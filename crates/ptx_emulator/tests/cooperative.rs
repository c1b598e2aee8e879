//! What a cooperative launch gives its kernel.

use ptx_emulator::{Launch, Machine, MachineConfig, Program};
use std::sync::Arc;

/// Writes the registers in which the driver passes the address of the grid's workspace, and what is there.
const KERNEL: &str = ".version 7.0
.target sm_70
.address_size 64
.visible .entry k(.param .u64 out)
{
	.reg .pred %p;
	.reg .b32 %r<4>;
	.reg .b64 %rd<4>;
	ld.param.u64 %rd1, [out];
	mov.u32 %r1, %envreg1;
	mov.u32 %r2, %envreg2;
	mov.b64 %rd2, {%r2, %r1};
	st.global.u64 [%rd1], %rd2;
	setp.eq.u64 %p, %rd2, 0;
	@%p ret;
	ld.global.u64 %rd3, [%rd2];
	st.global.u64 [%rd1+8], %rd3;
	ret;
}
";

#[test]
fn only_a_cooperative_launch_has_a_workspace_and_only_while_it_runs() {
    let mut machine = Machine::new(MachineConfig::default());
    let program = Program::compile(KERNEL).expect("valid PTX");
    let module = machine.load(Arc::new(program)).expect("there is memory");
    let out = machine.memory_mut().alloc(16, "out").expect("there is memory");
    let before = machine.leaks().len();
    let params = out.to_le_bytes();
    let launch = Launch {
        kernel: "k",
        grid: [1; 3],
        block: [1; 3],
        dynamic_shared_bytes: 0,
        params: &params,
    };
    let found = |machine: &mut Machine, cooperative: bool| {
        machine.memory_mut().write(out, &[0x5A; 16]).expect("an allocation");
        let output = &mut Vec::new();
        let result = if cooperative {
            machine.launch_cooperative(module, &launch, output)
        } else {
            machine.launch(module, &launch, output)
        };
        result.expect("the kernel is right");
        let mut bytes = [0; 16];
        machine.memory().read(out, &mut bytes).expect("an allocation");
        let (address, content) = bytes.split_at(8);
        [address, content].map(|half| u64::from_le_bytes(half.try_into().expect("8 bytes")))
    };
    assert_eq!(found(&mut machine, false), [0, 0x5A5A_5A5A_5A5A_5A5A]);
    let [address, content] = found(&mut machine, true);
    // Its size, and the barrier.
    assert_eq!(content, 8);
    assert!(machine.memory().read(address, &mut [0; 8]).is_err(), "freed after the launch");
    assert_eq!(machine.leaks().len(), before);
    assert_eq!(found(&mut machine, false), [0, 0x5A5A_5A5A_5A5A_5A5A]);
}
