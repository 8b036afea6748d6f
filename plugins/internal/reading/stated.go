package reading

import (
	"math"
	"slices"
	"strconv"
	"strings"
	"unicode"

	"github.com/shadowcourt/shadowcourt/abi"
)

// Keys of an opinion's metadata that judges read.
const (
	KeyConfidence     = "confidence"
	KeyClassification = "final_classification"
	KeyCharge         = "charge"
	KeyDecision       = "decision"
)

// Confidence is how sure an opinion says that it is.
type Confidence struct {
	Value float64
	// Stated: there is one that can be read.
	Stated bool
	// Words: it is said in words, as "high confidence"; Value is what they commonly mean.
	Words bool
	// Unreadable is a value that is none; empty if there is none such.
	Unreadable string
	// Otherwise is what the text states where the metadata state something else; nil if they agree.
	Otherwise *float64
}

// Stated is the confidence that an opinion states: in its metadata, or else in
// its text, where the last statement that concludes counts, or else the last.
func Stated(o *abi.JudicialOpinion, statements []Statement) Confidence {
	text := inText(statements)
	value, there := o.Metadata[KeyConfidence]
	if !there || strings.TrimSpace(value) == "" {
		return text
	}
	c, known := shareOf(value)
	if !known {
		text.Unreadable = value
		return text
	}
	slack := 0.02
	if c.Words || text.Words {
		slack = 0.25
	}
	if text.Stated && math.Abs(text.Value-c.Value) > slack {
		c.Otherwise = &text.Value
	}
	return c
}

// SaysLabel says whether a text has a label, whatever parts its words.
func SaysLabel(text, label string) bool {
	plain := func(s string) string {
		return " " + strings.Join(strings.FieldsFunc(Fold(s), func(c rune) bool { return !unicode.IsLetter(c) && !unicode.IsDigit(c) }), " ") + " "
	}
	return strings.Contains(plain(text), plain(label))
}

func inText(statements []Statement) (c Confidence) {
	last := false
	for i := range slices.Backward(statements) {
		found, _ := statements[i].stated()
		if !found.Stated {
			if c.Unreadable == "" {
				c.Unreadable = found.Unreadable
			}
			continue
		}
		concludes := Says(&statements[i], concluding...)
		if !last || concludes {
			c, last = found, true
		}
		if concludes {
			break
		}
	}
	return c
}

var concluding = []string{
	"conclu*", "therefore", "verdict", "court", "hold", "holds", "decide*", "we", "our", "i", "my", "find", "finds",
	"daher", "schluss", "folglich", "somit", "donc", "ainsi", "por", "fallo",
}

// sureWords begin words that tell how sure somebody is.
var sureWords = []string{
	"confiden", "probabilit", "certainty", "likelihood", "sure", "konfidenz", "zuversicht", "wahrscheinlichkeit", "gewissheit", "sicher",
	"confiance", "certitude", "sûr", "confianza", "probabilidad", "certeza", "segur", "置信度", "把握", "確信度", "信頼度", "确信",
}

// degrees in words, and what they commonly mean. The figures are ours.
var degrees = []struct {
	words string
	value float64
}{
	{"high highly hoher hohe hoch élevée haute alta", 0.85},
	{"great strong full fully very quite sehr großer", 0.9},
	{"moderate medium reasonable reasonably fair fairly mittlerer mittlere modérée moyenne media moderada", 0.6},
	{"low little limited weak geringer geringe niedrige faible baja", 0.25},
}

func sureAt(token string) bool {
	return slices.ContainsFunc(sureWords, func(w string) bool { return strings.HasPrefix(token, w) && !strings.HasPrefix(token, "surer") })
}

// stated is how sure a statement says that somebody is, and the token that says so.
func (s *Statement) stated() (Confidence, string) {
	if !s.weighed {
		s.weighed = true
		if slices.ContainsFunc(s.tokens, sureIn) {
			s.sure, s.sureText = s.state()
		}
	}
	return s.sure, s.sureText
}

// sureIn says whether a word may tell how sure somebody is, before its script
// is parted.
func sureIn(token string) bool {
	return sureAt(token) || token[0] >= 0x80 && slices.ContainsFunc(sureWords, func(w string) bool { return strings.Contains(token, w) })
}

func (s *Statement) state() (c Confidence, text string) {
	tokens := spaced(s.Outside)
	for k, token := range tokens {
		if !sureIn(token) {
			continue
		}
		for i := k + 1; i < len(tokens); i++ {
			if c.Value, c.Stated = share(tokens, i); c.Stated {
				return c, tokens[i]
			}
			if i <= k+3 && c.Unreadable == "" && digits(strings.TrimPrefix(tokens[i], "-")) != "" {
				c.Unreadable = tokens[i]
			}
		}
		for i := k - 1; i >= max(0, k-3); i-- {
			if c.Value, c.Stated = share(tokens, i); c.Stated {
				return c, tokens[i]
			}
		}
		if c.Unreadable == "" {
			if c.Value, c.Words = degree(tokens, k); c.Words {
				c.Stated = true
				return c, ""
			}
		}
	}
	return c, ""
}

// degree reads "high confidence", "very low confidence", "confiance élevée".
func degree(tokens []string, k int) (float64, bool) {
	for _, i := range []int{k - 1, k + 1, k + 2} {
		if i < 0 || i >= len(tokens) {
			continue
		}
		for _, d := range degrees {
			if slices.Contains(strings.Fields(d.words), tokens[i]) {
				if i > 0 && i != k+1 && tokens[i-1] == "very" && d.value != 0.9 {
					return d.value + (d.value-0.5)/4, true
				}
				return d.value, true
			}
		}
	}
	return 0, false
}

