package casebook

import (
	"crypto/sha256"
	"encoding/binary"
	"encoding/hex"
	"hash"
	"regexp"
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
	// Loose is the same for two failures of one kind in the same files, whatever their words are: 64 hexadecimal digits,
	// or empty for a text that names neither.
	Loose string
	// Sketch tells how alike the words of two failures are.
	Sketch Sketch
	// Words counts the different words of the text that are no part of the names.
	Words int
}

// Take gives the fingerprint of a failure. Of each text at most a mebibyte is looked at.
func Take(f Failure) Fingerprint {
	lines := distinctLines(f.Texts)
	name := []string{normalName(f.Subject), normalName(f.Test)}
	fp := Fingerprint{Loose: looseOf(name[1], lines), Sketch: sketchOf(lines), Words: countWords(name, lines)}
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
	name = strings.ToValidUTF8(name, "\uFFFD")
	if len(name) > maxLineBytes {
		name = strings.ToValidUTF8(name[:maxLineBytes], "")
	}
	return strings.Join(strings.Fields(escapes.ReplaceAllString(name, "")), " ")
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

var (
	// name.ext#, "name.ext", line #, name.ext(#): where a line stands, once the figures are marks.
	places = regexp.MustCompile(`([^\s:;,"'()\[\]<>|*?=]*[\pL\d_#-]\.[A-Za-z]{1,5})(?::#|\(#|", line #|' line #|: line #)`)
	// Error kinds as languages name them.
	kinds = regexp.MustCompile(`\b(?:[A-Z][A-Za-z]*(?:Error|Exception|Failure|Fault|Timeout)|SIG[A-Z]{2,6}|E[A-Z]{4,12}|(?i:` +
		`panic|fatal error|segmentation (?:fault|violation)|nil pointer|null ?pointer|deadlock|data race|out of memory|` +
		`stack overflow|out of (?:range|bounds)|timed? ?out|deadline exceeded|refused|reset by peer|unreachable|no such host|` +
		`no such file|not found|permission denied|read-only|no space left|already in use|not equal|assert\w*|undefined|` +
		`cannot find|syntax error|build failed))\b`)
)

// maxPlaces bounds the parts of a loose fingerprint; of more, the first in alphabetical order count.
const maxPlaces = 64

// looseOf is a digest of the files that a failure names with a line, other than the platform's own, and of the kinds of
// errors that it speaks of.
func looseOf(test string, lines []string) string {
	var files, errors []string
	for _, line := range lines {
		for _, found := range places.FindAllStringSubmatch(line, -1) {
			if !isPlatform(line, found[1]) {
				files = append(files, found[1][strings.LastIndexAny(found[1], `/\`)+1:])
			}
		}
		for _, found := range kinds.FindAllString(line, -1) {
			errors = append(errors, strings.ToLower(found))
		}
	}
	files, errors = distinct(files), distinct(errors)
	if len(files)+len(errors) == 0 {
		return ""
	}
	return digestOf("loose", []string{test}, files, errors)
}

// isPlatform tells the frames of a runtime, a standard library or installed packages, which nobody's change concerns.
func isPlatform(line, path string) bool {
	for _, part := range []string{"/usr/", "/opt/", "/go/src/runtime/", "/go/src/testing/", "/go/pkg/mod/", "/x#/src/", "node_modules", "site-packages", "node:internal"} {
		if strings.Contains(path, part) {
			return true
		}
	}
	for _, prefix := range []string{"at java.", "at jdk.", "at sun.", "at org.junit."} {
		if strings.HasPrefix(line, prefix) {
			return true
		}
	}
	return false
}

func distinct(list []string) []string {
	slices.Sort(list)
	list = slices.Compact(list)
	return list[:min(len(list), maxPlaces)]
}
