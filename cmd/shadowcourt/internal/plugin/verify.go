package plugin

import (
	"context"
	"errors"
	"fmt"
	"strings"
	"time"

	"github.com/jedib0t/go-pretty/v6/table"
	"github.com/spf13/cobra"

	"github.com/shadowcourt/shadowcourt/cmd/shadowcourt/internal/cli"
	"github.com/shadowcourt/shadowcourt/cmd/shadowcourt/internal/open"
	"github.com/shadowcourt/shadowcourt/internal/pull"
	"github.com/shadowcourt/shadowcourt/internal/sanitize"
	"github.com/shadowcourt/shadowcourt/internal/strictyaml"
	"github.com/shadowcourt/shadowcourt/internal/trust"
)

// verifyOptions are the flags of `plugin verify`.
type verifyOptions struct {
	uses
	trust       open.Trust
	key, format string
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
	cmd.Flags().StringVar(&o.format, "format", "table", formatUsage)
	return cmd
}

func (o *verifyOptions) run(ctx context.Context, s cli.Streams, reference string) error {
	if err := checkFormat(o.format); err != nil {
		return err
	}
	if o.key != "" && o.trust.Policy != "" {
		return cli.InputError(errors.New("use either --key or --trust"))
	}
	ref, err := parseRef(reference)
	if err == nil {
		ref, err = absolute(ref)
	}
	if err != nil {
		return err
	}
	source, err := newSource(nil)
	if err != nil {
		return err
	}
	if o.key != "" {
		repository := ref.Repository()
		if ref.IsLayout() {
			repository = trust.Layout + repository
		}
		source.Policy, err = keyPolicy(o.key, repository)
	} else {
		source.Policy, err = o.trust.TrustPolicy()
	}
	if err != nil {
		return err
	}
	defer waiting(s, ref)()
	a, err := source.Client.Resolve(ctx, ref)
	if err != nil {
		return err
	}
	all, err := o.assess(ctx, source, a)
	if err != nil {
		return err
	}
	for i := range all.uses {
		if fault, ok := errors.AsType[*strictyaml.Error](all.uses[i].err); ok && o.key != "" {
			all.uses[i].err = errors.New(fault.Message) // the place is in no file
		}
	}
	rejection := all.rejection()
	if _, d := all.accepted(); d != nil {
		rejection = nil
		if _, _, err := pull.Fetch(ctx, source.Client, a); err != nil {
			if !errors.Is(err, pull.ErrOther) {
				return err
			}
			rejection = err
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

// useJSON and signatureJSON are what programs read of a policy's decision, and of a signature.
type (
	useJSON struct {
		Roles    []string `json:"roles"`
		Accepted bool     `json:"accepted"`
		Signer   string   `json:"signer,omitempty"`
		Policy   string   `json:"policy,omitempty"` // FILE:LINE and the digest of the file
		Why      string   `json:"why,omitempty"`
	}
	signatureJSON struct {
		Type   string     `json:"type"`
		Signer string     `json:"signer,omitempty"`
		Key    string     `json:"key,omitempty"`
		At     *time.Time `json:"at,omitempty"`
		Counts bool       `json:"counts"`
		Kit    string     `json:"kit,omitempty"` // passed or failed
		Why    string     `json:"why,omitempty"`
	}
)

func usesJSON(list []decided) []useJSON {
	out := make([]useJSON, len(list))
	for i := range list {
		u := &list[i]
		out[i] = useJSON{Roles: u.roles, Accepted: u.err == nil}
		if u.err != nil {
			out[i].Why = u.err.Error()
		} else {
			out[i].Signer, out[i].Policy = u.decision.Signer, u.decision.Policy
		}
	}
	return out
}

func signaturesJSON(list []trust.Signature) []signatureJSON {
	out := make([]signatureJSON, len(list))
	for i := range list {
		g := &list[i]
		out[i] = signatureJSON{Type: g.Type, Signer: g.Signer, Key: g.KeyID, Counts: g.Counts(), Why: g.Why}
		if !g.At.IsZero() {
			out[i].At = &g.At
		}
		if g.Kit != nil {
			out[i].Kit = kitWord(g.Kit)
		}
	}
	return out
}

func kitWord(k *trust.Kit) string {
	if k.Passed {
		return "passed"
	}
	return "failed"
}

func (o *verifyOptions) print(s cli.Streams, all *assessment, rejection error) error {
	if o.format == "json" {
		out := struct {
			Reference  string          `json:"reference"`
			Accepted   bool            `json:"accepted"`
			Why        string          `json:"why,omitempty"`
			Uses       []useJSON       `json:"uses"`
			Signatures []signatureJSON `json:"signatures"`
		}{all.artifact.Pinned().String(), rejection == nil, "", usesJSON(all.uses), signaturesJSON(all.signatures)}
		if rejection != nil {
			out.Why = rejection.Error()
		}
		return writeJSON(s, out)
	}
	var b strings.Builder
	if rejection != nil {
		fmt.Fprintf(&b, "rejected: %s\n", sanitize.Block(strings.TrimPrefix(rejection.Error(), "rejected: ")))
	} else {
		roles, d := all.accepted()
		by := "the key"
		if o.key == "" {
			by = policyLine(d)
		}
		fmt.Fprintf(&b, "accepted: signed by %s, allowed by %s, as %s\n", shown(d.Signer), by, strings.Join(roles, ", "))
		for i := range all.uses {
			if u := &all.uses[i]; u.err != nil {
				fmt.Fprintf(&b, "not as %s: %s\n", strings.Join(u.roles, ", "), sanitize.Line(u.err.Error()))
			}
		}
	}
	fmt.Fprintf(&b, "%s\n", sanitize.Line(all.artifact.Pinned().String()))
	if len(all.signatures) > 0 {
		b.WriteString("\n" + signatureTable(all.signatures))
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
		who, when, what, counts := shown(g.Signer), "", "module", "yes"
		if who == "" {
			if who = shown(g.KeyID); who == "" {
				who = "unknown"
			}
		}
		if !g.At.IsZero() {
			when = g.At.UTC().Format(time.DateTime)
		}
		switch {
		case g.Kit != nil:
			what = "conformance kit: " + kitWord(g.Kit)
		case g.Type == trust.TypeConformance:
			what = "conformance kit"
		}
		if !g.Counts() {
			counts = "no: " + shown(g.Why)
		}
		t.AppendRow(table.Row{who, when, what, counts})
	}
	return t.Render() + "\n"
}