// spaced gives the tokens of a text in small letters, without the signs around
// them; scripts that don't part words are parted from figures.
func spaced(text string) []string {
	var b strings.Builder
	for _, c := range strings.ToLower(text) {
		switch {
		case unparted(c):
			b.WriteRune(c)
			continue
		case c == '%':
			b.WriteString("% ")
			continue
		case c == '=' || c == ':':
			c = ' '
		case c >= '0' && c <= '9' && b.Len() > 0:
			if last := b.String()[b.Len()-1]; last >= 0x80 {
				b.WriteByte(' ')
			}
		}
		b.WriteRune(c)
	}
	list := strings.Fields(b.String())
	for i, token := range list {
		for _, mark := range []string{"は", "为", "為"} {
			token = strings.TrimSuffix(token, mark)
		}
		token = strings.TrimLeftFunc(token, func(c rune) bool { return unicode.IsPunct(c) && c != '.' && c != '-' && c != '%' })
		list[i] = strings.TrimRightFunc(token, func(c rune) bool { return unicode.IsPunct(c) && c != '%' || token < "\x80" && unparted(c) })
	}
	return slices.DeleteFunc(list, func(token string) bool { return token == "" })
}

// shareOf reads a value of its own: "0.81", "81 %", "high".
func shareOf(s string) (c Confidence, ok bool) {
	tokens := spaced(s)
	if len(tokens) > 0 {
		if c.Value, c.Stated = share(tokens, 0); c.Stated {
			return c, true
		}
		if len(tokens) <= 2 {
			if c.Value, c.Words = degree(append(tokens, "confidence"), len(tokens)); c.Words {
				c.Stated = true
				return c, true
			}
		}
	}
	return c, false
}

// share reads a share at tokens[at]: "0.81", ".81", "0,81", "1", "81%", "81 percent", "8/10",
// "8 out of 10".
func share(tokens []string, at int) (float64, bool) {
	next := func(i int) string {
		if at+i < len(tokens) {
			return tokens[at+i]
		}
		return ""
	}
	token, scale, shaped := tokens[at], 1.0, false
	if rest, percent := strings.CutSuffix(token, "%"); percent {
		token, scale, shaped = rest, 100, true
	} else if n, of, parts := strings.Cut(token, "/"); parts {
		token, scale, shaped = n, decimal(of), true
	} else {
		switch next(1) {
		case "%", "percent", "prozent", "pourcent", "per", "pour", "por":
			scale, shaped = 100, true
		case "out", "von", "sur":
			of := next(2)
			if of == "of" {
				of = next(3)
			}
			scale, shaped = decimal(of), true
		}
	}
	if !shaped && token != "0" && token != "1" && !strings.ContainsAny(token, ".,") {
		return 0, false
	}
	f := decimal(token)
	if !(f >= 0 && f <= scale && scale >= 1) {
		return 0, false
	}
	return f / scale, true
}

// decimal reads a number with a point or a comma; not a number if it is none.
func decimal(s string) float64 {
	if s == "" || strings.ContainsAny(s, "einpxINPX_+") {
		return math.NaN()
	}
	f, err := strconv.ParseFloat(strings.Replace(s, ",", ".", 1), 64)
	if err != nil {
		return math.NaN()
	}
	return f
}

// Says says whether one of the words stands in a statement, in any case; a word
// that ends with a star stands for all that begin so, and one of several words
// for these behind each other.
func Says(s *Statement, words ...string) bool {
	for i := range s.tokens {
		for _, word := range words {
			if s.tokens[i][0] == word[0] && saysAt(s.tokens[i:], word) {
				return true
			}
		}
	}
	return false
}

func saysAt(tokens []string, word string) bool {
	for {
		first, rest, more := strings.Cut(word, " ")
		n := len(first) - 1
		if len(tokens) == 0 || tokens[0] != first && (first[n] != '*' || !strings.HasPrefix(tokens[0], first[:n])) {
			return false
		}
		if !more {
			return true
		}
		tokens, word = tokens[1:], rest
	}
}

// withoutMay leaves out the month: within a sentence a capital tells it from the verb.
func withoutMay(text string) string {
	const month = " May"
	for from := 0; ; {
		i := strings.Index(text[from:], month)
		if i < 0 {
			return text
		}
		at, end := from+i, from+i+len(month)
		if end == len(text) || !wordByte(text[end]) {
			text, end = text[:at]+text[end:], at
		}
		from = end
	}
}

// tokens are all words of a text, in lower case, without the s of a possessor.
func tokens(text string) []string {
	list := strings.FieldsFunc(strings.ReplaceAll(strings.ToLower(withoutMay(text)), "’", "'"), func(c rune) bool {
		return (c < 'a' || c > 'z') && c != '\'' && (c < 0x80 || !unicode.IsLetter(c))
	})
	for i, token := range list {
		token = strings.TrimSuffix(token, "'s")
		if elided := strings.IndexByte(token, '\''); elided == 1 || elided == 2 { // l'accusation, qu'il
			token = token[elided+1:]
		}
		list[i] = strings.Trim(token, "'")
	}
	return slices.DeleteFunc(list, func(token string) bool { return token == "" })
}
