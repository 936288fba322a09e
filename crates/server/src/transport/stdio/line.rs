//! Lines of bounded length from a stream.

use std::io;

use tokio::io::{AsyncBufReadExt, AsyncRead, BufReader};

/// The longest line that is taken: as much as the body of an HTTP request.
pub const MAX_LINE: usize = 4 * 1024 * 1024;

/// What was read.
#[derive(Debug, PartialEq, Eq)]
pub enum Line<'a> {
    /// A line without its end.
    Whole(&'a [u8]),
    /// A line past the limit; the rest of it is skipped.
    TooLong,
    /// There is nothing any more.
    End,
}

/// Reads lines, and never more than the limit of one.
#[derive(Debug)]
pub struct LineReader<R> {
    input: BufReader<R>,
    buffer: Vec<u8>,
    limit: usize,
    state: State,
}

#[derive(Debug, PartialEq, Eq)]
enum State {
    /// The buffer holds the beginning of a line.
    Collecting,
    /// The buffer holds a line that was handed out.
    HandedOut,
    /// The rest of a line that was too long is skipped.
    Skipping,
    /// The input has ended.
    Ended,
}

impl<R: AsyncRead + Unpin> LineReader<R> {
    /// Reads from `input`.
    pub fn new(input: R, limit: usize) -> Self {
        Self { input: BufReader::new(input), buffer: Vec::new(), limit, state: State::Collecting }
    }

    /// The next line. Dropping the future loses nothing: what was read stays for the next call.
    pub async fn next(&mut self) -> io::Result<Line<'_>> {
        if self.state == State::HandedOut {
            self.buffer.clear();
            // One long line must not hold its memory for the rest of the session.
            self.buffer.shrink_to(64 * 1024);
            self.state = State::Collecting;
        }
        loop {
            if self.state == State::Ended {
                return Ok(Line::End);
            }
            let available = self.input.fill_buf().await?;
            if available.is_empty() {
                let rest = self.state == State::Collecting && !self.buffer.is_empty();
                // A last line without a line feed is a line.
                self.state = State::Ended;
                return Ok(if rest { Line::Whole(&self.buffer) } else { Line::End });
            }
            let end = available.iter().position(|&byte| byte == b'\n');
            let taken = end.map_or(available.len(), |at| at + 1);
            let content = available.get(..end.unwrap_or(available.len())).unwrap_or_default();
            let too_long = self.buffer.len() + content.len() > self.limit;
            if self.state == State::Collecting && !too_long {
                self.buffer.extend_from_slice(content);
            }
            self.input.consume(taken);
            match (&self.state, end.is_some()) {
                (State::Skipping, true) => self.state = State::Collecting,
                (State::Skipping, false) => {}
                (_, ended) if too_long => {
                    self.buffer = Vec::new();
                    self.state = if ended { State::Collecting } else { State::Skipping };
                    return Ok(Line::TooLong);
                }
                (_, true) => {
                    self.state = State::HandedOut;
                    return Ok(Line::Whole(&self.buffer));
                }
                (_, false) => {}
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    fn lines(input: &[u8], limit: usize) -> Vec<Option<Vec<u8>>> {
        let runtime = tokio::runtime::Builder::new_current_thread().build().unwrap();
        runtime.block_on(async {
            let mut reader = LineReader::new(input, limit);
            let mut lines = Vec::new();
            loop {
                match reader.next().await.unwrap() {
                    Line::Whole(line) => lines.push(Some(line.to_vec())),
                    Line::TooLong => lines.push(None),
                    Line::End => return lines,
                }
            }
        })
    }

    #[test]
    fn a_long_line_is_told_once_and_the_next_one_is_whole() {
        let long = "x".repeat(50_000);
        let input = format!("a\n{long}\nb\n{long}");
        let read = lines(input.as_bytes(), 10);
        assert_eq!(read, [Some(b"a".to_vec()), None, Some(b"b".to_vec()), None]);
    }

    proptest! {
        #[test]
        fn lines_are_those_of_the_input(input in prop::collection::vec(prop_oneof![Just(b'\n'), any::<u8>()], 0..200), limit in 1usize..50) {
            let mut expected: Vec<Option<Vec<u8>>> =
                input.split(|&b| b == b'\n').map(|l| (l.len() <= limit).then(|| l.to_vec())).collect();
            if input.is_empty() || input.ends_with(b"\n") {
                expected.pop();
            }
            prop_assert_eq!(lines(&input, limit), expected);
        }
    }
}
