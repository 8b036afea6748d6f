package chat

import (
	"strconv"
	"strings"

	"github.com/shadowcourt/shadowcourt/abi"
	"github.com/shadowcourt/shadowcourt/abi/guest"
)

// BadPrompt is the code of the failure of a module whose prompt file makes no sense.
const BadPrompt = "bad_prompt"

// prompt is a prompt file. Its headings are `# system`, `# settings`, and the families of nodes that the model is asked at, as `# discover`. A text without
// headings is the system message at every node.
type prompt struct {
	sections     map[string]string
	samples      int
	temperature  float64
	answerTokens int
	// documentTokens bounds what is shown of the documents.
	documentTokens int
}

// The settings of a prompt file that names none.
const (
	defaultAnswerTokens   = 1200
	defaultDocumentTokens = 6000
)

const (
	systemSection   = "system"
	settingsSection = "settings"
)

// families that may have a section.
func families() []abi.Family {
	return []abi.Family{abi.FamilyIndict, abi.FamilyDiscover, abi.FamilyDefend, abi.FamilyHearing, abi.FamilyVerdict}
}

func parsePrompt(text string) (*prompt, *abi.Failure) {
	p := &prompt{sections: map[string]string{}, samples: 1, answerTokens: defaultAnswerTokens, documentTokens: defaultDocumentTokens}
	at := ""
	var body []string
	end := func() {
		if text := strings.TrimSpace(strings.Join(body, "\n")); text != "" || at != "" {
			p.sections[at] = text
		}
		body = nil
	}
	for line := range strings.SplitSeq(text, "\n") {
		name, ok := strings.CutPrefix(strings.TrimRight(line, " \r"), "# ")
		if !ok {
			body = append(body, strings.TrimSuffix(line, "\r"))
			continue
		}
		end()
		at = name
		if _, twice := p.sections[at]; twice {
			return nil, badPrompt("has two sections " + strconv.Quote(at))
		}
		if !isSection(at) {
			return nil, badPrompt("has an unknown section " + strconv.Quote(at) + ": use system, settings or a family of nodes")
		}
	}
	end()
	before, plain := p.sections[""]
	if plain && len(p.sections) > 1 {
		return nil, badPrompt("begins with text before its first section: " + strconv.Quote(Clip(before, 40)))
	}
	if plain {
		p.sections = map[string]string{systemSection: before}
	}
	return p, p.readSettings()
}

func isSection(name string) bool {
	for _, family := range families() {
		if name == string(family) {
			return true
		}
	}
	return name == systemSection || name == settingsSection
}

func badPrompt(why string) *abi.Failure { return guest.Fail(BadPrompt, "the prompt file "+why) }

// readSettings reads lines such as "samples: 3".
func (p *prompt) readSettings() *abi.Failure {
	for line := range strings.SplitSeq(p.sections[settingsSection], "\n") {
		if strings.TrimSpace(line) == "" {
			continue
		}
		name, value, _ := strings.Cut(line, ":")
		value = strings.TrimSpace(value)
		n, err := strconv.Atoi(value)
		ok := err == nil && n >= 1
		switch strings.TrimSpace(name) {
		case "samples":
			p.samples, ok = n, ok && n <= 64
		case "answer_tokens":
			p.answerTokens = n
		case "document_tokens":
			p.documentTokens = n
		case "temperature":
			t, err := strconv.ParseFloat(value, 64)
			p.temperature, ok = t, err == nil && t >= 0 && t <= 2
		default:
			return badPrompt("has an unknown setting " + strconv.Quote(line))
		}
		if !ok {
			return badPrompt("has a setting that makes no sense: " + strconv.Quote(line))
		}
	}
	return nil
}

// of is what the prompt says at a node: the file's own text, or where the file has no sections, what the module has.
func (p *prompt) of(family abi.Family, usual string) (system, user string, ok bool) {
	user, ok = p.sections[string(family)]
	if !ok && len(p.sections) == 1 && p.sections[systemSection] != "" {
		user, ok = usual, true
	}
	return p.sections[systemSection], user, ok
}

// fill puts values in the place of {names}.
func fill(template string, value func(name string) (string, bool)) (string, *abi.Failure) {
	var out strings.Builder
	for {
		i := strings.IndexByte(template, '{')
		if i < 0 {
			out.WriteString(template)
			return out.String(), nil
		}
		out.WriteString(template[:i])
		template = template[i:]
		end := 1
		for end < len(template) && (template[end] == '_' || 'a' <= template[end] && template[end] <= 'z') {
			end++
		}
		if end == 1 || end == len(template) || template[end] != '}' { // a brace of an example
			out.WriteByte('{')
			template = template[1:]
			continue
		}
		text, ok := value(template[1:end])
		if !ok {
			return "", badPrompt("has an unknown placeholder " + template[:end+1])
		}
		out.WriteString(text)
		template = template[end+1:]
	}
}

// Clip cuts a text to some bytes, between characters.
func Clip(s string, most int) string {
	if len(s) <= most {
		return s
	}
	for most > 0 && s[most]&0xc0 == 0x80 {
		most--
	}
	return s[:most] + "..."
}
