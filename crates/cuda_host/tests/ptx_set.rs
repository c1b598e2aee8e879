//! PTX for several architectures, on whatever device there is (the emulator where there is no GPU).

mod kernels;

use cuda_host::{Device, ErrorKind, InOut, PtxSet, Result, launch};

/// `kernels::PTX` with another `scale`: it adds instead.
fn adding() -> String {
    let (from, to) = ("mul.f32 %f3, %f2, %f1", "add.f32 %f3, %f2, %f1");
    let (before, scale) = kernels::PTX.split_once(".entry scale(").expect("it is there");
    assert!(scale.contains(from));
    format!("{before}.entry scale({}", scale.replacen(from, to, 1))
}

#[test]
fn the_device_runs_the_best_of_the_set() -> Result<()> {
    let gpu = Device::open()?;
    let (major, minor) = gpu.compute_capability();
    let adding = adding();
    for (own, above) in [
        (format!("sm_{major}{minor}"), format!("sm_{}0", major + 1)),
        (format!("sm_{major}{minor}a"), format!("sm_{}0a", major + 1)),
    ] {
        let entries =
            [(above.as_str(), "no PTX"), (own.as_str(), adding.as_str()), ("sm_50", kernels::PTX)];
        gpu.load_best(&PtxSet::new(&entries))?;
        let mut x = [1.0, 2.0, 3.0];
        // SAFETY: `x` has 3 elements.
        unsafe { launch!(kernels::scale[1, 32](InOut(&mut x), 10.0, 3)) }?;
        assert_eq!(x, [11.0, 12.0, 13.0], "{own}");
        gpu.load_best(&PtxSet::new(&[entries[0], entries[2]]))?;
        // SAFETY: as above.
        unsafe { launch!(kernels::scale[1, 32](InOut(&mut x), 10.0, 3)) }?;
        assert_eq!(x, [110.0, 120.0, 130.0], "{own}");
    }

    let above = format!("sm_{}0", major + 1);
    let error = gpu.load_best(&PtxSet::new(&[(&above, kernels::PTX)])).unwrap_err();
    assert_eq!(error.kind(), ErrorKind::Module);
    let text = error.to_string();
    assert!(text.contains(&above) && text.contains(&format!("{major}.{minor}")), "{text}");
    Ok(())
}
