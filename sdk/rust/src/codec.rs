//! The strict reader and the canonical writer: `abi/SPEC.md`, §3.

use std::collections::BTreeMap;
use std::fmt;

const MAX_DEPTH: usize = 32;
const SHOWN: usize = 64;

/// A message of the contract. Implemented by the types of [`crate::messages`].
pub trait Message: Default {
    /// The keys, in canonical order.
    const FIELDS: &'static [&'static str];
    /// A bit for each key that must be there.
    const REQUIRED: u64;
    /// Reads the value of a field into self.
    fn read_field(&mut self, field: usize, r: &mut Reader) -> Result<(), Problem>;
    /// Writes self canonically.
    fn write(&self, w: &mut Writer);
}

/// An enumeration of the contract.
pub trait Name: Sized {
    fn from_bytes(name: &[u8]) -> Option<Self>;
}

/// Reads one message strictly. The rules across fields (§9.1) are the host's to check.
pub fn decode<T: Message>(message: &[u8]) -> Result<T, Problem> {
    let mut r = Reader { left: message, depth: 0 };
    let value = r.message()?;
    match r.left {
        [] => Ok(value),
        _ => Err(Problem::new("trailing_bytes")),
    }
}

/// The canonical bytes of a message. It is not checked: the host does that.
pub fn encode<T: Message>(value: &T) -> Vec<u8> {
    let mut w = Writer { out: Vec::with_capacity(1024) };
    value.write(&mut w);
    w.out
}

/// What is wrong with a message: the first problem, its code (§10) and its path (§3.11).
#[derive(Clone, Debug, PartialEq)]
pub struct Problem {
    pub code: &'static str,
    /// From the inside out.
    steps: Vec<Step>,
}

#[derive(Clone, Debug, PartialEq)]
enum Step {
    Field(String),
    Index(usize),
    Key(Vec<u8>),
}

impl Problem {
    fn new(code: &'static str) -> Self {
        Problem { code, steps: Vec::new() }
    }

    fn within(mut self, step: Step) -> Self {
        self.steps.push(step);
        self
    }

    /// The path from the message to the value; empty for the message itself.
    pub fn path(&self) -> String {
        let mut path = String::new();
        for step in self.steps.iter().rev() {
            match step {
                Step::Field(name) => {
                    if !path.is_empty() {
                        path.push('.');
                    }
                    path.push_str(name);
                }
                Step::Index(i) => {
                    path.push('[');
                    path.push_str(&i.to_string());
                    path.push(']');
                }
                Step::Key(key) => quote(&mut path, key),
            }
        }
        path
    }
}

impl fmt::Display for Problem {
    fn fmt(&self, f: &mut fmt::Formatter) -> fmt::Result {
        match self.path() {
            path if path.is_empty() => f.write_str(self.code),
            path => write!(f, "{}: {}", path, self.code),
        }
    }
}

/// Quotes a key as §3.11 has it, but takes every character beyond ASCII for a printable one.
fn quote(out: &mut String, key: &[u8]) {
    let mut shown = key;
    if key.len() > SHOWN {
        let mut n = SHOWN;
        while n > 0 && key[n] & 0xc0 == 0x80 {
            n -= 1;
        }
        shown = &key[..n];
    }
    out.push_str("[\"");
    for c in String::from_utf8_lossy(shown).chars() {
        match c {
            '"' | '\\' => out.extend(['\\', c]),
            '\x07'..='\x0d' => out.extend(['\\', b"abtnvfr"[c as usize - 7] as char]),
            '\0'..='\x1f' | '\x7f' => {
                let digit = |n: u32| char::from_digit(n, 16).unwrap_or('?');
                out.extend(['\\', 'x', digit(c as u32 >> 4), digit(c as u32 & 15)]);
            }
            _ => out.push(c),
        }
    }
    if shown.len() < key.len() {
        out.push_str("...");
    }
    out.push_str("\"]");
}

fn is_name(key: &[u8]) -> bool {
    !key.is_empty() && key.len() <= SHOWN && key.iter().all(|c| matches!(c, b'a'..=b'z' | b'0'..=b'9' | b'_'))
}

#[derive(Clone, Copy, PartialEq)]
enum Kind {
    Reserved,
    Nil,
    Bool,
    Int,
    Float,
    String,
    Binary,
    Extension,
    List,
    Map,
}

