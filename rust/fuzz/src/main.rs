//! `fuzz [SECONDS] [TARGET] [SEED]`: runs every target (`all`), or one, for that many seconds in all, in child processes. An
//! input that ends a child goes to `corpus/TARGET/` in the source tree, where the tests find it again.

use forcings_fuzz::targets::{Target, ALL};
use forcings_fuzz::{child, corpus};
use std::path::{Path, PathBuf};
use std::process::{Command, ExitCode};
use std::time::{Duration, SystemTime, UNIX_EPOCH};

/// A child finds here its target, its seed, its milliseconds and its trace.
const TASK: &str = "FORCINGS_FUZZ_TASK";

fn main() -> ExitCode {
    let outcome = match std::env::var(TASK) {
        Ok(task) => serve(&task).map(|()| true),
        Err(_) => lead(),
    };
    match outcome {
        Ok(true) => ExitCode::SUCCESS,
        Ok(false) => ExitCode::FAILURE,
        Err(e) => {
            eprintln!("fuzz: {e}");
            ExitCode::FAILURE
        }
    }
}

fn lead() -> Result<bool, Box<dyn std::error::Error>> {
    let mut words = std::env::args().skip(1);
    let seconds: f64 = words.next().map_or(Ok(60.0), |word| word.parse())?;
    let only = words.next().filter(|name| name != "all");
    let targets: Vec<&Target> = ALL.iter().filter(|t| only.as_ref().is_none_or(|name| name == t.name)).collect();
    if targets.is_empty() || !seconds.is_finite() || seconds <= 0.0 {
        let names: Vec<&str> = ALL.iter().map(|t| t.name).collect();
        return Err(format!(
            "usage: fuzz [SECONDS] [TARGET] [SEED], a target being all or one of {}",
            names.join(", ")
        )
        .into());
    }
    let seed = match words.next() {
        Some(word) => word.parse()?,
        None => SystemTime::now().duration_since(UNIX_EPOCH)?.as_nanos() as u64,
    };
    let share = Duration::from_secs_f64(seconds / targets.len() as f64).as_millis();
    let mut good = true;
    for target in targets {
        let trace = std::env::temp_dir().join(format!("forcings-fuzz-{}-{}", std::process::id(), target.name));
        let status = Command::new(std::env::current_exe()?)
            .env(TASK, format!("{} {seed} {share} {}", target.name, trace.display()))
            .status()?;
        if !status.success() {
            good = false;
            let kept = keep(target, &trace)?;
            println!("{}: ended by {status}, seed {seed}; the input is in {}", target.name, kept.display());
        }
        std::fs::remove_file(&trace)?;
    }
    Ok(good)
}

fn keep(target: &Target, trace: &Path) -> std::io::Result<PathBuf> {
    let input = child::traced(trace)?;
    let folder = corpus::folder(target.name);
    std::fs::create_dir_all(&folder)?;
    let hash = input.iter().fold(0xcbf2_9ce4_8422_2325_u64, |h, b| (h ^ u64::from(*b)).wrapping_mul(0x100_0000_01b3));
    let path = folder.join(format!("found-{hash:016x}"));
    std::fs::write(&path, input)?;
    Ok(path)
}

fn serve(task: &str) -> Result<(), Box<dyn std::error::Error>> {
    let parts: Vec<&str> = task.splitn(4, ' ').collect();
    let [name, seed, time, trace] = parts[..] else { return Err("a task has four parts".into()) };
    let target = ALL.iter().find(|t| t.name == name).ok_or("there is no such target")?;
    let seeds = corpus::files(name)?.into_iter().map(|(_, bytes)| bytes).collect();
    let time = Duration::from_millis(time.parse()?);
    let (tried, kept) = child::run(target, seeds, seed.parse()?, time, Path::new(trace))?;
    println!("{name}: {tried} inputs, {kept} new endings");
    Ok(())
}
