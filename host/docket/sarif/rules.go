package sarif

import (
	"slices"
	"strconv"
	"strings"
)

// analysis is a run: its tool, and the results that wait for the rules and files that stand behind them.
type analysis struct {
	hasTool, hasFiles bool
	driver            component
	extensions        []component
	rules, ruleBytes  int
	files             []string
	fileBytes         int
	held              []*result
	heldBytes         int
}

func newAnalysis() *analysis { return &analysis{} }

// component is the tool itself, or a part of it that brings rules of its own.
type component struct {
	name, version string
	rules         []*rule
	byID          map[string]*rule
	messages      map[string]string
}

// rule is what a tool looks for.
type rule struct {
	id, name          string
	short, full, help string
	helpURI           string
	level             string
	rank              float64
	messages          map[string]string // by their ids
	properties        properties
}

// properties are those of a result or a rule that tools agree on.
type properties struct {
	// precision is how sure the tool is, as it is written: very-high, high, medium, low.
	precision        string
	securitySeverity string
	tags             []string
}

// tool reads the tool of a run.
func (p *parser) tool() error {
	p.run.hasTool = true
	return p.object(func(key string) error {
		switch key {
		case "driver":
			return p.component(&p.run.driver)
		case "extensions":
			return p.array(func() error {
				var c component
				err := p.component(&c)
				if len(p.run.extensions) < maxTags {
					p.run.extensions = append(p.run.extensions, c)
				}
				return err
			})
		}
		return p.json.Skip()
	})
}

func (p *parser) component(c *component) error {
	c.byID = map[string]*rule{}
	return p.object(func(key string) error {
		switch key {
		case "name":
			return p.name512(&c.name)
		case "version", "semanticVersion":
			if c.version != "" {
				return p.json.Skip()
			}
			return p.name512(&c.version)
		case "rules":
			return p.array(func() error { return p.rule(c) })
		case "globalMessageStrings":
			return p.messages(&c.messages)
		}
		return p.json.Skip()
	})
}

// rule reads a rule. The index of one that is wrong stays its own.
func (p *parser) rule(c *component) error {
	line := p.json.Line()
	if err := p.reject(line); err != nil { // of what stands before it
		return err
	}
	r := &rule{rank: -1}
	err := p.object(func(key string) error {
		switch key {
		case "id":
			return p.name512(&r.id)
		case "name":
			return p.name512(&r.name)
		case "shortDescription":
			return p.message(&r.short)
		case "fullDescription":
			return p.message(&r.full)
		case "help":
			return p.message(&r.help)
		case "helpUri":
			return p.name512(&r.helpURI)
		case "messageStrings":
			return p.messages(&r.messages)
		case "defaultConfiguration":
			return p.object(func(key string) error {
				switch key {
				case "level":
					return p.name512(&r.level)
				case "rank":
					return p.number(&r.rank)
				}
				return p.json.Skip()
			})
		case "properties":
			return p.properties(&r.properties)
		}
		return p.json.Skip()
	})
	if p.run.rules++; err == nil && p.run.rules <= maxRules {
		if p.run.ruleBytes += r.bytes(); p.run.ruleBytes > maxRulesBytes {
			r.short, r.full, r.help, r.messages = "", "", "", nil
		}
		c.rules = append(c.rules, r)
		if c.byID[r.id] == nil {
			c.byID[r.id] = r
		}
	}
	if err != nil {
		return err
	}
	return p.reject(line)
}

// bytes are those of its texts.
func (r *rule) bytes() int {
	n := len(r.short) + len(r.full) + len(r.help)
	for _, text := range r.messages {
		n += len(text)
	}
	return n
}

// message reads the text of a message, or its Markdown where it has no text.
func (p *parser) message(into *string) error {
	var text, markdown string
	err := p.object(func(key string) error {
		switch key {
		case "text":
			return p.text(&text, maxRuleBytes)
		case "markdown":
			return p.text(&markdown, maxRuleBytes)
		}
		return p.json.Skip()
	})
	if *into = text; text == "" {
		*into = markdown
	}
	return err
}

// messages reads texts by their ids.
func (p *parser) messages(into *map[string]string) error {
	return p.object(func(id string) error {
		var text string
		err := p.message(&text)
		if *into == nil {
			*into = map[string]string{}
		}
		if len(*into) < maxTags {
			(*into)[id] = text
		}
		return err
	})
}

// properties reads the properties that are known, whatever type they have: others may call what they like so.
func (p *parser) properties(into *properties) error {
	return p.object(func(key string) error {
		switch key {
		case "precision", "confidence", "issue_confidence":
			return p.loose(&into.precision)
		case "security-severity":
			return p.loose(&into.securitySeverity)
		case "tags":
			if b, err := p.json.Next(); err != nil || b != '[' {
				return p.json.Skip()
			}
			return p.json.Array(func() error {
				var tag string
				err := p.loose(&tag)
				if tag != "" && len(into.tags) < maxTags {
					into.tags = append(into.tags, tag)
				}
				return err
			})
		}
		return p.json.Skip()
	})
}

// loose reads a string or a number, and passes over anything else. The first of several stays.
func (p *parser) loose(into *string) error {
	b, err := p.json.Next()
	if err != nil || *into != "" {
		return p.json.Skip()
	}
	switch {
	case b == '"':
		return p.name512(into)
	case strings.IndexByte("-0123456789", b) >= 0:
		*into, err = p.json.Word()
		return err
	}
	return p.json.Skip()
}

// file reads an artifact, of which results may name the index alone.
func (p *parser) file() error {
	var at place
	err := p.object(func(key string) error {
		if key == "location" {
			return p.artifact(&at)
		}
		return p.json.Skip()
	})
	if p.run.fileBytes += len(at.file); len(p.run.files) < maxFiles && p.run.fileBytes <= maxFilesBytes {
		p.run.files = append(p.run.files, at.file)
	}
	return err
}

// find is the rule of a result, and the component that has it; nil where it is not known.
func (a *analysis) find(r *result) (*rule, *component) {
	c := &a.driver
	if i := r.componentIndex; i >= 0 && i < len(a.extensions) {
		c = &a.extensions[i]
	}
	if i := r.ruleIndex; i >= 0 && i < len(c.rules) && (r.ruleID == "" || sameRule(r.ruleID, c.rules[i].id)) {
		return c.rules[i], c
	}
	components := []*component{c, &a.driver}
	for i := range a.extensions {
		components = append(components, &a.extensions[i])
	}
	for id := r.ruleID; id != ""; {
		for _, c := range components {
			if found := c.byID[id]; found != nil {
				return found, c
			}
		}
		i := strings.LastIndexByte(id, '/')
		id = id[:max(i, 0)] // "CA1000/1" is a part of "CA1000"
	}
	return nil, c
}

func sameRule(id, of string) bool { return id == of || strings.HasPrefix(id, of+"/") }

// say fills the arguments of a message into its placeholders, as {0}.
func say(text string, arguments []string) string {
	if len(arguments) == 0 || !strings.ContainsRune(text, '{') {
		return text
	}
	var pairs []string
	for i, a := range arguments {
		pairs = append(pairs, "{"+strconv.Itoa(i)+"}", a)
	}
	said := strings.NewReplacer(append(pairs, "{{", "{", "}}", "}")...).Replace(text)
	return strings.ToValidUTF8(said[:min(len(said), maxMessageBytes)], "")
}

// known says whether a word is one of a list.
func known(word string, list ...string) bool { return slices.Contains(list, word) }
