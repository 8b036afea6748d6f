package casebook

import (
	"regexp"
	"slices"
	"strings"
)

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
