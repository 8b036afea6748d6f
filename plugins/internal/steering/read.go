package steering

import (
	"strings"
	"unicode"
	"unicode/utf8"
)

// read gives a text in words of lower case, every other visible sign being a
// word of its own, and counts the characters that no reader would see.
func read(text string) (words []string, hidden int) {
	if isASCII(text) {
		return unspelled(readASCII(strings.ToLower(text))), 0
	}
	var word strings.Builder
	end := func() {
		if word.Len() > 0 {
			words = append(words, word.String())
			word.Reset()
		}
	}
	for i, c := range text {
		if isHidden(c) {
			if i > 0 && c != softHyphen { // the first may be a mark of the byte order
				hidden++
			}
			continue
		}
		if unicode.Is(unicode.Mn, c) {
			continue // a mark on a letter hides the word from detectors, and from nobody else
		}
		c = folded(c)
		switch {
		case c == '_' || unicode.IsLetter(c) || unicode.IsDigit(c):
			word.WriteRune(c)
		case breaks(c):
			end()
			words = append(words, start)
		case unicode.IsSpace(c), unicode.IsControl(c):
			end()
		default:
			end()
			words = append(words, string(c))
		}
	}
	end()
	return unspelled(words), hidden
}

// minSpelled letters behind each other are a word that is spelled out.
const minSpelled = 4

// unspelled joins words that are spelled out: i g n o r e.
func unspelled(words []string) []string {
	run, most := 0, 0
	for _, word := range words {
		if len(word) == 1 && word >= "a" && word <= "z" {
			run++
			most = max(most, run)
		} else {
			run = 0
		}
	}
	if most < minSpelled {
		return words
	}
	out := words[:0:0]
	for i := 0; i < len(words); {
		end := i
		for end < len(words) && len(words[end]) == 1 && words[end] >= "a" && words[end] <= "z" {
			end++
		}
		if end-i >= minSpelled {
			out = append(out, strings.Join(words[i:end], ""))
			i = end
			continue
		}
		out = append(out, words[i])
		i++
	}
	return out
}

func isASCII(s string) bool {
	for i := range len(s) {
		if s[i] >= 0x80 {
			return false
		}
	}
	return true
}

// readASCII reads what nearly every text is without copying a word.
func readASCII(lower string) []string {
	words := make([]string, 0, len(lower)/5+1)
	from := -1
	for i := range len(lower) {
		c := lower[i]
		if c == '_' || 'a' <= c && c <= 'z' || '0' <= c && c <= '9' {
			if from < 0 {
				from = i
			}
			continue
		}
		if from >= 0 {
			words, from = append(words, lower[from:i]), -1
		}
		switch {
		case c > ' ' && c != 0x7f:
			words = append(words, lower[i:i+1])
		case breaks(rune(c)):
			words = append(words, start)
		}
	}
	if from >= 0 {
		words = append(words, lower[from:])
	}
	return words
}

// breaks tells characters that end a line.
func breaks(c rune) bool {
	return c >= '\n' && c <= '\r' || c == 0x85 || c == 0x2028 || c == 0x2029
}

// split takes the marks of where sentences begin out of words.
func split(read []string) (words []string, starts []bool) {
	words, starts = make([]string, 0, len(read)), make([]bool, len(read)+1)
	for _, word := range read {
		if word == start {
			starts[len(words)] = true
			continue
		}
		words = append(words, word)
	}
	return words, starts
}

const softHyphen = 0xad

// isHidden tells characters by which words are hidden from people or detectors:
// without width (but the joiner, which stands in many scripts), of direction, tags.
func isHidden(c rune) bool {
	return c >= 0x200b && c <= 0x200f && c != 0x200d || c >= 0x202a && c <= 0x202e || c >= 0x2060 && c <= 0x2069 ||
		c == 0xfeff || c == softHyphen || c == 0x34f || c == 0x180e || c >= 0xe0000 && c <= 0xe007f
}

// Letters of other scripts that look like Latin ones, and what they look like.
const (
	alike = "аеорсухіѕԁкмтвнАЕОРСУХІЅКМТВНοαε"
	latin = "aeopcyxisdkmtbhaeopcyxiskmtbhoae"
)

// folded gives small letters, and Latin ones for wide and look-alike ones.
func folded(c rune) rune {
	if c >= 0xff01 && c <= 0xff5e {
		c -= 0xfee0
	}
	if c < 0x300 {
		return unicode.ToLower(c)
	}
	at := 0
	for _, other := range alike {
		if other == c {
			return rune(latin[at])
		}
		at++
	}
	return unicode.ToLower(c)
}

// found is a pattern in a script that doesn't part words.
type found struct {
	kind   string
	weight float64
	words  string
}

// scripts are pairs that stand near each other in such a script, in either order.
var scripts = []struct {
	kind          string
	weight        float64
	first, second []string
}{
	{Override, 0.9, []string{"忽略", "无视", "無視", "忘记", "忘掉", "忘れ", "不要理会", "不要遵守"}, []string{"指令", "指示", "命令", "提示词", "提示詞", "规则", "規則", "ルール", "之前的要求", "以上内容", "무시"}},
	{Override, 0.9, []string{"무시"}, []string{"지시", "명령", "규칙"}},
	{Dictate, 0.8, []string{"给", "給", "打", "评", "つけ", "与え", "採点"}, []string{"满分", "滿分", "最高分", "5分", "五分", "満点", "最高点"}},
	{Role, 0.7, []string{"你现在是", "你現在是", "あなたは今から", "これからあなたは"}, []string{""}},
}

// reach is how far the two of a pair may be apart, in bytes: about fifteen signs.
const reach = 45

func unparted(text string) []found {
	if isASCII(text) {
		return nil
	}
	var list []found
	for i := range scripts {
		s := &scripts[i]
		for _, first := range s.first {
			at := strings.Index(text, first)
			if at < 0 {
				continue
			}
			from, to := max(0, at-reach), min(len(text), at+len(first)+reach)
			for !utf8.RuneStart(text[from]) {
				from++
			}
			for to < len(text) && !utf8.RuneStart(text[to]) {
				to++
			}
			for _, second := range s.second {
				if strings.Contains(text[from:to], second) {
					list = append(list, found{s.kind, s.weight, first})
					break
				}
			}
		}
	}
	return list
}
