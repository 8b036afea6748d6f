//! The manifest (`abi/SPEC.md`, §1.4), written into the module's custom section when it is compiled.

/// What the module says of itself. Lists that are left out are empty.
pub struct Manifest {
    pub name: &'static str,
    pub version: &'static str,
    pub calls: &'static [&'static str],
    pub families: &'static [&'static str],
    pub edges: &'static [&'static str],
    pub criteria: &'static [&'static str],
    pub capabilities: &'static [&'static str],
    pub source: &'static str,
    pub licence: &'static str,
}

impl Manifest {
    pub const EMPTY: Manifest =
        Manifest { name: "", version: "", calls: &[], families: &[], edges: &[], criteria: &[], capabilities: &[], source: "", licence: "" };

    /// How many bytes the manifest takes.
    pub const fn size(&self) -> usize {
        self.write([0; 4096]).1
    }

    /// The canonical bytes of the manifest. `N` is its size.
    pub const fn bytes<const N: usize>(&self) -> [u8; N] {
        let (all, _) = self.write([0; 4096]);
        let mut out = [0; N];
        let mut i = 0;
        while i < N {
            out[i] = all[i];
            i += 1;
        }
        out
    }

    const fn write(&self, out: [u8; 4096]) -> ([u8; 4096], usize) {
        let optional = !self.source.is_empty() as u8 + !self.licence.is_empty() as u8;
        let at = byte((out, 0), 0x88 + optional);
        let at = text(text(at, "name"), self.name);
        let at = text(text(at, "version"), self.version);
        let at = text(text(at, "abi"), crate::ABI_VERSION);
        let at = list(text(at, "calls"), self.calls);
        let at = list(text(at, "families"), self.families);
        let at = list(text(at, "edges"), self.edges);
        let at = list(text(at, "criteria"), self.criteria);
        let at = list(text(at, "capabilities"), self.capabilities);
        let at = if self.source.is_empty() { at } else { text(text(at, "source"), self.source) };
        if self.licence.is_empty() {
            at
        } else {
            text(text(at, "licence"), self.licence)
        }
    }
}

const fn byte((mut out, n): ([u8; 4096], usize), b: u8) -> ([u8; 4096], usize) {
    out[n] = b;
    (out, n + 1)
}

const fn text(at: ([u8; 4096], usize), text: &str) -> ([u8; 4096], usize) {
    let text = text.as_bytes();
    assert!(text.len() < 256, "a text of a manifest has 255 bytes at most");
    let (mut out, mut n) = if text.len() < 32 { byte(at, 0xa0 | text.len() as u8) } else { byte(byte(at, 0xd9), text.len() as u8) };
    let mut i = 0;
    while i < text.len() {
        out[n] = text[i];
        n += 1;
        i += 1;
    }
    (out, n)
}

const fn list(at: ([u8; 4096], usize), words: &[&str]) -> ([u8; 4096], usize) {
    assert!(words.len() < 256, "a list of a manifest has 255 words at most");
    let mut at = if words.len() < 16 { byte(at, 0x90 | words.len() as u8) } else { byte(byte(byte(at, 0xdc), 0), words.len() as u8) };
    let mut i = 0;
    while i < words.len() {
        at = text(at, words[i]);
        i += 1;
    }
    at
}

/// Writes the manifest. `name`, `version` and `calls` must be there; `families`, `edges`, `criteria`, `capabilities`, `source` and
/// `licence` may be. Use it once in a module.
#[macro_export]
macro_rules! manifest {
    ($($field:ident: $value:tt),+ $(,)?) => {
        #[cfg(target_arch = "wasm32")]
        const _: () = {
            const MANIFEST: $crate::manifest::Manifest =
                $crate::manifest::Manifest { $($field: $crate::manifest_value!($value),)+ ..$crate::manifest::Manifest::EMPTY };
            #[link_section = "shadowcourt.manifest"]
            #[used]
            static SECTION: [u8; MANIFEST.size()] = MANIFEST.bytes();
        };
    };
}

#[doc(hidden)]
#[macro_export]
macro_rules! manifest_value {
    ([$($word:expr),* $(,)?]) => { &[$($word),*] };
    ($text:expr) => { $text };
}
