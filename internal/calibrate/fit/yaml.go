package fit

import (
	_ "embed"
	"fmt"
	"io"
	"regexp"
	"strconv"
	"strings"
	"text/template"

	"github.com/shadowcourt/shadowcourt/abi"
)

//go:embed profile.tmpl
var profileFile string

// indentedSource is a source at a depth of the file.
type indentedSource struct {
	Indent string
	Source *abi.SourceReliability
}

// WriteYAML writes the profile with what was found out about it as comments.
// The same result gives the same bytes.
func (r *Result) WriteYAML(w io.Writer) error {
	t, err := template.New("").Funcs(template.FuncMap{
		"scalar": scalar, "quoted": quoted, "weights": weightList,
		"number": func(x any) string {
			if p, ok := x.(*float64); ok {
				return figure(*p)
			}
			return figure(x.(float64)) //nolint:forcetypeassert // all other figures are floats
		},
		"percent":  func(share *float64) string { return fmt.Sprintf("%.1f", 100**share) },
		"indented": func(indent string, s *abi.SourceReliability) indentedSource { return indentedSource{indent, s} },
		"source":   func(s abi.SourceReliability) *abi.SourceReliability { return &s },
	}).Parse(strings.TrimSuffix(profileFile, "\n"))
	if err != nil {
		return err
	}
	return t.Execute(w, r)
}

func weightList(list []abi.LabelWeight) string {
	parts := make([]string, len(list))
	for i := range list {
		parts[i] = "{label: " + scalar(list[i].Label) + ", weight: " + figure(list[i].Weight) + "}"
	}
	return "[" + strings.Join(parts, ", ") + "]"
}

// figure writes a float so that YAML reads it as one.
func figure(x float64) string {
	s := strconv.FormatFloat(x, 'f', -1, 64)
	if !strings.ContainsRune(s, '.') {
		s += ".0"
	}
	return s
}

// plain is what YAML reads as the string that it looks like.
var plain = regexp.MustCompile(`^[A-Za-z][A-Za-z0-9_/-]*$`)

func scalar(s string) string {
	switch strings.ToLower(s) {
	case "y", "n", "yes", "no", "on", "off", "true", "false", "null":
		return quoted(s)
	}
	if plain.MatchString(s) {
		return s
	}
	return quoted(s)
}

// quoted gives a string in double quotes, so that YAML reads it back to the
// byte. What isn't printable is escaped: YAML rejects or folds some of it raw,
// and a person who reads the profile should see it. For valid UTF-8 all of Go's
// escapes are YAML's too.
func quoted(s string) string { return strconv.Quote(s) }
