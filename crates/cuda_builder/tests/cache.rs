//! The cache that projects share. Real builds of `fixtures/kernels`.

mod common;

use std::fs;
use std::path::{Path, PathBuf};
use std::time::SystemTime;

use common::{
    Project, assert_contains, builder, copy_fixture, edit, kernel, ptx, scratch, toolchain,
};
use cuda_builder::{Cache, CudaBuilder, NvvmArch};

/// A cache for one test, empty.
struct Shelf(PathBuf);

impl Shelf {
    fn new(test: &str) -> Self {
        let folder = scratch().join("caches").join(test);
        if folder.exists() {
            fs::remove_dir_all(&folder).expect("removable");
        }
        Self(folder)
    }

    fn builder(&self, folder: &Path) -> CudaBuilder {
        builder(folder).cache(Cache::Folder(self.0.clone()))
    }

    /// The files of the results.
    fn results(&self) -> Vec<PathBuf> {
        let list = |folder: &Path| {
            let entries = fs::read_dir(folder).into_iter().flatten().flatten();
            entries.map(|entry| entry.path()).collect::<Vec<_>>()
        };
        let mut files: Vec<PathBuf> =
            list(&self.0.join("ptx")).iter().flat_map(|key| list(key)).collect();
        files.retain(|file| file.extension().is_some_and(|extension| extension == "result"));
        files
    }
}

/// Makes a workspace of a copied fixture: a host program with the kernels in a folder of it. Gives that folder.
fn in_workspace(project: &Project, host: &str) -> PathBuf {
    let kernels = project.join("gpu");
    common::copy(&common::fixtures().join("kernels"), &kernels);
    edit(
        &kernels.join("Cargo.toml"),
        "# Not a member of the repository's workspace.\n[workspace]\n",
        "",
    );
    let manifest = format!(
        "[package]\nname = \"{host}\"\nversion = \"0.1.0\"\nedition = \"2024\"\n[workspace]\nmembers = [\"gpu\"]\n"
    );
    fs::write(project.join("Cargo.toml"), manifest).expect("writable");
    fs::create_dir_all(project.join("src")).expect("writable");
    fs::write(project.join("src/lib.rs"), "").expect("writable");
    kernels
}

/// Builds where nothing was built before, and fails if that compiled anything.
#[track_caller]
fn without_compiling(builder: CudaBuilder, folder: &Path) -> String {
    let target = folder.join("untouched");
    let ptx = ptx(builder.target_dir(&target), folder);
    let left: Vec<String> = fs::read_dir(&target)
        .expect("the lock is there")
        .flatten()
        .map(|entry| entry.file_name().to_string_lossy().into_owned())
        .filter(|name| name != "lock" && !name.ends_with(".ptx") && !name.ends_with(".ll"))
        .collect();
    assert!(left.is_empty(), "the nested build ran: {left:?}");
    ptx
}

#[test]
fn another_project_with_the_same_kernels_compiles_nothing() {
    if toolchain().is_none() {
        return;
    }
    let shelf = Shelf::new("two_projects");
    let (one, two) = ("host-one", "another-host");
    let project = copy_fixture("program", "cache_one");
    let kernels = in_workspace(&project, one);
    let first = ptx(shelf.builder(&kernels), &kernels);
    let place = kernels.display().to_string();
    assert_contains(&first, &[&format!("\"{place}/src/lib.rs\""), ".entry multiply_add("]);
    assert_eq!(shelf.results().len(), 1);

    drop(project);
    let project = copy_fixture("program", "cache_two");
    let kernels = in_workspace(&project, two);
    let module = project.join("module.ll");
    let builder = shelf.builder(&kernels).final_module_path(&module);
    let second = without_compiling(builder, &kernels);
    // The lines are those of its own files.
    let own = kernels.display().to_string();
    assert_eq!(second, first.replace(&format!("\"{place}/"), &format!("\"{own}/")));
    let module = fs::read_to_string(module).expect("it is there");
    let (one, two) = (place.trim_end_matches("/gpu"), own.trim_end_matches("/gpu"));
    assert!(module.contains(two) && !module.contains(one));
    assert_eq!(shelf.results().len(), 1);
}

