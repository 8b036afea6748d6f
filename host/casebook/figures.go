package casebook

import (
	"regexp"
	"slices"
	"strings"
	"unicode"
	"unicode/utf8"
)

const (
	months = `(?:Jan|Feb|Mar|Apr|May|Jun|Jul|Aug|Sep|Oct|Nov|Dec)[a-z]*`
	zone   = `(?:\s?(?:Z\b|UTC\b|GMT\b|MST\b|[A-Z]{1,3}S?[DS]?T\b|[+-]\d\d:?\d\d\b))*`
	clock  = `\d{1,2}:\d\d(?::\d\d(?:[.,]\d+)?)?(?:\s?[AaPp]\.?[Mm]\b\.?)?` + zone
	number = `\d+(?:[.,]\d+)*(?:[eE][+-]?\d+)?`
)

// All expressions run in linear time, whatever the text is.
var (
	escapes = regexp.MustCompile(`(?:\x1b\[|\x{9b})[0-?]*[ -/]*[@-~]|\x1b\][^\x07\x1b\n]*(?:\x07|\x1b\\)?|\x1b[ -/]*[0-Z\\-~]`)

	uuids = regexp.MustCompile(`[0-9a-fA-F]{8}-[0-9a-fA-F]{4}-[0-9a-fA-F]{4}-[0-9a-fA-F]{4}-[0-9a-fA-F]{12}`)
	dates = regexp.MustCompile(`\b\d{4}[-/.]\d\d?[-/.]\d\d?(?:[T _,-]*` + clock + `)?` +
		`|\b(?:(?:Mon|Tue|Wed|Thu|Fri|Sat|Sun)[a-z]*,?\s+)?(?:\d{1,2}[\s-]+` + months + `|` + months + `[\s-]+\d{1,2}\b)` +
		`(?:,?[\s-]+\d{4}\b)?(?:[,\s]+` + clock + `)?(?:\s+\d{4}\b)?` +
		`|\b` + clock)
	addresses = regexp.MustCompile(`\[?(?:[0-9a-fA-F]{1,4})?(?::[0-9a-fA-F]{0,4}){2,7}\]?`)
	// 1m3.5s, 300ms; 3 seconds; 1.5 MB
	quantities = regexp.MustCompile(`\b(?:` + number + `(?:ns|us|µs|μs|ms|s|m|h|d))+\b` +
		`|\b` + number + `\s?(?:(?:nano|micro|milli)?(?:seconds?|secs?)|ns|us|µs|μs|ms|s|minutes?|mins?|hours?|hrs?|days?` +
		`|[kKMGT]i?B|B|[Bb]ytes?)\b` +
		`|\b\d` + number + `[eE][+-]?\d+\b`)
)

// replaceFigures puts marks in place of dates, times, durations, sizes, UUIDs and addresses: what a look at single words
// would not find.
func replaceFigures(line string) string {
	if strings.Count(line, "-") >= 4 {
		line = uuids.ReplaceAllLiteralString(line, string(mark))
	}
	// Nobody can tell which numbers matter without knowing what was logged, so that "got 3, want 4" and "got 5, want 4" are one
	// failure. Only names of tests keep theirs.
	if strings.ContainsFunc(line, isDigit) {
		line = dates.ReplaceAllLiteralString(line, string(mark))
		line = quantities.ReplaceAllLiteralString(line, string(mark))
	}
	if strings.Count(line, ":") >= 2 {
		line = replaceAddresses(line)
	}
	return line
}

// replaceAddresses finds IPv6 and hardware addresses, and tells them from names such as ad::be.
func replaceAddresses(line string) string {
	var b strings.Builder
	last := 0
	for _, span := range addresses.FindAllStringIndex(line, -1) {
		found := line[span[0]:span[1]]
		if strings.HasSuffix(found, ":") && !strings.HasSuffix(found, "::") {
			found = found[:len(found)-1] // the address ends a clause
			span[1]--
		}
		before, _ := utf8.DecodeLastRuneInString(line[:span[0]])
		after, _ := utf8.DecodeRuneInString(line[span[1]:])
		address := strings.ContainsFunc(found, isDigit) && strings.Contains(found, "::") || strings.Count(found, ":") >= 5
		if !address || isWordRune(before) || isWordRune(after) {
			continue
		}
		b.WriteString(line[last:span[0]])
		b.WriteByte(mark)
		last = span[1]
	}
	b.WriteString(line[last:])
	return b.String()
}

