package steering

import (
	"strconv"
	"strings"
	"unicode"
	"unicode/utf8"
)

// variants are the ways in which a text may be read: without escapes and characters without width; with a blank in place of them and of signs
// that join words; as a terminal shows it; and what its tag characters spell.
func variants(text string) []string {
	plain := text
	if strings.ContainsAny(plain, "%&") {
		plain = unescaped(plain)
	}
	if strings.IndexByte(plain, 0x1b) >= 0 || strings.Contains(plain, "\u009b") {
		plain = withoutANSI(plain)
	}
	list := []string{plain}
	if strings.IndexByte(plain, '\b') >= 0 {
		list = []string{strings.ReplaceAll(plain, "\b", ""), erased(plain)}
		plain = list[0]
	}
	if !isASCII(plain) {
		plain = ligatures.Replace(plain)
		list[0] = plain
		if tags := tagged(plain); tags != "" {
			list = append(list, tags)
		}
	}
	if s, ok := spaced(plain); ok {
		list = append(list, s)
	}
	for i := range list {
		list[i] = markStarts(list[i])
	}
	return list
}

var ligatures = strings.NewReplacer("ﬀ", "ff", "ﬁ", "fi", "ﬂ", "fl", "ﬃ", "ffi", "ﬄ", "ffl", "ﬅ", "st", "ﬆ", "st", "ĳ", "ij", "œ", "oe")

// entities are those that stand for signs which matter here.
var entities = map[string]rune{"nbsp": ' ', "lt": '<', "gt": '>', "amp": '&', "quot": '"', "apos": '\'', "shy": 0xad, "ensp": ' ', "emsp": ' ', "thinsp": ' ', "zwnj": 0x200b, "period": '.', "lowbar": '_'}

// unescaped decodes the escapes of URLs and of HTML.
func unescaped(s string) string {
	var b strings.Builder
	for i := 0; i < len(s); i++ {
		switch s[i] {
		case '%':
			if i+2 < len(s) {
				if c, err := strconv.ParseUint(s[i+1:i+3], 16, 8); err == nil && c >= ' ' && c < 0x7f {
					b.WriteByte(byte(c))
					i += 2
					continue
				}
			}
		case '&':
			if c, size := entity(s[i+1:]); size > 0 {
				b.WriteRune(c)
				i += size
				continue
			}
		}
		b.WriteByte(s[i])
	}
	return b.String()
}

// entity decodes what follows an ampersand; size is 0 where it is none.
func entity(s string) (c rune, size int) {
	end := strings.IndexByte(s[:min(len(s), 10)], ';')
	if end < 2 {
		return 0, 0
	}
	name := s[:end]
	if name[0] != '#' {
		c, ok := entities[strings.ToLower(name)]
		if !ok {
			return 0, 0
		}
		return c, end + 1
	}
	number, base := name[1:], 10
	if number[0] == 'x' || number[0] == 'X' {
		number, base = number[1:], 16
	}
	n, err := strconv.ParseUint(number, base, 21)
	if err != nil || !utf8.ValidRune(rune(n)) {
		return 0, 0
	}
	return rune(n), end + 1
}

// withoutANSI drops the sequences by which terminals are steered.
func withoutANSI(s string) string {
	var b strings.Builder
	for i := 0; i < len(s); {
		rest := s[i:]
		var control byte
		switch {
		case strings.HasPrefix(rest, "\u009b"):
			control, i = '[', i+len("\u009b")
		case rest[0] == 0x1b && len(rest) > 1:
			control, i = rest[1], i+2
		case rest[0] == 0x1b:
			i++
			continue
		default:
			b.WriteByte(rest[0])
			i++
			continue
		}
		switch control {
		case '[': // parameters, then a letter
			for i < len(s) && s[i] >= 0x20 && s[i] < 0x40 {
				i++
			}
			if i < len(s) && s[i] >= 0x40 && s[i] < 0x7f {
				i++
			}
		case ']', 'P', '_', '^', 'X': // up to a bell or ESC \; one that does not end is no sequence
			if end := strings.IndexAny(s[i:], "\a\x1b\n"); end >= 0 && s[i+end] != '\n' {
				i += end + 1
				if s[i-1] == 0x1b && i < len(s) && s[i] == '\\' {
					i++
				}
			}
		}
	}
	return b.String()
}

