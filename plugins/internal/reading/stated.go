package reading

import (
	"strconv"
	"strings"

	"github.com/shadowcourt/shadowcourt/abi"
)

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