func isWordRune(r rune) bool {
	return r != utf8.RuneError && (r == '_' || unicode.IsLetter(r) || unicode.IsDigit(r))
}

var (
	tempPaths = regexp.MustCompile(`(?:/private)?/var/folders/[^/\s]+/[^/\s]+/[A-Z]/` + segments +
		`|(?:/private|/var)?/tmp/` + segments + `|/dev/shm/` + segments + `|/run/user/\d+/` + segments +
		`|[A-Za-z]:[\\/]+(?:Users[\\/]+[^\\/]+[\\/]+AppData[\\/]+Local[\\/]+|Windows[\\/]+)?[Tt](?:e?mp|EMP)[\\/]+` + segments)
	homePaths = regexp.MustCompile(`(?:/home/[^/\s:"'` + "`" + `]+|/Users/[^/\s:"'` + "`" + `]+|/root|[A-Za-z]:[\\/]+Users[\\/]+[^\\/\s:]+|~)(?:[\\/]+` + segments + `)?`)
)

// segments is the rest of a path: what may stand in one, without a place in the file behind it.
const segments = `[^\s:;,"'` + "`" + `()\[\]<>|*?]*`

// shortenPaths leaves of paths below a temporary folder or somebody's home what is likely to be the same elsewhere: the
// name of the file, and for a home that of its folder.
func shortenPaths(line string) string {
	line = replacePaths(line, tempPaths, func(path string) string {
		parts := pathParts(path)
		if len(parts) > 0 {
			parts = parts[1:] // the name that was drawn
		}
		return lastParts("<tmp>", parts, 1)
	})
	return replacePaths(line, homePaths, func(path string) string { return lastParts("<home>", pathParts(path), 2) })
}

// replacePaths replaces what begins where a path can begin: not in the middle of another one.
func replacePaths(line string, re *regexp.Regexp, with func(string) string) string {
	var b strings.Builder
	last := 0
	for _, span := range re.FindAllStringIndex(line, -1) {
		if span[0] > 0 && strings.ContainsRune("abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789_-./\\~>", rune(line[span[0]-1])) {
			continue
		}
		b.WriteString(line[last:span[0]])
		b.WriteString(with(line[span[0]:span[1]]))
		last = span[1]
	}
	b.WriteString(line[last:])
	return b.String()
}

// pathParts are the names below the temporary folder or the home.
func pathParts(path string) []string {
	parts := strings.FieldsFunc(path, func(r rune) bool { return r == '/' || r == '\\' })
	roots := []string{"tmp", "temp", "shm", "root", "~"}
	for i, part := range parts {
		lower := strings.ToLower(part)
		switch {
		case lower == "appdata": // ...\Users\NAME\AppData\Local\Temp
			continue
		case i == 0 && (lower == "home" || lower == "users"), i == 1 && lower == "users" && strings.HasSuffix(parts[0], ":"):
			if rest := parts[min(i+2, len(parts)):]; len(rest) == 0 || strings.ToLower(rest[0]) != "appdata" {
				return rest
			}
		case lower == "folders" && i <= 2: // /var/folders/xx/yyyy/T
			return parts[min(i+4, len(parts)):]
		case lower == "user" && i == 1 && parts[0] == "run":
			return parts[min(i+2, len(parts)):]
		case slices.Contains(roots, lower):
			return parts[i+1:]
		}
	}
	return nil
}

func lastParts(root string, parts []string, n int) string {
	if len(parts) > n {
		parts = parts[len(parts)-n:]
	}
	return strings.Join(append([]string{root}, parts...), "/")
}
