//! The MONITOR output of a Redis: every command, including those of scripts.

use super::RedisServer;
use std::io::{BufRead, BufReader, Write};
use std::os::unix::net::UnixStream;

/// Ends a recording.
const END: &str = "end of the record";

/// A recording in progress.
pub struct Monitor {
    lines: BufReader<UnixStream>,
}

impl Monitor {
    /// Starts a recording.
    pub fn start(redis: &RedisServer) -> Self {
        let path = redis.operator_url();
        let mut stream = UnixStream::connect(path.trim_start_matches("unix:")).expect("it listens");
        stream.write_all(b"MONITOR\r\n").expect("it listens");
        let mut lines = BufReader::new(stream);
        let mut first = String::new();
        lines.read_line(&mut first).expect("a response");
        assert_eq!(first, "+OK\r\n");
        Self { lines }
    }

    /// The commands up to now, with their arguments. Redis buffers what was not read meanwhile.
    pub fn end(self, redis: &RedisServer) -> Vec<Vec<Vec<u8>>> {
        self.end_with(redis, |_| true)
    }

    /// The same without the commands of scripts.
    pub fn end_outside_scripts(self, redis: &RedisServer) -> Vec<Vec<Vec<u8>>> {
        self.end_with(redis, |line| !line.windows(5).take(40).any(|word| word == b" lua]"))
    }

    fn end_with(self, redis: &RedisServer, is_kept: impl Fn(&[u8]) -> bool) -> Vec<Vec<Vec<u8>>> {
        redis.run::<String>(&["ECHO", END]);
        let mut commands = Vec::new();
        for line in self.lines.split(b'\n') {
            let line = line.expect("a line");
            let command = words(&line);
            if command.last().is_some_and(|word| word == END.as_bytes()) {
                return commands;
            }
            if is_kept(&line) {
                commands.push(command);
            }
        }
        panic!("the record was cut off")
    }
}

/// The quoted words of a line, unescaped.
fn words(line: &[u8]) -> Vec<Vec<u8>> {
    let start = line.windows(2).position(|pair| pair == b"] ").expect("a client") + 2;
    let (mut words, mut bytes) = (Vec::new(), line[start..].iter().copied());
    while let Some(byte) = bytes.next() {
        if byte != b'"' {
            continue;
        }
        let mut word = Vec::new();
        loop {
            match bytes.next().expect("a closing quote") {
                b'"' => break,
                b'\\' => word.push(unescape(&mut bytes)),
                byte => word.push(byte),
            }
        }
        words.push(word);
    }
    words
}

fn unescape(bytes: &mut impl Iterator<Item = u8>) -> u8 {
    match bytes.next().expect("an escaped byte") {
        b'n' => b'\n',
        b'r' => b'\r',
        b't' => b'\t',
        b'a' => 7,
        b'b' => 8,
        b'x' => {
            let digits =
                [bytes.next(), bytes.next()].map(|digit| char::from(digit.expect("a digit")).to_digit(16).expect("a digit"));
            (digits[0] * 16 + digits[1]) as u8
        }
        byte => byte,
    }
}
