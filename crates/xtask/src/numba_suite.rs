//! `cargo xtask numba-suite`: numba-cuda's own tests on our driver library, and the page of their results.

mod environment;
mod page;
mod reasons;
mod record;
mod workers;

use std::path::{Path, PathBuf};
use std::time::Duration;

use page::Summary;
use reasons::Reasons;
pub use record::BadLine;
use record::Record;

use crate::error::Error;
use crate::workspace_root;

/// Arguments of the command.
#[derive(clap::Args)]
pub struct Arguments {
    /// Sum up this record instead of running the tests.
    #[arg(long, conflicts_with_all = ["jobs", "limit", "only"])]
    from: Option<PathBuf>,
    /// Keep the record here.
    #[arg(long)]
    keep: Option<PathBuf>,
    /// Processes at a time.
    #[arg(long, default_value_t = 2)]
    jobs: usize,
    /// Time a test may take, seconds.
    #[arg(long, default_value_t = 120)]
    limit: u64,
    /// Only tests that pytest's `-k` selects; the page is then left as it is.
    #[arg(long)]
    only: Option<String>,
}

/// Runs the tests, or takes a record, and writes docs/numba-suite.md.
///
/// # Errors
/// When the tests cannot be run, a file cannot be read or written, or a test does not pass without a reason
/// in the table.
pub fn run(arguments: &Arguments) -> Result<(), Error> {
    let root = workspace_root()?;
    let (text, source) = match &arguments.from {
        Some(path) => (read(path)?, path.clone()),
        None => {
            let environment = environment::prepare(&root)?;
            let settings = workers::Settings {
                jobs: arguments.jobs,
                limit: Duration::from_secs(arguments.limit),
                only: arguments.only.clone(),
            };
            (workers::run(&root, &environment, &settings)?, PathBuf::from("the run's record"))
        }
    };
    if let Some(path) = &arguments.keep {
        std::fs::write(path, &text).map_err(|error| Error::io(path, error))?;
    }
    let record =
        Record::read(&text).map_err(|error| Error::Record { path: source, source: error })?;
    let path = root.join("crates/xtask/data/numba_reasons.toml");
    let reasons = Reasons::read(&read(&path)?)
        .map_err(|error| Error::Reasons { path: path.clone(), source: Box::new(error) })?;
    let summary = Summary::new(&record, &reasons);
    println!("{}", record.totals());
    if arguments.only.is_none() {
        for reason in reasons.unused(&record) {
            println!("no test has this reason any more: {}", reason.why);
        }
        let page = root.join("docs/numba-suite.md");
        std::fs::write(&page, summary.page()).map_err(|error| Error::io(&page, error))?;
        println!("wrote {}", page.display());
    }
    if summary.unexplained.is_empty() {
        Ok(())
    } else {
        Err(Error::Unexplained { tests: summary.unexplained, table: path })
    }
}

fn read(path: &Path) -> Result<String, Error> {
    std::fs::read_to_string(path).map_err(|error| Error::io(path, error))
}
