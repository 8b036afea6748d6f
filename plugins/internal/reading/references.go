package reading

import (
	"slices"
	"strconv"
	"strings"

	"github.com/shadowcourt/shadowcourt/abi"
)

// Reference is a line of a document that a statement names.
type Reference struct {
	Document string
	Line     int // from 1
}

// MaxLines that an opinion names are followed, the first ones; maxReferences of a statement.
const MaxLines, maxReferences = 64, 8

// References are the lines that a statement names, by the names of the documents that there are: as log.txt:L3, log.txt:3 or log.txt#3, as
// "line 3 of log.txt", and where there is but one document as "line 3" and L3.
func (s *Statement) References(documents []string) []Reference {
	if !strings.ContainsAny(s.Outside, "0123456789") {
		return nil
	}
	var list []Reference
	add := func(document, number string) {
		line, _ := strconv.Atoi(digits(number))
		if r := (Reference{document, line}); line > 0 && len(list) < maxReferences && !slices.Contains(list, r) {
			list = append(list, r)
		}
	}
	named := ""
	for _, name := range documents {
		for _, rest := range strings.Split(s.Outside, name)[1:] {
			if strings.HasPrefix(rest, ":") || strings.HasPrefix(rest, "#") {
				add(name, strings.TrimLeft(rest[1:], "Ll"))
			}
		}
		if named == "" && s.NamesDocument(name) {
			named = name
		}
	}
	if named == "" && len(documents) == 1 {
		named = documents[0]
	}
	if named == "" {
		return list
	}
	words := strings.FieldsFunc(s.Outside, func(c rune) bool { return strings.ContainsRune("()[],.;:'\" \t", c) })
	for i, word := range words {
		if rest := strings.TrimPrefix(word, "L"); rest != word && digits(rest) == rest {
			add(named, rest)
		} else if word = strings.ToLower(word); i+1 < len(words) && (word == "line" || word == "lines") {
			add(named, words[i+1])
		}
	}
	return list
}

// digits are those at the beginning of a text.
func digits(s string) string {
	i := 0
	for i < len(s) && s[i] >= '0' && s[i] <= '9' {
		i++
	}
	return s[:i]
}

// minStem is the shortest name of a document that is taken for it without its ending.
const minStem = 3

// NamesDocument says whether a statement names a document, with or without the ending and the folder of its name, in any case of letters.
func (s *Statement) NamesDocument(name string) bool {
	stem := name[strings.LastIndexAny(name, "/\\")+1:]
	if i := strings.LastIndexByte(stem, '.'); i > 0 {
		stem = stem[:i]
	}
	return Names(s.Outside, name) || len(stem) >= minStem && Names(strings.ToLower(s.Outside), strings.ToLower(stem))
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

// Names says whether a text has a name as a word of its own.
func Names(text, name string) bool {
	for from := 0; name != ""; {
		i := strings.Index(text[from:], name)
		if i < 0 {
			return false
		}
		start, end := from+i, from+i+len(name)
		if (start == 0 || !wordByte(text[start-1])) && (end == len(text) || !wordByte(text[end])) {
			return true
		}
		from = start + 1
	}
	return false
}

func wordByte(c byte) bool {
	return c == '_' || '0' <= c && c <= '9' || 'a' <= c && c <= 'z' || 'A' <= c && c <= 'Z' || c >= 0x80
}

// Keys of an opinion's metadata that judges read.
const (
	keyConfidence     = "confidence"
	KeyClassification = "final_classification"
	keyCharge         = "charge"
	keyDecision       = "decision"
)

// Stated is how sure an opinion says that it is: in its metadata, or else in the last statement of its text that says so.
func Stated(o *abi.JudicialOpinion, statements []Statement) (confidence float64, ok bool) {
	if tokens := shares(o.Metadata[keyConfidence]); len(tokens) > 0 {
		if confidence, ok = share(tokens, 0); ok {
			return confidence, true
		}
	}
	for i := len(statements) - 1; i >= 0; i-- {
		if confidence, text := statements[i].stated(); text != "" {
			return confidence, true
		}
	}
	return 0, false
}

// sureWords begin words that tell how sure somebody is.
var sureWords = []string{"confiden*", "probabilit*", "certainty", "likelihood", "sure"}

// stated is how sure a statement says that somebody is, and the token that says so, behind a word of certainty or before it; empty if
// there is none.
func (s *Statement) stated() (confidence float64, text string) {
	if !Says(s, sureWords...) {
		return 0, ""
	}
	tokens := shares(s.Outside)
	for k := range tokens {
		if word := (Statement{tokens: tokens[k : k+1]}); !Says(&word, sureWords...) {
			continue
		}
		for i := k + 1; i < len(tokens); i++ {
			if confidence, ok := share(tokens, i); ok {
				return confidence, tokens[i]
			}
		}
		for i := k - 1; i >= max(0, k-3); i-- {
			if confidence, ok := share(tokens, i); ok {
				return confidence, tokens[i]
			}
		}
	}
	return 0, ""
}

// shares are the tokens of a text in small letters, without the signs around them.
func shares(text string) []string {
	var list []string
	for token := range strings.FieldsFuncSeq(strings.ToLower(text), func(c rune) bool { return strings.ContainsRune(" \t\n=:()[]\"'", c) }) {
		if token = strings.TrimRight(token, ".,;!?"); token != "" {
			list = append(list, token)
		}
	}
	return list
}

// share reads a share at tokens[at]: "0.81", "0,81", "1", "81%", "81 percent", "8/10".
func share(tokens []string, at int) (float64, bool) {
	token, scale := tokens[at], 1.0
	rest, percent := strings.CutSuffix(token, "%")
	part, whole, parts := strings.Cut(token, "/")
	switch {
	case percent || at+1 < len(tokens) && (tokens[at+1] == "%" || tokens[at+1] == "percent"):
		token, scale = rest, 100
	case parts:
		token, scale = part, decimal(whole)
	case token != "0" && token != "1" && !strings.ContainsAny(token, ".,"):
		return 0, false
	}
	f := decimal(token)
	return f / scale, f >= 0 && f <= scale && scale >= 1
}

// decimal reads a number with a point or a comma; -1 if it is none.
func decimal(s string) float64 {
	f, err := strconv.ParseFloat(strings.Replace(s, ",", ".", 1), 64)
	if err != nil || strings.ContainsAny(s, "einpx_+") {
		return -1
	}
	return f
}
