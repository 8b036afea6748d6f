package try

import (
	"context"
	"fmt"
	"strconv"
	"strings"

	"github.com/shadowcourt/shadowcourt/cmd/shadowcourt/internal/cli"
	"github.com/shadowcourt/shadowcourt/host/docket/gotest"
	"github.com/shadowcourt/shadowcourt/internal/input"
	"github.com/shadowcourt/shadowcourt/internal/sanitize"
)

// near offers the ids that contain the one that no case has.
func near(ids []string) string {
	if len(ids) == 0 {
		return ""
	}
	quoted := make([]string, len(ids))
	for n, id := range ids {
		quoted[n] = strconv.Quote(id)
	}
	return "; did you mean " + cli.OrList(quoted) + "?"
}

// unreadNote names the lines of a stream that are no events.
func unreadNote(stream string, lines gotest.Unread) string {
	numbers := make([]string, len(lines.Lines))
	for n, line := range lines.Lines {
		numbers[n] = strconv.Itoa(line)
	}
	places, more := strings.Join(numbers, ", "), ""
	if lines.Count > len(numbers) {
		more = ", ..."
	}
	return stream + ": " + cli.Count(lines.Count, "line is no event", "lines are no events") + " of go test -json, kept as output (" +
		cli.Plural(len(numbers), "line", "lines") + " " + places + more + ")"
}

// sayUnread tells of the lines of test streams that are no events.
func (r *tryRun) sayUnread(inputs *input.Dockets) {
	for _, u := range inputs.Unread {
		fmt.Fprintln(r.stderr, "note: "+sanitize.Line(unreadNote(u.Stream, u.Lines)))
	}
}

// sayPassed says of reports of tests why nothing was tried.
func (r *tryRun) sayPassed(ctx context.Context, inputs *input.Dockets) {
	o := r.options
	if r.sum.Tried+r.sum.Faults+r.sum.Unread > 0 || ctx.Err() != nil || o.explain != "" || !inputs.Only(input.GoTest) && !inputs.Only(input.JUnit) {
		return
	}
	fmt.Fprintf(r.stderr, "no failure in %s\n", cli.Count(inputs.Tests, "test", "tests"))
}