#[test]
fn whatever_decides_the_ptx_makes_another_entry() {
    if toolchain().is_none() {
        return;
    }
    let shelf = Shelf::new("misses");
    let folder = copy_fixture("kernels", "cache_misses");
    let source = folder.join("src/lib.rs");
    fs::write(folder.join("step.txt"), "1500").expect("writable");
    edit(
        &source,
        "{ 111 }",
        "{ include_str!(\"../step.txt\").as_bytes()[0] as u32 * 1000 + match option_env!(\"CACHE_TEST_STEP\") { Some(_) => 7, None => 5 } }",
    );
    let build = || ptx(shelf.builder(&folder), &folder);
    let mut entries = 0;
    let mut expect_another = |ptx: &str, parts: &[&str]| {
        entries += 1;
        assert_contains(ptx, parts);
        assert_eq!(shelf.results().len(), entries, "{parts:?}");
        // And it is found.
        assert_eq!(without_compiling(shelf.builder(&folder), &folder), ptx);
        assert_eq!(shelf.results().len(), entries, "{parts:?}");
    };
    expect_another(&build(), &[", 49005;"]);

    fs::write(folder.join("step.txt"), "2500").expect("writable");
    expect_another(&build(), &[", 50005;"]);

    edit(&folder.join("device/src/lib.rs"), "WEIGHTS[2]", "WEIGHTS[2] + 64.0");
    expect_another(&build(), &["0f42800000"]);

    edit(&folder.join("Cargo.toml"), "tripled = []", "default = [\"tripled\"]\ntripled = []");
    expect_another(&build(), &[", 333;"]);
    edit(&folder.join("Cargo.toml"), "default = [\"tripled\"]\n", "");

    // Back to what was built before: that entry counts again.
    assert_contains(&without_compiling(shelf.builder(&folder), &folder), &[", 50005;"]);

    let fast = ptx(shelf.builder(&folder).fast_div(true), &folder);
    assert_contains(kernel(&fast, "divide"), &["div.full.f32"]);
    let hopper = ptx(shelf.builder(&folder).arch(NvvmArch::Compute90), &folder);
    assert_contains(&hopper, &[".target sm_90\n"]);
    let tripled = ptx(shelf.builder(&folder).build_args(&["--features", "tripled"]), &folder);
    assert_contains(&tripled, &[", 333;"]);
    assert_eq!(shelf.results().len(), 7);
}

#[test]
fn a_damaged_entry_is_built_again() {
    if toolchain().is_none() {
        return;
    }
    let shelf = Shelf::new("damaged");
    let folder = copy_fixture("kernels", "cache_damaged");
    let good = ptx(shelf.builder(&folder), &folder);
    for damage in [
        (|file: &Path| {
            let text = fs::read_to_string(file).expect("readable");
            fs::write(file, text.replacen("fma.rn.f32", "add.rn.f32", 1)).expect("writable");
        }) as fn(&Path),
        |file| fs::write(file, "").expect("writable"),
        |file| fs::write(file.with_extension("inputs"), [0xFF; 10]).expect("writable"),
        |file| fs::remove_file(file).expect("removable"),
    ] {
        let results = shelf.results();
        assert_eq!(results.len(), 1);
        damage(&results[0]);
        assert_eq!(ptx(shelf.builder(&folder), &folder), good);
        // It was replaced by a good one.
        assert_eq!(without_compiling(shelf.builder(&folder), &folder), good);
    }
}

#[test]
fn a_cache_that_cant_be_used_changes_nothing() {
    if toolchain().is_none() {
        return;
    }
    let folder = copy_fixture("kernels", "cache_unusable");
    let plain = ptx(builder(&folder), &folder);
    // A file where a folder is needed: this fails for root as well.
    let file = folder.join("file");
    fs::write(&file, "").expect("writable");
    for cache in [file.clone(), file.join("cache")] {
        assert_eq!(ptx(builder(&folder).cache(Cache::Folder(cache)), &folder), plain);
    }
    assert_eq!(fs::read(&file).expect("readable"), b"");

    #[cfg(unix)]
    {
        use std::os::unix::fs::PermissionsExt;
        let cache = folder.join("read_only");
        fs::create_dir(&cache).expect("writable");
        fs::set_permissions(&cache, fs::Permissions::from_mode(0o555)).expect("settable");
        assert_eq!(ptx(builder(&folder).cache(Cache::Folder(cache)), &folder), plain);
    }
}

