package reading

import (
	"slices"
	"strconv"
	"strings"

	"github.com/shadowcourt/shadowcourt/abi"
)

// Keys of an opinion's metadata that a court writes.
const (
	KeyConfidence     = "confidence"
	KeyClassification = "final_classification"
)

// Stated is the confidence that an opinion states: in its metadata, or else in
// the last statement that speaks of confidence or probability and has a number.
func Stated(o *abi.JudicialOpinion, statements []Statement) (confidence float64, ok bool) {
	if confidence, ok = share(o.Metadata[KeyConfidence]); ok {
		return confidence, true
	}
	for _, s := range slices.Backward(statements) {
		if !Says(&s, "confidence", "confident", "probability", "certainty", "likelihood", "sure") {
			continue
		}
		for field := range strings.FieldsSeq(s.Text) {
			if confidence, ok = share(strings.Trim(field, ".,;:()[]\"'")); ok {
				return confidence, true
			}
		}
	}
	return 0, false
}

// share reads "0.81", "1", "81%".
func share(s string) (float64, bool) {
	scale := 1.0
	if rest, percent := strings.CutSuffix(s, "%"); percent {
		s, scale = rest, 100
	} else if s != "0" && s != "1" && !strings.Contains(s, ".") {
		return 0, false
	}
	f, err := strconv.ParseFloat(s, 64)
	if err != nil || !(f >= 0 && f <= scale) {
		return 0, false
	}
	return f / scale, true
}

// Says says whether one of the words stands in a statement, in any case; a word
// that ends with a star stands for all that begin so.
func Says(s *Statement, words ...string) bool {
	for _, token := range s.tokens {
		for _, word := range words {
			if n := len(word) - 1; token == word || word[n] == '*' && strings.HasPrefix(token, word[:n]) {
				return true
			}
		}
	}
	return false
}

// tokens are all words of a text, in lower case.
func tokens(text string) []string {
	return strings.FieldsFunc(strings.ToLower(text), func(c rune) bool { return (c < 'a' || c > 'z') && c != '\'' && c < 0x80 })
}
