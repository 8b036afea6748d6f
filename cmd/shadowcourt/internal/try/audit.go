package try

import (
	"context"
	"errors"
	"fmt"
	"io"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"time"

	"github.com/spf13/cobra"

	"github.com/shadowcourt/shadowcourt/cmd/shadowcourt/internal/cli"
	"github.com/shadowcourt/shadowcourt/cmd/shadowcourt/internal/open"
	"github.com/shadowcourt/shadowcourt/host"
	"github.com/shadowcourt/shadowcourt/internal/run"
	"github.com/shadowcourt/shadowcourt/internal/sanitize"
)

// tryAudit is the audit of the opinion of every verdict.
type tryAudit struct {
	rubric  string // empty for no audits
	named   string // by the earlier spelling
	auditor *host.Auditor
}

func (o *tryOptions) auditFlag(cmd *cobra.Command) {
	f := cmd.Flags()
	f.StringVar(&o.audit.rubric, "audit", "", "audit the opinion of every verdict by the `RUBRIC`, a file or the name of a shipped one, and --record the audit "+
		"with its trial, see 'shadowcourt audit --help'")
	f.Lookup("audit").NoOptDefVal = open.ShippedRubric
	f.StringVar(&o.audit.named, "rubric", "", "") // the earlier spelling of the value
	f.Lookup("rubric").Hidden = true
}

// checkAudit reads the values of a switch, and rejects flags that contradict each other.
func (o *tryOptions) checkAudit(dockets []string) error {
	switch o.audit.rubric {
	case "true":
		o.audit.rubric = open.ShippedRubric
	case "false":
		o.audit.rubric = ""
	}
	beside := slices.IndexFunc(dockets, func(name string) bool {
		return name == open.ShippedRubric || filepath.Ext(name) == ".yaml" || filepath.Ext(name) == ".yml"
	})
	switch {
	case o.audit.rubric == open.ShippedRubric && beside >= 0:
		return fmt.Errorf("%s is no docket: to audit by it, write --audit=%[1]s, with = before the rubric", sanitize.Line(dockets[beside]))
	case o.audit.rubric != "" && o.NoCourt:
		return errors.New("--audit with --pipeline no-court: without a court there are no opinions")
	case o.audit.named != "" && o.audit.rubric == "":
		return errors.New("--rubric needs --audit")
	case o.audit.named != "":
		o.audit.rubric = o.audit.named
	}
	return nil
}

// openAudit opens the Auditor, if one is asked for, and gives what closes it.
func (o *tryOptions) openAudit(ctx context.Context, s cli.Streams) (func(), error) {
	if o.audit.rubric == "" {
		return func() {}, nil
	}
	var err error
	o.audit.auditor, err = open.Auditor(ctx, s, open.AuditorFlags{
		Trust: &o.Trust, Beside: o.Pipeline,
		Rubric: o.audit.rubric, Pipeline: open.ShippedAudit, Modules: o.Modules, Cache: o.Cache, Store: o.record.store,
	})
	if err != nil {
		return nil, err
	}
	return func() { _ = o.audit.auditor.Close(context.WithoutCancel(ctx)) }, nil
}

// watchInterval is how often the folder of --watch is looked at. A change is
// taken when two looks saw the same, so that it takes one to two intervals.
const watchInterval = 500 * time.Millisecond

func (o *tryOptions) checkWatch() error {
	if o.watch && o.Modules == "" {
		return errors.New("--watch needs --modules, the folder to look at")
	}
	if o.watch && o.Trust.Locked {
		return errors.New("--watch takes modules that change, and --locked rejects them: leave one out")
	}
	return nil
}

// follow has the court follow the folder of --watch until stop is called, which waits for the end of a swap that goes on.
func (o *tryOptions) follow(ctx context.Context, stderr io.Writer, h *host.Host) (stop func()) {
	if !o.watch {
		return func() {}
	}
	return run.Follow(ctx, watchInterval, h.Follow, host.Watch{
		Modules: o.Trust.Over(os.DirFS(o.Modules)), Swapped: watchMessages{stderr}.swapped,
		Rejected: func(err error) { watchMessages{stderr}.rejected("the modules before go on", o.Error(err)) },
	})
}

// followAudit is follow for the modules of collectors and judges. Those that
// the folder does not have are the embedded ones, as when the Auditor was opened.
func (o *tryOptions) followAudit(ctx context.Context, stderr io.Writer) (stop func(), err error) {
	if !o.watch || o.audit.auditor == nil {
		return func() {}, nil
	}
	modules, err := open.WithEmbedded(os.DirFS(o.Modules))
	if err != nil {
		return nil, err
	}
	return run.Follow(ctx, watchInterval, o.audit.auditor.Follow, host.Watch{
		Modules: o.Trust.Over(modules), Swapped: watchMessages{stderr}.swapped,
		Rejected: func(err error) {
			watchMessages{stderr}.rejected("audits keep the current modules", open.AuditorError(err, o.Modules))
		},
	}), nil
}

// watchMessages are what a watched run says of swaps. Each is one write, so that it stands whole beside those of the docket.
type watchMessages struct{ stderr io.Writer }

func (m watchMessages) say(text string) {
	clearLine := ""
	if cli.TerminalFile(m.stderr) != nil {
		clearLine = "\r\x1b[K"
	}
	_, _ = io.WriteString(m.stderr, clearLine+text)
}

func (m watchMessages) swapped(changes []host.Change) {
	var b strings.Builder
	for _, c := range changes {
		fmt.Fprintf(&b, "swapped %s\n", sanitize.Line(cli.ChangeLine(c.Module, c.Before, c.After)))
	}
	m.say(b.String())
}

func (m watchMessages) rejected(instead string, err error) {
	m.say(sanitize.Block("rejected, "+instead+":\n"+err.Error()) + "\n")
}
