package tap

import (
	"cmp"
	"strings"

	"github.com/shadowcourt/shadowcourt/host/docket/internal/stream"
)

// document makes the documents of a point of its YAML, or of the lines behind it.
func (o *point) document(fields map[string]string, output stream.Clip) {
	said := stream.NewClip(output.MaxHead, output.MaxTail)
	if !o.hasYAML {
		said.Write(o.said.Text())
		if o.said.Empty() {
			said.Write(o.Name + "\n")
		}
	} else {
		said.Write(failure(o.Name, fields))
	}
	o.Report(o.Documents.Name("failure"), &said)
	o.Report(o.Documents.Name("diagnostics"), &o.yaml)
	o.Print(o.Documents.Name("output"), &output)
	if o.hasYAML {
		o.File = cmp.Or(fields["at.fileName"], fields["at.file"], fields["file"])
	}
}

// failure is what fields of YAML say, in the order in which an error is printed: its class and message, what was expected, where it was
// thrown.
func failure(name string, fields map[string]string) string {
	message := strings.TrimRight(cmp.Or(fields["error"], fields["error.message"], fields["message"], fields["tapError"]), "\n ")
	class := cmp.Or(fields["error.name"], fields["name"])
	stack := fields["stack"]
	if message == "" {
		message = name
	}
	if class != "" && !strings.HasPrefix(message, class) {
		message = class + ": " + message
	}
	var b strings.Builder
	b.WriteString(message + "\n")
	expected, okE := first(fields, "expected", "wanted")
	actual, okA := first(fields, "actual", "found")
	if said := strings.Contains(message, expected) && strings.Contains(message, actual); okE && okA && !said && single(expected) && single(actual) {
		b.WriteString("expected: " + expected + "\nactual: " + actual + "\n")
	} else if diff := fields["diff"]; diff != "" {
		b.WriteString(diff + "\n")
	}
	for _, place := range []string{fields["at"], fields["location"]} {
		if place != "" && !strings.Contains(stack, strings.TrimSuffix(place, ")")) {
			b.WriteString("    at " + place + "\n")
		}
	}
	if file := cmp.Or(fields["at.fileName"], fields["at.file"], fields["file"]); file != "" {
		if line := cmp.Or(fields["at.lineNumber"], fields["at.line"], fields["line"]); line != "" {
			b.WriteString("    at " + file + ":" + line + ":" + cmp.Or(fields["at.columnNumber"], fields["at.column"], "1") + "\n")
		}
	}
	for line := range strings.SplitSeq(stack, "\n") {
		line = strings.TrimSpace(line)
		if line == "" || strings.Contains(message, line) || strings.HasSuffix(line, ": "+message) {
			continue
		}
		b.WriteString("    at " + strings.TrimPrefix(line, "at ") + "\n")
	}
	return b.String()
}

func first(fields map[string]string, keys ...string) (string, bool) {
	for _, key := range keys {
		if value, ok := fields[key]; ok {
			return strings.TrimRight(value, "\n"), true
		}
	}
	return "", false
}

func single(value string) bool { return !strings.Contains(value, "\n") && len(value) <= 200 }