#[test]
fn crates_whose_inputs_nobody_knows_are_not_kept() {
    if toolchain().is_none() {
        return;
    }
    let shelf = Shelf::new("unknown");
    let folder = copy_fixture("kernels", "cache_unknown");
    let script = folder.join("device/build.rs");
    fs::write(&script, "fn main() {}").expect("writable");
    ptx(shelf.builder(&folder), &folder);
    assert!(shelf.results().is_empty(), "a dependency has a build script");
    fs::remove_file(&script).expect("removable");

    // A crate that asks where it is has another result elsewhere, and is kept for its own place.
    edit(
        &folder.join("src/lib.rs"),
        "{ 111 }",
        "{ env!(\"CARGO_MANIFEST_DIR\").len() as u32 + 5000 }",
    );
    let here = ptx(shelf.builder(&folder), &folder);
    assert_eq!(without_compiling(shelf.builder(&folder), &folder), here);
    let text = fs::read_to_string(folder.join("src/lib.rs")).expect("readable");
    drop(folder);
    let folder = copy_fixture("kernels", "cache_unknown_elsewhere");
    fs::write(folder.join("src/lib.rs"), text).expect("writable");
    let elsewhere = ptx(shelf.builder(&folder), &folder);
    let step = |ptx: &str, length: usize| ptx.contains(&format!(", {};", 5000 + length));
    let length = folder.display().to_string().len();
    assert!(step(&elsewhere, length) && !step(&here, length));
    assert_eq!(shelf.results().len(), 2);
}

#[test]
fn builds_at_the_same_time_share_it() {
    if toolchain().is_none() {
        return;
    }
    let shelf = Shelf::new("parallel");
    let folder = copy_fixture("kernels", "cache_parallel");
    let archs = [NvvmArch::Compute75, NvvmArch::Compute80];
    let build_all = |target: &dyn Fn(usize) -> PathBuf| {
        std::thread::scope(|scope| {
            for number in 0..4 {
                let arch = archs[number % 2];
                let path = folder.join(format!("{number}.ptx"));
                let builder =
                    shelf.builder(&folder).arch(arch).copy_to(&path).target_dir(target(number));
                scope.spawn(move || {
                    builder.build().expect("the fixture compiles");
                    let ptx = fs::read_to_string(path).expect("it is there");
                    assert_contains(&ptx, &[&format!(".target {arch}\n")]);
                });
            }
        });
    };
    build_all(&|_| scratch().join("build"));
    assert_eq!(shelf.results().len(), 2);
    // Each in a folder of its own: all are served.
    build_all(&|number| folder.join(format!("target{number}")));
    assert!((0..4).all(|number| !folder.join(format!("target{number}/cargo")).exists()));
}

/// When `core` was compiled that lies in a nested build's folder.
fn age_of_core(target: &Path) -> SystemTime {
    let deps = target.join("cargo/nvptx64-nvidia-cuda/release/deps");
    let core = fs::read_dir(deps).expect("cargo ran").flatten().find(|entry| {
        let name = entry.file_name().to_string_lossy().into_owned();
        name.starts_with("libcore-") && name.ends_with(".rlib")
    });
    core.expect("it is compiled").metadata().and_then(|about| about.modified()).expect("readable")
}

#[test]
fn other_kernels_take_the_compiled_dependencies() {
    if toolchain().is_none() {
        return;
    }
    let shelf = Shelf::new("crates");
    let folder = copy_fixture("kernels", "cache_crates");
    let (one, two, three) = (folder.join("one"), folder.join("two"), folder.join("three"));
    // Filled from the folder that the tests share.
    ptx(shelf.builder(&folder), &folder);
    let started = SystemTime::now();
    edit(&folder.join("src/lib.rs"), "{ 111 }", "{ 4321 }");
    let second = ptx(shelf.builder(&folder).target_dir(&one), &folder);
    assert_contains(&second, &[", 4321;"]);
    assert!(age_of_core(&one) < started, "core was compiled again");
    // An error of the author's is an error still.
    edit(&folder.join("src/lib.rs"), "{ 4321 }", "{ missing }");
    let error =
        shelf.builder(&folder).target_dir(&two).build().expect_err("`missing` is undefined");
    assert_contains(&error.to_string(), &["error[E0425]", "missing"]);
    assert!(age_of_core(&two) < started, "core was compiled again");
    edit(&folder.join("src/lib.rs"), "{ missing }", "{ 5432 }");

    // Damage that only the compiler notices: the same size, other bytes. Written anew, because the folders above share the file.
    for file in files_under(&shelf.0.join("crates")) {
        let name = file.file_name().expect("it is a file").to_string_lossy().into_owned();
        if name.starts_with("libcore-") {
            let size = fs::metadata(&file).expect("readable").len();
            fs::remove_file(&file).expect("removable");
            fs::write(&file, vec![0; size as usize]).expect("writable");
        }
    }
    let third = ptx(shelf.builder(&folder).target_dir(&three), &folder);
    assert_contains(&third, &[", 5432;"]);
    assert!(age_of_core(&three) >= started, "core had to be compiled again");
}

fn files_under(folder: &Path) -> Vec<PathBuf> {
    let entries = fs::read_dir(folder).into_iter().flatten().flatten().map(|entry| entry.path());
    entries.flat_map(|path| if path.is_dir() { files_under(&path) } else { vec![path] }).collect()
}
