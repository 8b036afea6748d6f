package plugin

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"path/filepath"
	"strings"
	"time"

	"github.com/jedib0t/go-pretty/v6/table"
	"github.com/spf13/cobra"

	"github.com/shadowcourt/shadowcourt/cmd/shadowcourt/internal/cli"
	"github.com/shadowcourt/shadowcourt/cmd/shadowcourt/internal/open"
	"github.com/shadowcourt/shadowcourt/internal/oci"
	"github.com/shadowcourt/shadowcourt/internal/pull"
	"github.com/shadowcourt/shadowcourt/internal/sanitize"
	"github.com/shadowcourt/shadowcourt/internal/strictyaml"
	"github.com/shadowcourt/shadowcourt/internal/trust"
)

// verifyOptions are the flags of `plugin verify`.
type verifyOptions struct {
	uses
	trust  open.Trust
	key    string
	format format
}

// newPluginVerify is the command `plugin verify`.
func newPluginVerify(s cli.Streams) *cobra.Command {
	o := &verifyOptions{}
	cmd := &cobra.Command{
		Use:   "verify REF",
		Short: "Verify who signed a module, and whether the trust policy accepts it",
		Long: `Decide about a module as a court does: by its signatures and the trust policy, or with --key
by one public key alone; what is accepted is downloaded and compared with what the registry says
about it. A court uses a module in roles and grants it capabilities, which --role and --grant
name. Without them each role that the module can play is decided about, with all capabilities
that it asks for.

Exit codes: 0 accepted, in one role at least; 3 rejected; 1 something failed while running;
2 the command line is wrong.`,
		Example: "  shadowcourt plugin verify oci-layout:layout:clerk --key court.key.pub",
		Args:    cli.ExactArgs(1, "one reference"),
		RunE:    func(cmd *cobra.Command, args []string) error { return o.run(cmd.Context(), s, args[0]) },
	}
	o.flags(cmd)
	o.trust.PolicyFlag(cmd.Flags())
	cmd.Flags().StringVar(&o.key, "key", "", "accept what this public key has signed, whatever the trust policy says")
	o.format.flag(cmd.Flags())
	return cmd
}

func (o *verifyOptions) run(ctx context.Context, s cli.Streams, reference string) error {
	policy := &o.trust
	if o.key != "" {
		if policy = nil; o.trust.Policy != "" {
			return cli.InputError(errors.New("use either --key or --trust"))
		}
	}
	defer waiting(s, reference)()
	source, err := newSource(policy)
	if err != nil {
		return err
	}
	a, err := resolve(ctx, source, reference)
	if err == nil && o.key != "" {
		source.Policy, err = keyPolicy(o.key, a)
	}
	if err != nil {
		return err
	}
	all, err := o.assess(ctx, source, a)
	if err != nil {
		return err
	}
	if o.key != "" {
		all.byKey()
	}
	rejection := all.rejection()
	if rejection == nil {
		_, _, rejection = pull.Fetch(ctx, source.Client, a)
		if rejection != nil && !errors.Is(rejection, pull.ErrOther) {
			return rejection
		}
	}
	if err := o.print(s, all, rejection); err != nil {
		return err
	}
	if rejection != nil {
		return &cli.ExitError{Code: cli.ExitMatched}
	}
	return nil
}

// keyPolicy is a policy that allows everything that a key has signed where a module is.
func keyPolicy(name string, a *oci.Artifact) (*trust.Policy, error) {
	text, err := open.ReadBounded(name, open.MaxKeyBytes)
	var p *trust.Policy
	if err == nil {
		p, err = trust.OfKey(filepath.Base(name), text, a.Ref.Repository())
	}
	if err != nil {
		return nil, cli.InputError(fmt.Errorf("--key %s: %w", name, err))
	}
	return p, nil
}

// byKey names no places: the policy of a key stands in no file.
func (a *assessment) byKey() {
	for i := range a.Uses {
		u := &a.Uses[i]
		if fault, ok := errors.AsType[*strictyaml.Error](u.err); ok {
			u.err, u.Why = errors.New(fault.Message), fault.Message
		} else {
			u.Policy = "the key"
		}
	}
}

func (o *verifyOptions) print(s cli.Streams, all *assessment, rejection error) error {
	if o.format == "json" {
		why := ""
		if rejection != nil {
			why = rejection.Error()
		}
		return writeJSON(s, struct {
			*assessment
			Accepted bool   `json:"accepted"`
			Why      string `json:"why,omitempty"`
		}{all, rejection == nil, why})
	}
	var b strings.Builder
	if rejection != nil {
		fmt.Fprintf(&b, "rejected: %s\n", sanitize.Block(strings.TrimPrefix(rejection.Error(), "rejected: ")))
	} else {
		b.WriteString(all.line() + "\n")
		for i := range all.Uses {
			if u := &all.Uses[i]; !u.Accepted {
				fmt.Fprintf(&b, "not as %s: %s\n", strings.Join(u.Roles, ", "), sanitize.Line(u.Why))
			}
		}
	}
	fmt.Fprintf(&b, "%s\n", sanitize.Line(all.Reference))
	if len(all.Signatures) > 0 {
		b.WriteString("\n" + signatureTable(all.Signatures))
	}
	return printText(s, b.String())
}

// signatureTable says of each signature who made it, when, and whether it counts.
func signatureTable(list []trust.Signature) string {
	t := table.NewWriter()
	t.SetStyle(cli.ListStyle())
	t.SuppressTrailingSpaces()
	t.AppendHeader(table.Row{"SIGNED BY", "WHEN", "WHAT", "COUNTS"})
	for i := range list {
		g := &list[i]
		who, when, what, counts := shown(cmp.Or(g.Signer, g.KeyID, "unknown")), "", "module", "yes"
		if !g.At.IsZero() {
			when = g.At.UTC().Format(time.DateTime)
		}
		switch {
		case g.Kit != nil:
			what = "conformance kit: " + g.Kit.String()
		case g.Type == trust.TypeConformance:
			what = "conformance kit"
		}
		if !g.Counts {
			counts = "no: " + shown(g.Why)
		}
		t.AppendRow(table.Row{who, when, what, counts})
	}
	return t.Render() + "\n"
}
