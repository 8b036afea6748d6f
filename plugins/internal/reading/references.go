package reading

import (
	"slices"
	"strconv"
	"strings"
)

// Reference is a line of a document that a statement names.
type Reference struct {
	Document string
	Line     int // from 1
}

// MaxLines that an opinion names are followed, the first ones.
const MaxLines = 64

// maxReferences of a statement are followed, maxSpan lines of a range.
const maxReferences, maxSpan = 8, 4

// lineWords stand before the number of a line.
var lineWords = set("line lines zeile zeilen ligne lignes línea líneas linea lineas riga")

// References are the lines that a statement names, by the names of the documents
// that there are: as log.txt:L3, log.txt:3 or log.txt#3, as "line 3 of log.txt", and where
// there is but one document as "line 3" and L3.
func (s *Statement) References(documents []string) []Reference {
	if !strings.ContainsAny(s.Outside, "0123456789") {
		return nil
	}
	var list []Reference
	add := func(document string, from, to int) {
		for line := from; line <= min(to, from+maxSpan-1); line++ {
			if r := (Reference{document, line}); line > 0 && len(list) < maxReferences && !slices.Contains(list, r) {
				list = append(list, r)
			}
		}
	}
	named := ""
	for _, name := range documents {
		for from := 0; ; {
			at := strings.Index(s.Outside[from:], name)
			if at < 0 {
				break
			}
			end := from + at + len(name)
			if rest := s.Outside[end:]; strings.HasPrefix(rest, ":") || strings.HasPrefix(rest, "#") {
				if first, last := lineRange(strings.TrimLeft(rest[1:], "Ll")); first > 0 && (rest[0] != ':' || !timeOfDay(rest[1:])) {
					add(name, first, last)
				}
			}
			from = end
		}
		if named == "" && s.NamesDocument(name) {
			named = name
		}
	}
	if named == "" && len(documents) == 1 {
		named = documents[0]
	}
	if named != "" {
		s.looseLines(func(from, to int) { add(named, from, to) })
	}
	return list
}

// looseLines finds the lines that are named without their document.
func (s *Statement) looseLines(found func(from, to int)) {
	words := strings.Fields(s.Outside)
	for i, word := range words {
		word = strings.Trim(word, "()[],.;:'\"")
		if rest := strings.TrimPrefix(word, "L"); rest != word && digits(rest) == rest && rest != "" {
			found(lineRange(rest))
			continue
		}
		if !lineWords[strings.ToLower(word)] {
			continue
		}
		for k := i + 1; k < min(len(words), i+6); k++ {
			number := strings.Trim(words[k], "()[],.;:'\"")
			if first, last := lineRange(number); first > 0 {
				found(first, last)
			} else if number != "and" && number != "und" && number != "et" && number != "y" && number != "to" {
				break
			}
		}
	}
}

// lineRange reads "3" and "3-5", "L3-L5".
func lineRange(s string) (from, to int) {
	first := digits(s)
	from, err := strconv.Atoi(first)
	if err != nil {
		return 0, 0
	}
	to = from
	if rest := strings.TrimPrefix(strings.TrimPrefix(s[len(first):], "-"), "–"); rest != s[len(first):] {
		if last, err := strconv.Atoi(digits(strings.TrimLeft(rest, "Ll"))); err == nil {
			to = last
		}
	}
	return from, to
}

// timeOfDay says whether a text begins with 12:34.
func timeOfDay(s string) bool {
	d := digits(s)
	return len(d) > 0 && strings.HasPrefix(s[len(d):], ":") && digits(s[len(d)+1:]) != ""
}

// minStem is the shortest name of a document that is taken for it without its ending.
const minStem = 3

// NamesDocument says whether a statement names a document, with or without
// the ending and the folder of its name, in any case of letters.
func (s *Statement) NamesDocument(name string) bool {
	if Names(s.Outside, name) {
		return true
	}
	stem := name[strings.LastIndexAny(name, "/\\")+1:]
	if i := strings.LastIndexByte(stem, '.'); i > 0 {
		stem = stem[:i]
	}
	return len(stem) >= minStem && Names(strings.ToLower(s.Outside), strings.ToLower(stem))
}

// placeOf parts a source_ref that is a line of a document: log.txt:L3.
func placeOf(ref string) (r Reference, ok bool) {
	i := strings.LastIndex(ref, ":L")
	if i <= 0 || i+2 == len(ref) || digits(ref[i+2:]) != ref[i+2:] {
		return r, false
	}
	line, err := strconv.Atoi(ref[i+2:])
	return Reference{ref[:i], line}, err == nil
}