// erased drops a backspace with the character before it, as a terminal shows it.
func erased(s string) string {
	out := make([]byte, 0, len(s))
	for i := range len(s) {
		if s[i] != '\b' {
			out = append(out, s[i])
			continue
		}
		if len(out) > 0 && out[len(out)-1] != '\n' {
			_, size := utf8.DecodeLastRune(out)
			out = out[:len(out)-size]
		}
	}
	return string(out)
}

// tagged is what tag characters spell, which nobody sees and models read.
func tagged(s string) string {
	var out []byte
	for _, c := range s {
		if c >= 0xe0020 && c <= 0xe007e {
			out = append(out, byte(c-0xe0000))
		}
	}
	return string(out)
}

// minJoined signs between letters are a sentence that is written with them for blanks.
const minJoined = 2

// spaced puts blanks in place of characters without width and of signs between letters: ignore_all_previous.rules.
func spaced(s string) (string, bool) {
	joined := 0
	out := make([]byte, 0, len(s))
	before := rune(' ')
	for i, c := range s {
		if isHidden(c) {
			joined += minJoined
			out = append(out, ' ')
			before = ' '
			continue
		}
		if strings.ContainsRune("_.-+*~=|/,:;·•", c) && unicode.IsLetter(before) {
			if next, _ := utf8.DecodeRuneInString(s[i+utf8.RuneLen(c):]); unicode.IsLetter(next) {
				joined++
				c = ' '
			}
		}
		out = utf8.AppendRune(out, c)
		before = c
	}
	return string(out), joined >= minJoined
}

// Letters that are others in another style. Those in order of the alphabet [styled] computes.
const styles = "ᵃaᵇbᶜcᵈdᵉeᶠfᵍgʰhⁱiʲjᵏkˡlᵐmⁿnᵒoᵖpʳrˢsᵗtᵘuᵛvʷwˣxʸyᶻz" + "ᴀaʙbᴄcᴅdᴇeꜰfɢgʜhɪiᴊjᴋkʟlᴍmɴnᴏoᴘpʀrꜱsᴛtᴜuᴠvᴡwʏyᴢz" +
	"ℂcℊgℋhℌhℍhℎhℐiℑiℒlℓlℕnℙpℚqℛrℜrℝrℤzℨzℬbℭcℯeℰeℱfℳmℴoⅆdⅇeⅈiⅉjℹi" + "ⅰiⅴvⅹxⅼlⅽcⅾdⅿmⅠiⅤvⅩxⅬlⅭcⅮdⅯm" + "ₐaₑeₒoₓxₕhₖkₗlₘmₙnₚpₛsₜtᵢiᵣrᵤuᵥv"

// styled gives the letter or digit of a wide, mathematical, circled or raised one, and of small capitals: most of what NFKC makes of letters,
// without its tables, which each module would carry.
func styled(c rune) rune {
	switch {
	case c < 0x250:
	case c >= 0xff01 && c <= 0xff5e:
		return c - 0xfee0
	case c >= 0x1d400 && c <= 0x1d6a3: // 13 alphabets, large and small
		return 'a' + (c-0x1d400)%26
	case c >= 0x1d7ce && c <= 0x1d7ff:
		return '0' + (c-0x1d7ce)%10
	case c >= 0x24b6 && c <= 0x24e9:
		return 'a' + (c-0x24b6)%26
	case c >= 0x249c && c <= 0x24b5:
		return 'a' + c - 0x249c
	case c >= 0x1f1e6 && c <= 0x1f1ff:
		return 'a' + c - 0x1f1e6
	case c >= 0x1f110 && c <= 0x1f189 && (c-0x1f110)%32 < 26:
		return 'a' + (c-0x1f110)%32
	case c < 0x300, c >= 0x1d00 && c < 0x1dc0, c >= 0x2070 && c < 0x2190, c >= 0xa700 && c < 0xa800:
		if at := strings.IndexRune(styles, c); at >= 0 {
			return rune(styles[at+utf8.RuneLen(c)])
		}
	}
	return c
}
