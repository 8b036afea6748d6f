package dotnet

import (
	"strings"
	"time"

	"github.com/shadowcourt/shadowcourt/host/docket/internal/stream"
)

// document makes the documents of a test of what was read.
func (r *result) document() {
	message, stack := strings.Trim(r.message.Text(), "\r\n"), strings.Trim(r.stack.Text(), "\r\n")
	said := stream.NewClip(r.message.MaxHead, r.message.MaxTail)
	if message != "" && strings.Contains(stack, message) { // the stacks of JavaScript begin with it
		message = ""
	}
	if message != "" {
		said.Write(message + "\n")
	}
	said.Write(stack)
	r.Report(r.Documents.Name("failure"), &said)
	r.Print(r.Documents.Name("output"), &r.output)
	r.Print(r.Documents.Name("error-output"), &r.printed)
}

// named sets the name and the class of a test. Some runners write the class before the method's name, too.
func (r *result) named(class, name string) {
	r.Group = class
	if rest, ok := strings.CutPrefix(name, class+"."); ok && class != "" {
		name = rest
	}
	r.Name = name
}

// seconds reads a time in seconds.
func seconds(text string) time.Duration {
	d, err := time.ParseDuration(strings.TrimSpace(text) + "s")
	if err != nil || d < 0 {
		return 0
	}
	return d
}

// clock reads a time as TRX writes it, "00:00:03.1234567".
func clock(text string) time.Duration {
	var total time.Duration
	parts := strings.Split(text, ":")
	if len(parts) != 3 {
		return 0
	}
	for _, part := range parts {
		d := seconds(part)
		if total > 1000*time.Hour || d > 1000*time.Hour {
			return 0
		}
		total = 60*total + d
	}
	return total
}
