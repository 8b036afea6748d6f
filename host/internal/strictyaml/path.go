package strictyaml

import (
	"strconv"
	"strings"
)

// Places are where the values of a file stand, by their paths.
type Places map[string]Position

// At is the place of a path such as `edges[3].to`, or of the nearest thing around it.
func (p Places) At(path string) Position {
	for {
		if at, ok := p[path]; ok || path == "" {
			return at
		}
		path = ParentPath(path)
	}
}

// FieldPath is the path of a field.
func FieldPath(parent, field string) string {
	if parent == "" {
		return field
	}
	return parent + "." + field
}

// IndexPath is the path of an element of a list.
func IndexPath(parent string, i int) string { return parent + "[" + strconv.Itoa(i) + "]" }

// KeyPath is the path of a value under a name of the author's choice.
func KeyPath(parent, key string) string { return parent + "[" + strconv.Quote(key) + "]" }

// ParentPath cuts the last element. Quoted keys may hold dots and brackets.
func ParentPath(path string) string {
	if strings.HasSuffix(path, `"]`) {
		for i := len(path) - 3; i >= 0; i-- {
			if path[i] == '[' && path[i+1] == '"' {
				if _, err := strconv.Unquote(path[i+1 : len(path)-1]); err == nil {
					return path[:i]
				}
			}
		}
	}
	if i := strings.LastIndexAny(path, ".["); i >= 0 {
		return path[:i]
	}
	return ""
}

// Clip keeps a value of the file short enough for a message.
func Clip(s string) string {
	const most = 60
	if r := []rune(s); len(r) > most {
		return string(r[:most]) + "..."
	}
	return s
}
