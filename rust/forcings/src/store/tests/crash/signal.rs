//! A process that changes a store is killed. It says on its output what it was promised; its parent looks whether that
//! is there.

use super::*;
use std::io::{BufRead, BufReader, Write};
use std::process::{Command, Stdio};

const NAME: &str = "store::tests::crash::signal::a_killed_process_loses_nothing_that_it_was_promised";
const VARIABLE: &str = "FORCINGS_TEST_KILLED_STORE";
const ROUNDS: u64 = 24;

fn describe(content: &BTreeMap<String, u32>) -> String {
    content.iter().map(|(name, n)| format!("{name}={n}")).collect::<Vec<_>>().join(",")
}

/// Changes the store for ever, and says before and after each commit what it leads to.
fn change_for_ever(path: &str, seed: u64) -> ! {
    let mut dice = Dice(seed);
    let mut out = std::io::stdout();
    let mut say = |word: &str, content: &BTreeMap<String, u32>| {
        out.write_all(format!("\n<{word} {}>\n", describe(content)).as_bytes()).and_then(|()| out.flush()).unwrap();
    };
    let mut store = Store::open(path, &writable()).unwrap();
    let mut now = read_content(&store);
    say("has", &now);
    loop {
        for _ in 0..1 + dice.roll(3) {
            let (name, n) = (format!("s{}", dice.roll(12)), dice.roll(1000) as u32);
            if now.remove(&name).is_some() {
                let found = all(&store).into_iter().find(|info| info.name == name).unwrap();
                store.remove(&[found.id]).unwrap();
            } else {
                store.add(&series(1, &name, &ramp(n))).unwrap();
                now.insert(name, n);
            }
        }
        say("gets", &now);
        match dice.roll(6) {
            0 => drop(store.compact_physical().unwrap()),
            1 => {
                store.close().unwrap();
                store = Store::open(path, &writable()).unwrap();
            }
            _ => store.flush().unwrap(),
        }
        say("has", &now);
    }
}

#[test]
fn a_killed_process_loses_nothing_that_it_was_promised() {
    if let Ok(task) = std::env::var(VARIABLE) {
        let (seed, path) = task.split_once(':').unwrap();
        change_for_ever(path, seed.parse().unwrap());
    }
    let dir = tempfile::tempdir().unwrap();
    let path = dir.path().join("a.nc");
    Store::create(&path, &CreateOptions::default()).unwrap();
    let mut dice = Dice(1);
    let mut reached = 0;
    for round in 0..ROUNDS {
        let mut child = Command::new(std::env::current_exe().unwrap())
            .args(["--exact", NAME, "--nocapture"])
            .env(VARIABLE, format!("{round}:{}", path.display()))
            .stdout(Stdio::piped())
            .stderr(Stdio::null())
            .spawn()
            .unwrap();
        let (mut had, mut may_get) = (None, None);
        let mut lines = BufReader::new(child.stdout.take().unwrap()).lines().map_while(|line| line.ok());
        let mut left = 1 + dice.roll(40);
        let mut note = |line: &str| {
            let said = |word: &str| line.strip_prefix(word).and_then(|rest| rest.strip_suffix('>')).map(str::to_string);
            if let Some(content) = said("<has ") {
                (had, may_get) = (Some(content), None);
            } else if let Some(content) = said("<gets ") {
                may_get = Some(content);
            } else {
                return false;
            }
            true
        };
        for line in lines.by_ref() {
            left -= u64::from(note(&line));
            if left == 0 {
                break;
            }
        }
        // Somewhere in what comes after that line.
        std::thread::sleep(std::time::Duration::from_micros(dice.roll(3000)));
        child.kill().unwrap();
        lines.for_each(|line| {
            note(&line);
        });
        child.wait().unwrap();
        let found = describe(&examine(&path).unwrap());
        assert!(had.as_ref() == Some(&found) || may_get.as_ref() == Some(&found), "{found}: {had:?}, {may_get:?}");
        reached += u32::from(may_get.is_some());
    }
    assert!(reached > 0);
}
