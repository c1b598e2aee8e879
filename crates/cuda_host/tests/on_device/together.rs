//! Launches of blocks that work together.

use cuda_host::{ErrorKind, Result, launch};

use crate::kernels::{numbers, open, together};

/// What `sums_of_neighbours` makes of these.
fn sums_of_neighbours(values: &[u32], rounds: u32) -> Vec<u32> {
    let mut values = values.to_vec();
    for _ in 0..rounds {
        let at = |i: Option<usize>| i.and_then(|i| values.get(i)).copied().unwrap_or(0);
        let sum =
            |i: usize| at(Some(i)).wrapping_add(at(i.checked_sub(1))).wrapping_add(at(Some(i + 1)));
        values = (0..values.len()).map(sum).collect();
    }
    values
}

#[test]
fn the_whole_grid_meets_at_a_barrier() -> Result<()> {
    let gpu = open()?;
    let stream = gpu.stream()?;
    for (seed, (n, blocks, rounds)) in
        (1..).zip([(1000, 7, 4), (33, 4, 3), (1, 1, 2), (5000, 40, 5)])
    {
        let values: Vec<u32> = numbers(seed).take(n).map(|n| n as u32).collect();
        let mut x = gpu.to_device(&values)?;
        let mut y = gpu.to_device(&vec![0x5A5A_5A5A_u32; n])?;
        if seed % 2 == 0 {
            // SAFETY: both have `n` elements, and the launch is cooperative.
            unsafe {
                launch!(together::sums_of_neighbours[blocks, 64, 0, &stream; cooperative](&mut x, &mut y, n, rounds))
            }?;
        } else {
            // SAFETY: as above.
            unsafe {
                launch!(together::sums_of_neighbours[blocks, 64; cooperative](&mut x, &mut y, n, rounds))
            }?;
        }
        let found = if rounds % 2 == 0 { x.to_host()? } else { y.to_host()? };
        assert_eq!(found, sums_of_neighbours(&values, rounds), "{n} elements, {rounds} rounds");
    }
    Ok(())
}

#[test]
fn a_cooperative_grid_fits_the_device() -> Result<()> {
    let gpu = open()?;
    let most = gpu.resident_blocks("sums_of_neighbours", 1024, 0)?;
    let multiprocessors = u64::from(gpu.attributes().multiprocessors);
    assert!(most >= multiprocessors && most % multiprocessors == 0, "{most}");
    let mut x = gpu.to_device(&[1_u32, 2, 3])?;
    let mut y = gpu.zeros::<u32>(3)?;
    // SAFETY: three elements each, and the launch is cooperative.
    let mut run = |blocks: u64| unsafe {
        launch!(together::sums_of_neighbours[blocks, 1024; cooperative](&mut x, &mut y, 3, 1))
    };
    let refused = run(most + 1).expect_err("one too many");
    assert_eq!(refused.kind(), ErrorKind::LaunchShape);
    assert_eq!(
        refused.to_string(),
        format!(
            "kernel `sums_of_neighbours`: a cooperative launch of {} blocks is more than the {most} that the device holds at \
             the same time, {} on each of its {multiprocessors} multiprocessors\n\
             help: use at most {most} blocks, and let each thread do more (`thread::grid_stride`)",
            most + 1,
            most / multiprocessors
        )
    );
    run(most)?;
    assert_eq!(y.to_host()?, [3, 6, 5]);
    // With more shared memory fewer fit.
    let bytes = gpu.attributes().max_shared_bytes_per_block;
    assert_eq!(gpu.resident_blocks("sums_of_neighbours", 64, bytes)?, multiprocessors);
    assert!(gpu.resident_blocks("sums_of_neighbours", 64, 0)? > multiprocessors);
    assert!(gpu.resident_blocks("sums_of_neighbours", 1025, 0).is_err());
    Ok(())
}

/// What `passed_on` gives in clusters whose blocks have these numbers in the grid.
fn passed_on(values: &[u32], threads: usize, clusters: &[Vec<usize>]) -> Vec<u32> {
    let mut passed = values.to_vec();
    for cluster in clusters {
        for (rank, block) in cluster.iter().enumerate() {
            let next = cluster[(rank + 1) % cluster.len()];
            let from = block * threads..(block + 1) * threads;
            passed[next * threads..(next + 1) * threads].copy_from_slice(&values[from]);
        }
    }
    passed
}

fn along_x(blocks: usize, cluster: usize) -> Vec<Vec<usize>> {
    (0..blocks).step_by(cluster).map(|first| (first..first + cluster).collect()).collect()
}

