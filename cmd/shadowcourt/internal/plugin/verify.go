package plugin

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"maps"
	"path/filepath"
	"slices"
	"strings"
	"time"

	"github.com/jedib0t/go-pretty/v6/table"
	"github.com/spf13/cobra"

	"github.com/shadowcourt/shadowcourt/abi"
	"github.com/shadowcourt/shadowcourt/cmd/shadowcourt/internal/cli"
	"github.com/shadowcourt/shadowcourt/cmd/shadowcourt/internal/open"
	"github.com/shadowcourt/shadowcourt/internal/oci"
	"github.com/shadowcourt/shadowcourt/internal/sanitize"
	"github.com/shadowcourt/shadowcourt/internal/strictyaml"
	"github.com/shadowcourt/shadowcourt/internal/trust"
)

// inspected is what a registry says about a module.
type inspected struct {
	*assessment
	Manifest *manifestJSON `json:"manifest"`
	Roles    []string      `json:"roles"`
	Module   string        `json:"module"` // digest of the wasm
	Size     int64         `json:"size"`   // bytes
}

// runInspectRef asks the registry about a module, which is not downloaded.
func runInspectRef(ctx context.Context, s cli.Streams, reference string, form format, t *open.Trust) error {
	defer waiting(s, reference)()
	source, err := newSource(t)
	if err != nil {
		return err
	}
	a, err := resolve(ctx, source, reference)
	if err != nil {
		return err
	}
	all, err := new(uses).assess(ctx, source, a)
	if err != nil {
		return err
	}
	found := &inspected{
		assessment: all, Manifest: manifestOf(all.manifest), Roles: append([]string{}, rolesOf(all.manifest)...), Module: a.Layer.Digest, Size: a.Layer.Size,
	}
	if form == "json" {
		return writeJSON(s, found)
	}
	return found.print(s)
}

func (i *inspected) print(s cli.Streams) error {
	var b strings.Builder
	line := func(key, value string) { fmt.Fprintf(&b, "%-13s %s\n", key, cmp.Or(value, "none")) }
	line("reference", sanitize.Line(i.Reference))
	i.Manifest.show(line)
	line("roles", strings.Join(i.Roles, " "))
	line("size", fmt.Sprintf("%d bytes", i.Size))
	line("digest", i.Module)
	line("signed by", i.signers())
	for n := range i.Uses {
		u := &i.Uses[n]
		verdict := "accepted by " + u.by()
		if !u.Accepted {
			verdict = "rejected: " + strings.Split(u.Why, "\n")[0]
		}
		line("as "+strings.Join(u.Roles, " "), shown(verdict))
	}
	line("kit", i.kit())
	b.WriteString("\nThe registry says so. The module was not downloaded; a court that does compares it with this.\n")
	return printText(s, b.String())
}

// signers are who signed the module, as the trust policy names them.
func (i *inspected) signers() string {
	var list []string
	for n := range i.Signatures {
		g := &i.Signatures[n]
		switch {
		case g.Type == trust.TypeConformance:
		case g.Counts:
			list = append(list, shown(g.Signer))
		case g.Signer != "":
			list = append(list, shown(g.Signer)+" (does not count: "+shown(g.Why)+")")
		default:
			list = append(list, strings.TrimSpace("an unknown key "+shown(g.KeyID[:min(len(g.KeyID), len("ed25519:")+12)])))
		}
	}
	return strings.Join(list, ", ")
}

// kit is the result of the conformance kit that a known key has signed. It need not be one by which the policy accepts the module.
func (i *inspected) kit() string {
	var list []string
	for n := range i.Signatures {
		g := &i.Signatures[n]
		switch {
		case g.Kit != nil && g.Counts:
			said := g.Kit.String() + ", says " + shown(g.Signer)
			if !slices.ContainsFunc(i.Uses, func(u decided) bool { return slices.Contains(strings.Split(u.Signer, ", "), g.Signer) }) {
				said += ", by whose signature the policy accepts nothing here"
			}
			list = append(list, said)
		case g.Type == trust.TypeConformance:
			list = append(list, "a result that does not count: "+shown(g.Why))
		}
	}
	return strings.Join(list, "; ")
}

// manifestJSON is a manifest as programs read it.
type manifestJSON struct {
	Name         string         `json:"name"`
	Version      string         `json:"version"`
	ABI          string         `json:"abi"`
	Calls        []string       `json:"calls"`
	Families     []string       `json:"families"`
	Edges        []string       `json:"edges"`
	Criteria     []string       `json:"criteria"`
	Capabilities []string       `json:"capabilities"`
	Limits       map[string]int `json:"limits,omitempty"` // that it asks for beyond the defaults; the wall clock in nanoseconds
	Source       string         `json:"source,omitempty"`
	Licence      string         `json:"licence,omitempty"`
}

func manifestOf(m *abi.Manifest) *manifestJSON {
	var limits map[string]int
	if l := m.Limits; l != nil {
		limits = map[string]int{"memory_bytes": l.MemoryBytes, "output_bytes": l.OutputBytes, "wall_clock": l.WallClock, "fuel": l.Fuel}
		maps.DeleteFunc(limits, func(_ string, asked int) bool { return asked == 0 })
	}
	return &manifestJSON{
		Name: m.Name, Version: m.Version, ABI: m.ABI, Calls: cli.Words(m.Calls), Families: cli.Words(m.Families), Edges: cli.Words(m.Edges),
		Criteria: cli.Words(m.Criteria), Capabilities: cli.Words(m.Capabilities), Limits: limits, Source: m.Source, Licence: m.Licence,
	}
}

// show tells people what a module is and asks for.
func (m *manifestJSON) show(line func(key, value string)) {
	line("name", shown(m.Name))
	line("version", shown(m.Version))
	line("abi", shown(m.ABI))
	for _, l := range []struct {
		name  string
		words []string
	}{{"calls", m.Calls}, {"families", m.Families}, {"edges", m.Edges}, {"criteria", m.Criteria}, {"capabilities", m.Capabilities}} {
		line(l.name, shown(strings.Join(l.words, " ")))
	}
	var limits []string
	for _, name := range []string{"memory_bytes", "output_bytes", "wall_clock", "fuel"} {
		if asked, ok := m.Limits[name]; ok {
			limits = append(limits, fmt.Sprintf("%s %d", name, asked))
		}
	}
	line("limits", cmp.Or(strings.Join(limits, ", "), "the defaults"))
	line("source", shown(m.Source))
	line("licence", shown(m.Licence))
}

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
		_, _, rejection = trust.Fetch(ctx, source.Client, a)
		if rejection != nil && !errors.Is(rejection, trust.ErrOther) {
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