fn kind_of(head: u8) -> Kind {
    match head {
        0x00..=0x7f | 0xe0..=0xff | 0xcc..=0xd3 => Kind::Int,
        0x80..=0x8f | 0xde..=0xdf => Kind::Map,
        0x90..=0x9f | 0xdc..=0xdd => Kind::List,
        0xa0..=0xbf | 0xd9..=0xdb => Kind::String,
        0xc0 => Kind::Nil,
        0xc1 => Kind::Reserved,
        0xc2..=0xc3 => Kind::Bool,
        0xc4..=0xc6 => Kind::Binary,
        0xc7..=0xc9 | 0xd4..=0xd8 => Kind::Extension,
        0xca..=0xcb => Kind::Float,
    }
}

/// How many elements a list or map may have.
#[derive(Clone, Copy)]
pub struct Count {
    least: usize,
    most: usize,
    nonempty: bool,
}

impl Count {
    pub const ANY: Count = Count::between(0, usize::MAX);

    /// At least one; an empty list is the problem `empty`.
    pub const fn nonempty(most: usize) -> Count {
        Count { least: 1, most, nonempty: true }
    }

    pub const fn between(least: usize, most: usize) -> Count {
        Count { least, most, nonempty: false }
    }

    fn check(self, n: usize) -> Result<(), Problem> {
        match n {
            0 if self.nonempty => Err(Problem::new("empty")),
            n if n < self.least || n > self.most => Err(Problem::new("bad_count")),
            _ => Ok(()),
        }
    }
}

/// Reads values one after the other, up to the first problem.
pub struct Reader<'a> {
    left: &'a [u8],
    depth: usize,
}

impl<'a> Reader<'a> {
    /// Takes a head byte, of the kind that is wanted.
    fn expect(&mut self, want: Kind) -> Result<u8, Problem> {
        let head = *self.left.first().ok_or_else(|| Problem::new("truncated"))?;
        let got = kind_of(head);
        if got == want || (want == Kind::Float && got == Kind::Int) {
            self.left = &self.left[1..];
            return Ok(head);
        }
        Err(Problem::new(match got {
            Kind::Nil => "nil_value",
            Kind::Extension => "extension_type",
            Kind::Binary if want == Kind::String => "bin_for_string",
            Kind::Reserved => "reserved_byte",
            _ => "wrong_type",
        }))
    }

    /// Reads an unsigned number of n bytes, the most significant first.
    fn unsigned(&mut self, n: usize) -> Result<u64, Problem> {
        if self.left.len() < n {
            return Err(Problem::new("truncated"));
        }
        let (number, left) = self.left.split_at(n);
        self.left = left;
        Ok(number.iter().fold(0, |sum, &b| sum << 8 | b as u64))
    }

