use std::sync::Arc; use ptx_emulator::*; use std::time::Instant;
fn main() {
    let src = std::fs::read_to_string("/tmp/h2/probe/k.ptx").unwrap();
    let t = Instant::now();
    let p = match Program::compile(&src) { Ok(p) => Arc::new(p), Err(e) => { println!("{e}"); return } };
    println!("compile {:?}", t.elapsed());
    for k in p.kernels() { println!("{k:?}"); }
    let n: usize = std::env::args().nth(1).map_or(256, |s| s.parse().unwrap());
    let a: Vec<f32> = (0..n*n).map(|i| ((i*7)%13) as f32 - 6.0).collect();
    let b: Vec<f32> = (0..n*n).map(|i| ((i*5)%11) as f32 - 5.0).collect();
    let bytes = |v: &[f32]| v.iter().flat_map(|x| x.to_le_bytes()).collect::<Vec<u8>>();
    let mut want = vec![0f32; n*n];
    for y in 0..n { for k in 0..n { let av=a[y*n+k]; for x in 0..n { want[y*n+x] = av.mul_add(b[k*n+x], want[y*n+x]); } } }
    for (k, blk) in [("mm_naive", 16u32), ("mm_naive", 32), ("mm_shared", 32), ("mm_naive_slice", 16)] {
        let mut m = Machine::new(MachineConfig::default());
        let id = m.load(p.clone()).unwrap();
        let (da, db, dc) = { let mm = m.memory_mut(); let d = (mm.alloc((n*n*4) as u64, "a").unwrap(), mm.alloc((n*n*4) as u64, "b").unwrap(), mm.alloc((n*n*4) as u64, "c").unwrap()); mm.write(d.0, &bytes(&a)).unwrap(); mm.write(d.1, &bytes(&b)).unwrap(); d };
        let mut params = vec![];
        if k == "mm_naive_slice" { for v in [da, (n*n) as u64, db, (n*n) as u64, dc, n as u64] { params.extend_from_slice(&v.to_le_bytes()); } }
        else { for v in [da, db, dc, n as u64] { params.extend_from_slice(&v.to_le_bytes()); } }
        let t = Instant::now();
        let g = n as u32 / blk;
        let r = m.launch(id, &Launch { kernel: k, grid: [g, g, 1], block: [blk, blk, 1], dynamic_shared_bytes: 0, params: &params }, &mut Vec::new());
        let el = t.elapsed();
        match r { Ok(r) => {
            let mut out = vec![0u8; n*n*4]; m.memory().read(dc, &mut out).unwrap();
            let got: Vec<f32> = out.chunks_exact(4).map(|c| f32::from_le_bytes(c.try_into().unwrap())).collect();
            println!("{k} {blk}: {el:?} correct={} {r:?} {:.2} G lane-ops/s", got == want, r.thread_instructions as f64 / el.as_secs_f64() / 1e9);
        } Err(f) => println!("{f}") }
    }
    let mut m = Machine::new(MachineConfig::default()); let id = m.load(p.clone()).unwrap();
    let mut out = Vec::new();
    m.launch(id, &Launch { kernel: "printer", grid: [1,1,1], block: [3,1,1], dynamic_shared_bytes: 0, params: &7u32.to_le_bytes() }, &mut out).unwrap();
    print!("{}", String::from_utf8_lossy(&out));
    println!("{}", m.launch(id, &Launch { kernel: "asserter", grid: [2,1,1], block: [64,1,1], dynamic_shared_bytes: 0, params: &33u32.to_le_bytes() }, &mut out).unwrap_err());
    let a = m.memory_mut().alloc(400, "a").unwrap(); let o = m.memory_mut().alloc(400, "out").unwrap();
    m.memory_mut().fill(a, &1f32.to_le_bytes(), 100).unwrap();
    let mut params = vec![]; for v in [a, 100u64, o, 60] { params.extend_from_slice(&v.to_le_bytes()); }
    println!("{:?}", m.launch(id, &Launch { kernel: "vec_sum", grid: [1,1,1], block: [40,1,1], dynamic_shared_bytes: 0, params: &params }, &mut out).map_err(|e| println!("{e}")));
    println!("{:?}", m.launch(id, &Launch { kernel: "vec_sum", grid: [1,1,1], block: [60,1,1], dynamic_shared_bytes: 0, params: &params }, &mut out).map_err(|e| println!("{e}")));
    let mut params = vec![]; for v in [a, 1000u64, o, 600] { params.extend_from_slice(&v.to_le_bytes()); }
    println!("{:?}", m.launch(id, &Launch { kernel: "vec_sum", grid: [1,1,1], block: [60,1,1], dynamic_shared_bytes: 0, params: &params }, &mut out).map_err(|e| println!("{e}")));
}
