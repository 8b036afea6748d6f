package try

import (
	"context"
	"errors"
	"fmt"
	"io"
	"path/filepath"
	"slices"
	"strconv"
	"strings"

	"github.com/spf13/cobra"

	"github.com/shadowcourt/shadowcourt/cmd/shadowcourt/internal/cli"
	"github.com/shadowcourt/shadowcourt/cmd/shadowcourt/internal/open"
	"github.com/shadowcourt/shadowcourt/internal/service/client"
	"github.com/shadowcourt/shadowcourt/internal/service/wire"
)

// remoteOptions are the flags of `try` about a service that tries the dockets.
type remoteOptions struct {
	server               string
	ids                  []string // of dockets, as they were given
	dockets              []int64
	key                  string
	repository, revision string
	name                 string        // of the docket, where it is one
	results              *open.Results // what is sent; nil where the service tries the dockets
}

// send sends what was found on this machine.
func (o *remoteOptions) send(ctx context.Context, stderr io.Writer, args []string) error {
	s := &client.Submission{Name: "stdin", Repository: o.repository, Revision: o.revision, Key: o.key}
	if len(args) > 0 && args[0] != "-" {
		s.Name = filepath.Base(args[0])
	}
	return o.results.Send(ctx, stderr, s, wire.Push{}, nil)
}

func (o *tryOptions) remoteFlag(cmd *cobra.Command) {
	f, r := cmd.Flags(), &o.remote
	cli.OptionVar(f, &r.server, "server", "submit the dockets to the service at this `URL`, such as https://court.example, and show its results; shadowcourt login keeps its token",
		cli.ListOption(&r.ids, "docket", "ID", "show the results of a docket submitted earlier; may be repeated"),
		cli.TextOption(&r.key, "key", "TEXT", "the same key and dockets are submitted once (default: made of the report and the service's modules)"),
		cli.TextOption(&r.repository, "repository", "NAME", "the repository of the code under test, for the service's inbox"),
		cli.TextOption(&r.revision, "revision", "REVISION", "the revision of the code under test"))
	for _, option := range []string{"docket", "repository", "revision"} {
		cli.Alias(f, option, "server", option)
	}
}

// Flags beside --server: about how a docket is submitted, and about what becomes of results. All others are for trials on this machine.
var (
	submitting = []string{"from", "remember", "source", "since"}
	showing    = []string{"server", "format", "output", "report", "cases", "fail-on", "explain", "help"}
)

// maxField is the most characters of what describes a docket.
const maxField = 200

// pushes says whether the results are found on this machine, and sent to the service.
func (o *tryOptions) pushes() bool { return o.remote.server != "" && o.ExperimentsHere() }

// checkRemote rejects flags that need --server; with it, all that contradict it, at once.
func (o *tryOptions) checkRemote(args []string) error {
	flags := o.Changed()
	switch {
	case !slices.Contains(flags, "server"):
		return nil
	case o.remote.server == "":
		return errors.New("--server: name the URL before its options")
	}
	var faults []error
	if _, err := client.Origin(o.remote.server); err != nil {
		faults = append(faults, fmt.Errorf("--server: %w", err))
	}
	var local, submits []string
	for _, name := range flags {
		switch {
		case slices.Contains(submitting, name):
			submits = append(submits, "--"+name)
		case !slices.Contains(showing, name) && !o.pushes():
			local = append(local, "--"+name)
		}
	}
	if len(local) > 0 {
		faults = append(faults, fmt.Errorf("--server: the service decides how cases are tried, and keeps their text; leave out %s", strings.Join(local, ", ")))
	}
	if o.pushes() && len(o.remote.ids) > 0 {
		faults = append(faults, errors.New("--server docket=ID shows dockets that were submitted; leave out --experiments"))
	}
	for _, text := range o.remote.ids {
		id, err := strconv.ParseInt(text, 10, 64)
		if err != nil || id < 1 || slices.Contains(o.remote.dockets, id) {
			faults = append(faults, fmt.Errorf("--server docket=%s: use the ID of a docket, each once", text))
		}
		o.remote.dockets = append(o.remote.dockets, id)
	}
	if o.Remember && !o.pushes() && slices.Contains(flags, "source") {
		faults = append(faults, errors.New("--remember with --server and --source: the service does not learn which suites passed; leave out one of them"))
	}
	if len(o.remote.dockets) > 0 {
		if len(args) > 0 {
			submits = append(submits, "the names of files")
		}
		for _, option := range []struct{ name, value string }{{"key", o.remote.key}, {"repository", o.remote.repository}, {"revision", o.remote.revision}} {
			if option.value != "" {
				submits = append(submits, option.name+"="+option.value)
			}
		}
		if len(submits) > 0 {
			faults = append(faults, fmt.Errorf("--server docket=ID shows dockets that were submitted; leave out %s", strings.Join(submits, ", ")))
		}
	}
	for _, field := range []struct{ option, value string }{{"key", o.remote.key}, {"repository", o.remote.repository}, {"revision", o.remote.revision}} {
		faults = append(faults, open.CheckServerText(field.option, field.value))
	}
	if stdin := slices.DeleteFunc(slices.Clone(args), func(name string) bool { return name != "-" }); len(stdin) > 1 {
		faults = append(faults, errors.New("the standard input can be submitted once: use one -"))
	}
	return errors.Join(faults...)
}
