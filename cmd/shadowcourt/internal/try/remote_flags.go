package try

import (
	"errors"
	"fmt"
	"io"
	"slices"
	"strings"

	"github.com/spf13/cobra"

	"github.com/shadowcourt/shadowcourt/cmd/shadowcourt/internal/cli"
	"github.com/shadowcourt/shadowcourt/cmd/shadowcourt/internal/open"
	"github.com/shadowcourt/shadowcourt/internal/service/client"
)

// remoteOptions are the flags of `try` about a service that tries the dockets.
type remoteOptions struct {
	server               string
	dockets              []int64
	key                  string
	repository, revision string
	name                 string // of the docket, where it is one
}

func (o *tryOptions) remoteFlags(cmd *cobra.Command) {
	f := cmd.Flags()
	f.StringVar(&o.remote.server, "server", "", "submit the dockets to the service at this `URL`, such as https://court.example, and show its results; shadowcourt login keeps its token")
	f.Int64SliceVar(&o.remote.dockets, "docket", nil, "with --server: show the results of the docket with this `ID`, submitted earlier; may be repeated")
	f.StringVar(&o.remote.key, "idempotency-key", "", "with --server: the same key and dockets are submitted once (default: made of the report and the service's modules)")
	f.StringVar(&o.remote.repository, "repository", "", "with --server: the repository of the code under test, for the service's inbox")
	f.StringVar(&o.remote.revision, "revision", "", "with --server: the revision of the code under test")
}

// Flags beside --server.
var (
	// submitting are flags about how a docket is submitted.
	submitting = []string{"from", "no-groups", "truth-from-report", "remember", "idempotency-key", "repository", "revision", "source", "since"}
	// experimenting are flags of experiments, which the service runs where its operator allows them.
	experimenting = []string{"experiments", "budget", "case-budget", "experiment-network", "runner"}
	// showing are flags about what becomes of results. All others are for trials on this machine.
	showing = []string{"server", "docket", "format", "output", "report", "cases", "fail-on", "explain", "help"}
)

// maxField is the most characters of what describes a docket.
const maxField = 200

// checkRemote rejects flags that need --server; with it, all that contradict it, at once.
func (o *tryOptions) checkRemote(args []string) error {
	flags := o.Changed()
	if !slices.Contains(flags, "server") {
		return o.ChangedWithout("--server URL", "docket", "idempotency-key", "repository", "revision")
	}
	var faults []error
	if _, err := client.Origin(o.remote.server); err != nil {
		faults = append(faults, fmt.Errorf("--server: %w", err))
	}
	var local, submits, runs []string
	for _, name := range flags {
		switch {
		case slices.Contains(experimenting, name):
			runs = append(runs, "--"+name)
		case slices.Contains(submitting, name):
			submits = append(submits, "--"+name)
		case !slices.Contains(showing, name):
			local = append(local, "--"+name)
		}
	}
	if len(local) > 0 {
		faults = append(faults, fmt.Errorf("--server: the service decides how cases are tried, and keeps their text; leave out %s", strings.Join(local, ", ")))
	}
	if len(runs) > 0 {
		faults = append(faults, fmt.Errorf("--server: a service runs experiments by its own flags; leave out %s, and do one of two things: "+
			"start the service with `shadowcourt serve --experiments all --source DIR --since REVISION --repository NAME` and submit with --repository NAME "+
			"and --revision COMMIT, or leave out --server to run them on this machine", strings.Join(runs, ", ")))
	}
	if o.Remember && slices.Contains(flags, "source") {
		faults = append(faults, errors.New("--remember with --server and --source: the service does not learn which suites passed; leave out one of them"))
	}
	if len(o.remote.dockets) > 0 {
		if len(args) > 0 {
			submits = append(submits, "the names of files")
		}
		if len(submits) > 0 {
			faults = append(faults, fmt.Errorf("--docket shows dockets that were submitted; leave out %s", strings.Join(submits, ", ")))
		}
	}
	for i, id := range o.remote.dockets {
		if id < 1 || slices.Contains(o.remote.dockets[:i], id) {
			faults = append(faults, fmt.Errorf("--docket %d: use the ID of a docket, each once", id))
		}
	}
	for _, field := range []struct{ flag, value string }{{"idempotency-key", o.remote.key}, {"repository", o.remote.repository}, {"revision", o.remote.revision}} {
		if len([]rune(field.value)) > maxField || strings.ContainsFunc(field.value, func(r rune) bool { return r < ' ' || r == 0x7f }) {
			faults = append(faults, fmt.Errorf("--%s: use at most %d characters, and no control characters", field.flag, maxField))
		} else if field.value == "" && slices.Contains(flags, field.flag) {
			faults = append(faults, fmt.Errorf("--%s is empty: leave it out, or give it a value", field.flag))
		}
	}
	if stdin := slices.DeleteFunc(slices.Clone(args), func(name string) bool { return name != "-" }); len(stdin) > 1 {
		faults = append(faults, errors.New("the standard input can be submitted once: use one -"))
	}
	return errors.Join(faults...)
}

// connect makes a client with the token for the server: one that the user gave, or that of the user's own service.
func (o *remoteOptions) connect(stderr io.Writer, config client.Config) (*client.Client, error) {
	token, err := open.Token(o.server, stderr)
	if err != nil {
		return nil, cli.InputError(err)
	}
	config.Server, config.Token = o.server, token
	if token == "" {
		if _, err := open.Own(&config, stderr); err != nil {
			return nil, cli.InputError(err)
		}
		o.server = config.Server
	}
	open.WarnOfClearText(stderr, o.server, config.Token)
	c, err := client.New(config)
	return c, cli.InputError(err)
}