    fn string(&mut self, head: u8) -> Result<&'a [u8], Problem> {
        let n = match head {
            0xd9..=0xdb => self.unsigned(1 << (head - 0xd9))?,
            _ => (head & 0x1f) as u64,
        };
        if n > self.left.len() as u64 {
            return Err(Problem::new("bad_length"));
        }
        let (string, left) = self.left.split_at(n as usize);
        self.left = left;
        Ok(string)
    }

    /// Begins a list or a map, and gives its count.
    fn enter(&mut self, want: Kind, parts: u64) -> Result<usize, Problem> {
        let n = match self.expect(want)? {
            head @ 0xdc..=0xdf => self.unsigned(2 << (head & 1))?,
            head => (head & 0x0f) as u64,
        };
        if n * parts > self.left.len() as u64 {
            return Err(Problem::new("bad_length"));
        }
        if self.depth == MAX_DEPTH {
            return Err(Problem::new("too_deep"));
        }
        self.depth += 1;
        Ok(n as usize)
    }

    fn key(&mut self) -> Result<&'a [u8], Problem> {
        let head = *self.left.first().ok_or_else(|| Problem::new("truncated"))?;
        match kind_of(head) {
            Kind::String => self.left = &self.left[1..],
            Kind::Reserved => return Err(Problem::new("reserved_byte")),
            _ => return Err(Problem::new("wrong_type")),
        }
        let key = self.string(head)?;
        match std::str::from_utf8(key) {
            Ok(_) => Ok(key),
            Err(_) => Err(Problem::new("invalid_utf8")),
        }
    }

    pub fn text(&mut self, nonempty: bool) -> Result<String, Problem> {
        let head = self.expect(Kind::String)?;
        let bytes = self.string(head)?;
        if nonempty && bytes.is_empty() {
            return Err(Problem::new("empty"));
        }
        match std::str::from_utf8(bytes) {
            Ok(text) => Ok(text.to_string()),
            Err(_) => Err(Problem::new("invalid_utf8")),
        }
    }

    pub fn name<T: Name>(&mut self) -> Result<T, Problem> {
        let head = self.expect(Kind::String)?;
        let bytes = self.string(head)?;
        T::from_bytes(bytes).ok_or_else(|| not_a_name(bytes))
    }

    pub fn optional_name<T: Name>(&mut self) -> Result<Option<T>, Problem> {
        let head = self.expect(Kind::String)?;
        match self.string(head)? {
            b"" => Ok(None),
            bytes => T::from_bytes(bytes).map(Some).ok_or_else(|| not_a_name(bytes)),
        }
    }

    pub fn boolean(&mut self) -> Result<bool, Problem> {
        Ok(self.expect(Kind::Bool)? == 0xc3)
    }

    /// Gives a number in 65 bits.
    fn whole(&mut self, head: u8) -> Result<i128, Problem> {
        Ok(match head {
            0xcc..=0xcf => self.unsigned(1 << (head & 3))? as i128,
            0xd0 => self.unsigned(1)? as i8 as i128,
            0xd1 => self.unsigned(2)? as i16 as i128,
            0xd2 => self.unsigned(4)? as i32 as i128,
            0xd3 => self.unsigned(8)? as i64 as i128,
            _ => head as i8 as i128,
        })
    }

    pub fn integer(&mut self, least: i64, most: i64) -> Result<i64, Problem> {
        let head = self.expect(Kind::Int)?;
        let n = self.whole(head)?;
        if n < least as i128 || n > most as i128 {
            return Err(Problem::new("out_of_range"));
        }
        Ok(n as i64)
    }

    pub fn float(&mut self, least: f64, most: f64) -> Result<f64, Problem> {
        let f = match self.expect(Kind::Float)? {
            0xca => f32::from_bits(self.unsigned(4)? as u32) as f64,
            0xcb => f64::from_bits(self.unsigned(8)?),
            // An integer beyond 63 bits has its bits in the low half.
            head => match self.whole(head)? {
                n if n > i64::MAX as i128 => n as u64 as f64,
                n => n as i64 as f64,
            },
        };
        if !f.is_finite() {
            return Err(Problem::new("not_finite"));
        }
        if f < least || f > most {
            return Err(Problem::new("out_of_range"));
        }
        Ok(f)
    }

    pub fn list<T>(&mut self, count: Count, read: fn(&mut Reader<'a>) -> Result<T, Problem>) -> Result<Vec<T>, Problem> {
        let n = self.enter(Kind::List, 1)?;
        count.check(n)?;
        // What is allocated ahead of the elements is bounded by the message.
        let mut list = Vec::with_capacity(n.min(self.left.len() / 8 + 1));
        for i in 0..n {
            list.push(read(self).map_err(|p| p.within(Step::Index(i)))?);
        }
        self.depth -= 1;
        Ok(list)
    }

    pub fn pairs(&mut self, count: Count) -> Result<BTreeMap<String, String>, Problem> {
        let n = self.enter(Kind::Map, 2)?;
        count.check(n)?;
        let mut pairs = BTreeMap::new();
        for _ in 0..n {
            let key = self.key()?;
            let name = String::from_utf8_lossy(key).into_owned();
            if pairs.contains_key(&name) {
                return Err(Problem::new("duplicate_key").within(Step::Key(key.to_vec())));
            }
            let value = self.text(false).map_err(|p| p.within(Step::Key(key.to_vec())))?;
            pairs.insert(name, value);
        }
        self.depth -= 1;
        Ok(pairs)
    }

    pub fn message<T: Message>(&mut self) -> Result<T, Problem> {
        let mut value = T::default();
        self.fields(T::FIELDS, T::REQUIRED, &mut |r, field| value.read_field(field, r))?;
        Ok(value)
    }

    /// Reads a map with fixed keys; one function for all types.
    fn fields(
        &mut self,
        fields: &[&str],
        required: u64,
        read: &mut dyn FnMut(&mut Reader<'a>, usize) -> Result<(), Problem>,
    ) -> Result<(), Problem> {
        let mut seen = 0u64;
        let mut next = 0;
        for _ in 0..self.enter(Kind::Map, 2)? {
            let key = self.key()?;
            let at = |&i: &usize| fields[i].as_bytes() == key;
            let field = (next..fields.len()).find(at).or_else(|| (0..next).find(at));
            let step = |known| match known || is_name(key) {
                true => Step::Field(String::from_utf8_lossy(key).into_owned()),
                false => Step::Key(key.to_vec()),
            };
            let field = field.ok_or_else(|| Problem::new("unknown_field").within(step(false)))?;
            if seen >> field & 1 == 1 {
                return Err(Problem::new("duplicate_key").within(step(true)));
            }
            seen |= 1 << field;
            read(self, field).map_err(|p| p.within(step(true)))?;
            next = field + 1;
        }
        let missing = required & !seen;
        if missing != 0 {
            let name = fields[missing.trailing_zeros() as usize];
            return Err(Problem::new("missing_field").within(Step::Field(name.to_string())));
        }
        self.depth -= 1;
        Ok(())
    }
}

fn not_a_name(bytes: &[u8]) -> Problem {
    Problem::new(match std::str::from_utf8(bytes) {
        Ok(_) => "invalid_value",
        Err(_) => "invalid_utf8",
    })
}

/// Writes values one after the other, canonically.
pub struct Writer {
    out: Vec<u8>,
}

impl Writer {
    /// Writes a head byte and the low n bytes of a number.
    fn head(&mut self, head: u8, number: u64, n: usize) {
        self.out.push(head);
        self.out.extend_from_slice(&number.to_be_bytes()[8 - n..]);
    }

    fn count(&mut self, fix: u8, wide: u8, n: usize) {
        match n {
            0..=15 => self.head(fix | n as u8, 0, 0),
            16..=0xffff => self.head(wide, n as u64, 2),
            _ => self.head(wide + 1, n as u64, 4),
        }
    }

    pub fn map(&mut self, n: usize) {
        self.count(0x80, 0xde, n);
    }

    pub fn text(&mut self, text: &str) {
        let n = text.len();
        match n {
            0..=31 => self.head(0xa0 | n as u8, 0, 0),
            32..=0xff => self.head(0xd9, n as u64, 1),
            0x100..=0xffff => self.head(0xda, n as u64, 2),
            _ => self.head(0xdb, n as u64, 4),
        }
        self.out.extend_from_slice(text.as_bytes());
    }

    pub fn boolean(&mut self, b: bool) {
        self.out.push(0xc2 | b as u8);
    }

    pub fn integer(&mut self, n: i64) {
        let bits = n as u64;
        match n {
            -32..=127 => self.head(n as u8, 0, 0),
            0..=0xff => self.head(0xcc, bits, 1),
            0..=0xffff => self.head(0xcd, bits, 2),
            0..=0xffff_ffff => self.head(0xce, bits, 4),
            0..=i64::MAX => self.head(0xcf, bits, 8),
            -0x80..=-1 => self.head(0xd0, bits, 1),
            -0x8000..=-1 => self.head(0xd1, bits, 2),
            -0x8000_0000..=-1 => self.head(0xd2, bits, 4),
            _ => self.head(0xd3, bits, 8),
        }
    }

    pub fn float(&mut self, f: f64) {
        let f = if f == 0.0 { 0.0 } else { f }; // not -0
        self.head(0xcb, f.to_bits(), 8);
    }

    pub fn list<T>(&mut self, list: &[T], write: fn(&mut Writer, &T)) {
        self.count(0x90, 0xdc, list.len());
        for v in list {
            write(self, v);
        }
    }

    /// Writes a map of strings; its keys are sorted already.
    pub fn pairs(&mut self, pairs: &BTreeMap<String, String>) {
        self.map(pairs.len());
        for (key, value) in pairs {
            self.text(key);
            self.text(value);
        }
    }
}
