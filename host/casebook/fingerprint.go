package casebook

import (
	"crypto/sha256"
	"encoding/binary"
	"encoding/hex"
	"hash"
	"slices"
	"strings"
	"unicode"
)

// formVersion names the way in which fingerprints are taken. It changes whenever the same failure would get another one.
const formVersion = "casebook/1"

// Failure is how something failed, in words. All fields are optional.
type Failure struct {
	Subject string // what the case is about, in a line
	Test    string // the test, check or rule that failed
	Texts   []string
}

// Fingerprint is how a failure is recognised.
type Fingerprint struct {
	// Exact is the same for two failures that differ in nothing but times, addresses, numbers, temporary paths and homes,
	// colours, and in which order or how often their lines come. 64 hexadecimal digits, or empty for no text.
	Exact string
	// Words counts the different words of the text that are no part of the names.
	Words int
}

// Take gives the fingerprint of a failure. Of each text at most a mebibyte is looked at.
func Take(f Failure) Fingerprint {
	lines := distinctLines(f.Texts)
	name := []string{normalName(f.Subject), normalName(f.Test)}
	fp := Fingerprint{Words: countWords(name, lines)}
	if len(lines) > 0 {
		fp.Exact = digestOf("exact", name, lines)
	}
	return fp
}

func countWords(names, lines []string) int {
	known := map[string]bool{}
	for _, name := range names {
		for _, word := range strings.FieldsFunc(name, notWord) {
			known[maskWord(word)] = true
		}
	}
	n := 0
	for _, line := range lines {
		for _, word := range strings.FieldsFunc(line, notWord) {
			if !known[word] {
				known[word] = true
				n++
			}
		}
	}
	return n
}

func notWord(r rune) bool { return r != '_' && r != mark && !unicode.IsLetter(r) }

// distinctLines are the normal lines of the texts, sorted: goroutines are dumped, and parallel tests write, in any order.
func distinctLines(texts []string) []string {
	var lines []string
	for _, text := range texts {
		lines = append(lines, normalLines(text)...)
	}
	slices.Sort(lines)
	return slices.Compact(lines)
}

// normalName keeps the small numbers of a name: TestV1 is not TestV2.
func normalName(name string) string {
	name = Plain(name)
	if len(name) > maxLineBytes {
		name = strings.ToValidUTF8(name[:maxLineBytes], "")
	}
	return strings.Join(strings.Fields(name), " ")
}

func digestOf(kind string, lists ...[]string) string {
	h := sha256.New()
	writeString(h, formVersion)
	writeString(h, kind)
	for _, list := range lists {
		writeCount(h, len(list))
		for _, s := range list {
			writeString(h, s)
		}
	}
	return hex.EncodeToString(h.Sum(nil))
}

// A hash.Hash never fails.
func writeCount(h hash.Hash, n int) {
	_, _ = h.Write(binary.BigEndian.AppendUint64(nil, uint64(n)))
}

func writeString(h hash.Hash, s string) {
	writeCount(h, len(s))
	_, _ = h.Write([]byte(s))
}
