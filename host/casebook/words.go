package casebook

import "strings"

// maskWord gives a word without the figures in it, or the mark alone if the word is a number, an address, a hash or an
// identifier that somebody drew.
func maskWord(w string) string {
	digits := strings.Count(w, "_") // of a number such as 1_000
	groups, hex := 0, 0
	for i := range len(w) {
		c := w[i]
		switch {
		case '0' <= c && c <= '9':
			digits++
			hex++
			if i == 0 || w[i-1] < '0' || w[i-1] > '9' {
				groups++
			}
		case 'a' <= c && c <= 'f', 'A' <= c && c <= 'F':
			hex++
		}
	}
	switch {
	case groups == 0 && (hex < len(w) || len(w) < 16):
		return w
	case digits == len(w):
		return string(mark)
	case len(w) > 2 && w[0] == '0' && (w[1] == 'x' || w[1] == 'X') && hex == len(w)-1:
		return string(mark) // the x is no hexadecimal digit, the 0 is
	case hex == len(w) && len(w) >= 7:
		return string(mark)
	case groups >= 2 && len(w) >= 5 && !hasWidth(w) && !strings.Contains(w, "_"):
		return string(mark)
	case hasWidth(w):
		return w
	}
	return maskDigits(w)
}

// hasWidth says whether the figures are part of a name: of a type, an encoding, an algorithm, an architecture.
func hasWidth(w string) bool {
	w = strings.ToLower(w)
	for _, name := range []string{"int", "uint", "float", "complex", "utf", "sha", "base", "amd", "arm", "crc", "md", "ipv", "http"} {
		if rest, ok := strings.CutPrefix(w, name); ok && rest != "" && len(rest) <= 3 && strings.Trim(rest, "0123456789") == "" {
			return true
		}
	}
	return false
}

// maskDigits makes a mark of every run of digits; up to two letters after leading digits are a unit or an ordinal.
func maskDigits(w string) string {
	var b strings.Builder
	inRun := false
	for _, r := range w {
		if isDigit(r) {
			if !inRun {
				b.WriteByte(mark)
			}
			inRun = true
			continue
		}
		inRun = false
		b.WriteRune(r)
	}
	masked := b.String()
	if masked[0] == mark && len(masked) <= 3 {
		return string(mark)
	}
	return masked
}
