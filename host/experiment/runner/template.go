package runner

import (
	"errors"
	"fmt"
	"regexp"
	"strings"
)

// placeholder stands for a value in an argument: {name}, or {name|regexp} for an expression that matches the value alone.
var placeholder = regexp.MustCompile(`\{(\w+)(\|regexp)?\}`)

// placeholders are those that every definition has; the groups of its patterns and the variables of its folders come to them.
var placeholders = []string{"class", "name", "names", "file", "rest", "folder", "module", "report", "scratch", "program"}

// groups are the names of the groups in the patterns of a selection.
func (s *Selection) groups() []string {
	var names []string
	for _, p := range []Pattern{s.Class, s.Name} {
		if p.Regexp == nil {
			continue
		}
		for _, name := range p.SubexpNames() {
			if name != "" {
				names = append(names, name)
			}
		}
	}
	return names
}

// maxValueBytes is the longest value of a placeholder.
const maxValueBytes = 4096

// expand puts values into arguments. Values are data of others, such as names of tests: each stays within its argument, and none
// makes an option of it.
func expand(templates []string, values map[string][]string) ([]string, error) {
	args := make([]string, 0, len(templates))
	for _, template := range templates {
		arg, err := expandOne(template, values)
		if err != nil {
			return nil, err
		}
		args = append(args, arg)
	}
	return args, nil
}

func expandOne(template string, values map[string][]string) (string, error) {
	var fault error
	arg := placeholder.ReplaceAllStringFunc(template, func(p string) string {
		m := placeholder.FindStringSubmatch(p)
		alternatives, known := values[m[1]]
		if !known || len(alternatives) == 0 {
			fault = fmt.Errorf("there is no %s", m[1])
			return ""
		}
		for _, value := range alternatives {
			if strings.ContainsRune(value, 0) || len(value) > maxValueBytes {
				fault = fmt.Errorf("%s %.80q can't be an argument", m[1], value)
			}
		}
		if m[2] == "" {
			return alternatives[0]
		}
		quoted := make([]string, len(alternatives))
		for i, value := range alternatives {
			quoted[i] = regexp.QuoteMeta(value)
		}
		if len(quoted) == 1 {
			return quoted[0]
		}
		return "(" + strings.Join(quoted, "|") + ")"
	})
	if fault == nil && strings.HasPrefix(arg, "-") && !strings.HasPrefix(template, "-") {
		fault = errors.New("an argument that begins with - would be an option")
	}
	return arg, fault
}
