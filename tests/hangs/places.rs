// SPDX-License-Identifier: MIT
// Waits behind a trait object, a closure, an iterator and a thread.
use std::io::Read;

trait Source {
    fn fetch(&mut self, index: usize) -> usize;
}

struct Shards {
    input: std::process::ChildStdout,
}

impl Source for Shards {
    #[inline(never)]
    fn fetch(&mut self, index: usize) -> usize {
        let mut byte = [0u8; 1];
        self.input.read(&mut byte).unwrap() + index
    }
}

#[inline(never)]
fn load(source: &mut dyn Source) -> usize {
    (1..4).map(|index| source.fetch(index)).sum::<usize>() + 1
}

fn main() {
    let mut child = std::process::Command::new("sleep").arg("600").stdout(std::process::Stdio::piped()).spawn().unwrap();
    let mut shards = Shards { input: child.stdout.take().unwrap() };
    let worker = std::thread::Builder::new().name("worker".into()).spawn(move || load(&mut shards) + 1).unwrap();
    println!("ready");
    worker.join().unwrap();
}
