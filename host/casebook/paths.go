package casebook

import (
	"regexp"
	"slices"
	"strings"
)

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
