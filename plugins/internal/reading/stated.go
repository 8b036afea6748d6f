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

// Says says whether one of the words stands in a statement, in any case.
func Says(s *Statement, words ...string) bool { return Count(s.Text, words) > 0 }

// Count is how many words of a text are among words; one that ends with a
// star stands for all that begin so.
func Count(text string, words []string) int {
	n := 0
	for field := range strings.FieldsFuncSeq(strings.ToLower(text), func(c rune) bool {
		return !('a' <= c && c <= 'z') && c != '\'' && c < 0x80
	}) {
		if slices.ContainsFunc(words, func(word string) bool {
			stem, open := strings.CutSuffix(word, "*")
			return field == stem || open && strings.HasPrefix(field, stem)
		}) {
			n++
		}
	}
	return n
}