#[test]
fn blocks_are_launched_in_clusters() -> Result<()> {
    let gpu = open()?;
    for (seed, (blocks, threads, cluster)) in
        (1..).zip([(8, 128, 2), (8, 33, 8), (6, 1, 3), (4, 64, 1)])
    {
        let all = blocks * threads;
        let values: Vec<u32> = numbers(seed).take(all).map(|n| n as u32).collect();
        let x = gpu.to_device(&values)?;
        let mut out = gpu.to_device(&vec![0x5A5A_5A5A_u32; all])?;
        // SAFETY: an element for each thread.
        unsafe { launch!(together::passed_on[blocks, threads; cluster = cluster](&x, &mut out)) }?;
        let expected = passed_on(&values, threads, &along_x(blocks, cluster));
        assert_eq!(out.to_host()?, expected, "clusters of {cluster}");
        // Without a word about clusters each block is one.
        // SAFETY: as above.
        unsafe { launch!(together::passed_on[blocks, threads](&x, &mut out)) }?;
        assert_eq!(out.to_host()?, values);
    }
    Ok(())
}

#[test]
fn kernels_have_clusters_of_their_own() -> Result<()> {
    let gpu = open()?;
    assert_eq!(gpu.kernel_attributes("passed_on_in_fours")?.cluster, Some([2, 2, 1]));
    assert_eq!(gpu.kernel_attributes("passed_on")?.cluster, None);
    let threads = 40;
    let values: Vec<u32> = numbers(9).take(8 * threads).map(|n| n as u32).collect();
    let x = gpu.to_device(&values)?;
    let mut out = gpu.to_device(&vec![0x5A5A_5A5A_u32; values.len()])?;
    // One block a row, so that a block's number is that of `index_1d`, is not to be had with two along x: a kernel for one
    // axis takes the blocks of the first row.
    // SAFETY: an element for each thread of a row; the second row writes the same.
    let refused = unsafe { launch!(together::passed_on_in_fours[8, threads](&x, &mut out)) };
    assert_eq!(
        refused.expect_err("one row").to_string(),
        "kernel `passed_on_in_fours`: a grid of 8 x 1 x 1 blocks cannot be divided into clusters of 2 x 2 x 1 along y\n\
         help: round the grid up to whole clusters, and let the blocks that are too many do nothing"
    );
    // SAFETY: as above.
    let refused = unsafe {
        launch!(together::passed_on_in_fours[(8, 2), threads; cluster = 2](&x, &mut out))
    };
    assert_eq!(
        refused.expect_err("another cluster").to_string(),
        "kernel `passed_on_in_fours`: the launch asks for clusters of 2 x 1 x 1 blocks, and the kernel is made for clusters of \
         2 x 2 x 1\nhelp: leave `cluster` out of the launch"
    );
    // SAFETY: as above.
    unsafe { launch!(together::passed_on_in_fours[(8, 2), threads](&x, &mut out)) }?;
    // In a cluster of (0, 0), (1, 0), (0, 1), (1, 1) rank 0 passes on to rank 1, and rank 3 to rank 0: both rows of the grid have the
    // same values.
    assert_eq!(out.to_host()?, passed_on(&values, threads, &along_x(8, 2)));
    Ok(())
}

#[test]
fn clusters_and_the_grid_s_barrier_go_together() -> Result<()> {
    let gpu = open()?;
    let (blocks, threads, rounds) = (8, 64, 3);
    let mut values: Vec<u32> = numbers(5).take(blocks * threads).map(|n| n as u32).collect();
    let mut x = gpu.to_device(&values)?;
    // SAFETY: an element for each thread; a cooperative launch in clusters.
    unsafe {
        launch!(together::passed_on_in_place[blocks, threads; cluster = (4, 1), cooperative](&mut x, rounds))
    }?;
    for _ in 0..rounds {
        values.iter_mut().for_each(|value| *value = value.wrapping_add(1));
        values = passed_on(&values, threads, &along_x(blocks, 4));
    }
    assert_eq!(x.to_host()?, values);
    Ok(())
}

#[test]
fn clusters_that_cannot_be_are_refused() -> Result<()> {
    let gpu = open()?;
    let x = gpu.to_device(&[1_u32; 16])?;
    let mut out = gpu.zeros::<u32>(16)?;
    let mut refused = |cluster: usize| {
        // SAFETY: an element for each thread.
        let result =
            unsafe { launch!(together::passed_on[16, 1; cluster = cluster](&x, &mut out)) };
        let error = result.expect_err("no such cluster");
        assert_eq!((error.kind(), error.exit_code()), (ErrorKind::LaunchShape, 2));
        error.to_string()
    };
    assert_eq!(
        refused(16),
        "kernel `passed_on`: a cluster of 16 x 1 x 1 = 16 blocks is more than the 8 blocks that a cluster may have\n\
         help: make the cluster smaller"
    );
    assert!(refused(3).contains("cannot be divided into clusters of 3 x 1 x 1 along x"));
    assert!(refused(0).contains("the cluster is 0 x 1 x 1, and x may not be 0"));
    Ok(())
}
