package chat

import (
	"strings"
	"unicode"

	"github.com/shadowcourt/shadowcourt/plugins/internal/steering"
)

// withheld stands in place of what addresses its reader.
const withheld = "[withheld: it addresses its reader]"

// guarded is a text, or that it was withheld.
func guarded(s string) string {
	if steering.Addresses(s) {
		return withheld
	}
	return s
}

// sentences withholds the sentences of a text that address their reader, and leaves the others: an argument has sentences of a module beside
// those of a model, which may be about to steer the models that hear it.
func sentences(s string) string {
	if !steering.Addresses(s) {
		return s
	}
	own, model := s, ""
	if i := strings.Index(s, modelSays); i >= 0 {
		own, model = s[:i], s[i:]
	}
	return each(own) + each(model)
}

// each withholds sentences one by one; of a text that addresses its reader only as a whole nothing is left but the model's name.
func each(s string) string {
	if !steering.Addresses(s) {
		return s
	}
	var out strings.Builder
	for rest := s; rest != ""; {
		end := len(rest)
		for i := 0; i+1 < len(rest); i++ {
			if strings.IndexByte(".!?", rest[i]) >= 0 && rest[i+1] == ' ' {
				end = i + 2
				break
			}
		}
		sentence := rest[:end]
		if rest = rest[end:]; steering.Addresses(sentence) {
			sentence = who(sentence) + withheld + sentence[len(strings.TrimRight(sentence, " ")):]
		}
		out.WriteString(sentence)
	}
	if left := out.String(); !steering.Addresses(left) {
		return left
	}
	return who(s) + withheld
}

// who is the beginning of a sentence that says which model speaks. The names of models are the operator's.
func who(s string) string {
	if !strings.HasPrefix(s, modelSays) {
		return ""
	}
	name, _, ok := strings.Cut(s[len(modelSays):], ": ")
	if !ok || strings.ContainsAny(name, " \t\n") {
		return ""
	}
	return modelSays + name + ": "
}

// withhold keeps back the lines of a text that address their reader still, since they do so with the words around them.
func withhold(s string) string {
	lines := strings.Split(s, "\n")
	for i := range lines {
		if !steering.Addresses(lines[i]) {
			continue
		}
		head, _, numbered := strings.Cut(lines[i], "| ")
		if !numbered || len(head) > lineOverhead {
			lines[i] = withheld
		} else {
			lines[i] = head + "| " + withheld
		}
	}
	return strings.Join(lines, "\n")
}

// nameBytes is how much of a label, of the name of a document and of a source a model reads.
const nameBytes = 100

// quoted is a name as a JSON string, or that it was withheld. Whoever writes a case chooses the names, too.
func quoted(name string) string {
	if steering.Addresses(name) {
		return withheld
	}
	var out []byte
	from := 0
	name = Clip(name, nameBytes)
	for i, c := range name {
		if c >= 0x7f && !unicode.IsGraphic(c) || c == 0x2028 || c == 0x2029 {
			out = append(out, name[from:i]...)
			out = append(out, "\uFFFD"...)
			from = i + len(string(c))
		}
	}
	return string(appendString(nil, string(append(out, name[from:]...))))
}

// label is a label as it stands in a list: quoted, but for one of plain letters, digits and signs.
func label(s string) string {
	if s == "" {
		return "no label"
	}
	if len(s) > nameBytes {
		return quoted(s)
	}
	for _, c := range s {
		if c != '_' && c != '-' && c != '.' && !unicode.IsLetter(c) && !unicode.IsDigit(c) {
			return quoted(s)
		}
	}
	return guarded(s)
}
