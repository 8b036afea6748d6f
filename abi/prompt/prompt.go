// Package prompt reads the prompt files of personas that ask language models. The host checks them when it loads a pipeline, and the
// modules build messages from them: both use this code.
package prompt

import (
	"cmp"
	"slices"
	"strconv"
	"strings"

	"github.com/shadowcourt/shadowcourt/abi"
)

// Prompt is a prompt file. Its headings are `# system`, `# settings`, and the families of nodes that the model is asked at, as
// `# discover`. A text without headings is the system message at every node.
type Prompt struct {
	// Samples is how many answers are asked for, from 1.
	Samples     int
	Temperature float64
	// AnswerTokens bounds an answer, DocumentTokens what is shown of the documents.
	AnswerTokens, DocumentTokens int

	sections []section
}

// section is the text below a heading.
type section struct {
	name string
	text string
	line int // of the text's first line
}

// Fault is what is wrong with a prompt file.
type Fault struct {
	Line int // from 1
	What string
}

// The settings of a file that names none, and their bounds.
const (
	defaultAnswerTokens   = 1200
	defaultDocumentTokens = 6000
	maxSamples            = 64
	maxTemperature        = 2
	maxTokens             = 10_000_000
)

const (
	systemSection   = "system"
	settingsSection = "settings"
)

// Families may have a section.
func Families() []abi.Family {
	return []abi.Family{abi.FamilyIndict, abi.FamilyDiscover, abi.FamilyDefend, abi.FamilyHearing, abi.FamilyVerdict}
}

// Placeholders are the names that a section of a family may have in braces.
func Placeholders() []string {
	return []string{"labels", "charge", "round", "subject", "light", "items", "findings", "challenges", "hearing", "experiments", "documents"}
}

// Parse reads a prompt file. The faults are in the order of their lines; with one, the prompt is not to be used.
func Parse(text string) (*Prompt, []Fault) {
	p := &Prompt{Samples: 1, AnswerTokens: defaultAnswerTokens, DocumentTokens: defaultDocumentTokens}
	faults := p.split(text)
	for i := range p.sections {
		switch s := &p.sections[i]; s.name {
		case "":
			if len(p.sections) > 1 {
				faults = append(faults, Fault{s.line, "there is text before the first section: move it below `# system`"})
			}
		case systemSection:
		case settingsSection:
			faults = append(faults, p.readSettings(s)...)
		default:
			faults = append(faults, placeholders(s)...)
		}
	}
	if len(p.sections) == 1 && p.sections[0].name == "" {
		p.sections[0].name = systemSection
	}
	slices.SortStableFunc(faults, func(a, b Fault) int { return cmp.Compare(a.Line, b.Line) })
	return p, faults
}

// split finds the sections. Text before the first heading is a section without a name.
func (p *Prompt) split(text string) (faults []Fault) {
	current := section{line: 1}
	var body []string
	end := func() {
		for len(body) > 0 && strings.TrimSpace(body[0]) == "" {
			body = body[1:]
			current.line++
		}
		current.text = strings.TrimSpace(strings.Join(body, "\n"))
		if current.text != "" || current.name != "" {
			p.sections = append(p.sections, current)
		}
		body = nil
	}
	line := 0
	for row := range strings.SplitSeq(text, "\n") {
		line++
		name, ok := strings.CutPrefix(strings.TrimRight(row, " \r"), "# ")
		if !ok {
			body = append(body, strings.TrimSuffix(row, "\r"))
			continue
		}
		end()
		current = section{name: name, line: line + 1}
		switch {
		case p.section(name) != nil:
			faults = append(faults, Fault{line, "there are two sections " + strconv.Quote(clip(name))})
		case !slices.Contains(sections(), name):
			faults = append(faults, Fault{line, "unknown section " + strconv.Quote(clip(name)) + "; known are " + strings.Join(sections(), ", ")})
		}
	}
	end()
	return faults
}

func (p *Prompt) section(name string) *section {
	for i := range p.sections {
		if p.sections[i].name == name {
			return &p.sections[i]
		}
	}
	return nil
}

func sections() []string {
	names := []string{systemSection, settingsSection}
	for _, f := range Families() {
		names = append(names, string(f))
	}
	return names
}

// readSettings reads lines such as "samples: 3".
func (p *Prompt) readSettings(s *section) (faults []Fault) {
	line := s.line - 1
	for row := range strings.SplitSeq(s.text, "\n") {
		line++
		if strings.TrimSpace(row) == "" {
			continue
		}
		name, value, _ := strings.Cut(row, ":")
		name, value = strings.TrimSpace(name), strings.TrimSpace(value)
		ok, expected := true, "a whole number from 1 to "+strconv.Itoa(maxTokens)
		switch name {
		case "samples":
			ok, expected = integer(value, maxSamples, &p.Samples), "a whole number from 1 to "+strconv.Itoa(maxSamples)
		case "answer_tokens":
			ok = integer(value, maxTokens, &p.AnswerTokens)
		case "document_tokens":
			ok = integer(value, maxTokens, &p.DocumentTokens)
		case "temperature":
			t, err := strconv.ParseFloat(value, 64)
			if ok, expected = err == nil && t >= 0 && t <= maxTemperature, "a number from 0 to "+strconv.Itoa(maxTemperature); ok {
				p.Temperature = t
			}
		default:
			faults = append(faults, Fault{line, "unknown setting " + strconv.Quote(clip(row)) + "; known are samples, temperature, answer_tokens, document_tokens"})
		}
		if !ok {
			faults = append(faults, Fault{line, "the setting " + strconv.Quote(clip(row)) + " makes no sense: " + name + " is " + expected})
		}
	}
	return faults
}

func integer(value string, most int, target *int) bool {
	n, err := strconv.Atoi(value)
	if err != nil || n < 1 || n > most {
		return false
	}
	*target = n
	return true
}

// placeholders finds those that nothing stands for.
func placeholders(s *section) (faults []Fault) {
	line := s.line
	for row := range strings.SplitSeq(s.text, "\n") {
		Fill(row, func(name string) (string, bool) {
			if !slices.Contains(Placeholders(), name) {
				faults = append(faults, Fault{line, "unknown placeholder {" + clip(name) + "}; known are {" + strings.Join(Placeholders(), "}, {") + "}"})
			}
			return "", true
		})
		line++
	}
	return faults
}

// At is what the prompt says at a node: the file's own text, or where the file has no sections, what the module has.
func (p *Prompt) At(family abi.Family, usual string) (system, user string, ok bool) {
	if s := p.section(systemSection); s != nil {
		system = s.text
	}
	if s := p.section(string(family)); s != nil {
		return system, s.text, true
	}
	if len(p.sections) == 1 && system != "" {
		return system, usual, true
	}
	return system, "", false
}

// Fill puts values in the place of {names}. unknown is the first name that has no value.
func Fill(template string, value func(name string) (string, bool)) (filled, unknown string) {
	var out strings.Builder
	for {
		i := strings.IndexByte(template, '{')
		if i < 0 {
			out.WriteString(template)
			return out.String(), ""
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
			return "", template[1:end]
		}
		out.WriteString(text)
		template = template[end+1:]
	}
}

// clip keeps the beginning of a text, between characters.
func clip(s string) string {
	most := 60
	if len(s) <= most {
		return s
	}
	for most > 0 && s[most]&0xc0 == 0x80 {
		most--
	}
	return s[:most] + "..."
}
