package plugin

import (
	"bytes"
	"cmp"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"slices"
	"strings"
	"time"

	"github.com/spf13/cobra"
	"github.com/spf13/pflag"

	"github.com/shadowcourt/shadowcourt/abi"
	"github.com/shadowcourt/shadowcourt/cmd/shadowcourt/internal/cli"
	"github.com/shadowcourt/shadowcourt/cmd/shadowcourt/internal/open"
	"github.com/shadowcourt/shadowcourt/host/pipeline"
	"github.com/shadowcourt/shadowcourt/host/record"
	"github.com/shadowcourt/shadowcourt/internal/moduleref"
	"github.com/shadowcourt/shadowcourt/internal/oci"
	"github.com/shadowcourt/shadowcourt/internal/sanitize"
	"github.com/shadowcourt/shadowcourt/internal/trust"
)

// maxShown bounds what is printed of a field that a registry gives.
const maxShown = 500

// shown makes a text of a registry safe to print, also in the log of a CI job.
func shown(text string) string { return sanitize.Cut(sanitize.Log(sanitize.Line(text)), maxShown) }

// printText prints a rendered text. No line of it is a command to a CI platform, whatever columns begin with.
func printText(s cli.Streams, text string) error {
	_, err := io.WriteString(s.Out, sanitize.Log(text))
	return err
}

// newSource opens the registries, with a trust policy unless t is nil.
func newSource(t *open.Trust) (*trust.Source, error) {
	client, err := open.Registries()
	if err != nil {
		return nil, cli.InputError(err)
	}
	source := &trust.Source{Client: client, Folder: ".", Now: time.Now}
	if t != nil {
		source.Policy, err = t.TrustPolicy()
	}
	return source, err
}

// resolve finds the module of a reference as a court does: the folder of a layout is that behind its links.
func resolve(ctx context.Context, source *trust.Source, reference string) (*oci.Artifact, error) {
	ref, err := source.Parse(reference)
	if err != nil {
		return nil, cli.InputError(err)
	}
	return source.Client.Resolve(ctx, ref)
}

// waitTime is how long a command waits for registries before it says so.
const waitTime = 5 * time.Second

// waiting says once for which registries of references a command waits, if that takes long. The caller calls done at the end of the wait.
func waiting(s cli.Streams, references ...string) (done func()) {
	var hosts []string
	for _, reference := range references {
		rest, ok := strings.CutPrefix(reference, moduleref.Registry)
		if host, _, _ := strings.Cut(rest, "/"); ok && !slices.Contains(hosts, host) {
			hosts = append(hosts, host)
		}
	}
	if len(hosts) == 0 {
		return func() {}
	}
	timer := time.AfterFunc(waitTime, func() { fmt.Fprintf(s.Err, "waiting for %s\n", shown(strings.Join(hosts, ", "))) })
	return func() { timer.Stop() }
}

// parseRef reads a reference of the command line.
func parseRef(text string) (moduleref.Ref, error) {
	ref, err := moduleref.Parse(text)
	return ref, cli.InputError(err)
}

// withManifest reads a module that has a manifest.
func withManifest(name string) ([]byte, *abi.Manifest, error) {
	wasm, err := open.Module(name)
	if err != nil {
		return nil, nil, err
	}
	m, err := trust.ManifestOf(wasm)
	if err != nil {
		return nil, nil, cli.InputError(fmt.Errorf("%s: %w", name, err))
	}
	return wasm, m, nil
}

// signingKey reads the key of --key.
func signingKey(s cli.Streams, name string) (*record.Key, error) {
	open.WarnOfKey(s.Err, name)
	key, err := open.Key(name)
	if err == nil && !key.Signs() {
		err = errors.New("--key: a public key can't sign; name the file without .pub")
	}
	return key, cli.InputError(err)
}

const keyUsage = "sign with this key, one of `shadowcourt record key new`"

// format is that of what a command prints.
type format string

func (f *format) String() string { return string(*f) }
func (f *format) Type() string   { return "string" }

// Set takes the value of a flag.
func (f *format) Set(text string) error {
	if text != "table" && text != "json" {
		return errors.New("use table or json")
	}
	*f = format(text)
	return nil
}

// flag adds --format.
func (f *format) flag(flags *pflag.FlagSet) {
	*f = "table"
	flags.Var(f, "format", "table or json")
}

// writeJSON writes a document, whose texts may be of anybody.
func writeJSON(s cli.Streams, value any) error {
	var b bytes.Buffer
	enc := json.NewEncoder(&b)
	enc.SetIndent("", "  ")
	enc.SetEscapeHTML(false)
	if err := enc.Encode(value); err != nil {
		return err
	}
	_, err := s.Out.Write(sanitize.JSON(b.Bytes()))
	return err
}

// rolesOf are the roles, as trust policies name them, that a module can play by its manifest.
func rolesOf(m *abi.Manifest) []string {
	var roles []string
	add := func(role string) {
		if !slices.Contains(roles, role) {
			roles = append(roles, role)
		}
	}
	if slices.Contains(m.Calls, abi.CallNode) {
		for _, rule := range pipeline.Families() {
			if !slices.Contains(m.Families, rule.Family) {
				continue
			}
			if rule.Family == abi.FamilyHearing && len(roles) > 0 {
				continue // it speaks there for the side that it acts for before
			}
			for _, seat := range rule.Seats {
				add(string(seat))
			}
			if rule.Seats == nil {
				add(string(pipeline.RoleLight))
			}
		}
	}
	if slices.Contains(m.Calls, abi.CallEdges) {
		add(trust.RoleEdge)
	}
	if slices.Contains(m.Calls, abi.CallJudge) {
		add(trust.RoleCriterion)
	}
	return roles
}

// assessment is what a trust policy says of a module by its manifest in the registry.
type assessment struct {
	Reference  string            `json:"reference"`
	Uses       []decided         `json:"uses"`       // what the trust policy decides about each role
	Signatures []trust.Signature `json:"signatures"` // with signed results of the conformance kit

	manifest *abi.Manifest // as the registry says
}

// decided is what a policy decided about a use.
type decided struct {
	Roles    []string `json:"roles"`
	Accepted bool     `json:"accepted"`
	Signer   string   `json:"signer,omitempty"`
	Policy   string   `json:"policy,omitempty"` // FILE:LINE and the digest of the file
	Why      string   `json:"why,omitempty"`

	err error
}

// by is FILE:LINE of the decision.
func (d *decided) by() string {
	line, _, _ := strings.Cut(d.Policy, " sha256:")
	return sanitize.Line(line)
}

// line says for people who signed the module, and which rule allows it.
func (a *assessment) line() string {
	roles, d := a.accepted()
	return fmt.Sprintf("accepted: signed by %s, allowed by %s, as %s", shown(d.Signer), d.by(), strings.Join(roles, ", "))
}

// uses says for what a module is assessed.
type uses struct {
	roles, grants []string
}

func (u *uses) flags(cmd *cobra.Command) {
	cmd.Flags().StringSliceVar(&u.roles, "role", nil, "what a court uses the module as: prosecution, defense, bench, judge, light, edge or criterion; several are one use (default: each that the module can play, on its own)")
	cmd.Flags().StringSliceVar(&u.grants, "grant", nil, "capability that a court grants it, or none; may be repeated (default: what the module asks for)")
}

// of gives the uses to decide about: each with the capabilities that a court would have to grant for the module to run.
func (u *uses) of(m *abi.Manifest) ([]trust.Use, error) {
	granted := m.Capabilities
	if len(u.grants) > 0 {
		granted = nil
		for _, grant := range u.grants {
			switch {
			case slices.Contains(pipeline.Capabilities(), abi.Capability(grant)):
				granted = append(granted, abi.Capability(grant))
			case grant != "none":
				return nil, cli.InputError(fmt.Errorf("--grant %q: use none, or %s", grant, cli.OrList(cli.Words(pipeline.Capabilities()))))
			}
		}
	}
	known := append(cli.Words(pipeline.Roles()), trust.RoleEdge, trust.RoleCriterion)
	for _, role := range u.roles {
		if !slices.Contains(known, role) {
			return nil, cli.InputError(fmt.Errorf("--role %q: use %s", role, cli.OrList(known)))
		}
	}
	sets := [][]string{u.roles}
	if roles := rolesOf(m); len(u.roles) == 0 && len(roles) > 0 {
		sets = nil
		for _, role := range roles {
			sets = append(sets, []string{role})
		}
	}
	var list []trust.Use
	for _, roles := range sets {
		list = append(list, trust.Use{Name: m.Name, Roles: roles, Asks: m.Capabilities, Granted: granted})
	}
	return list, nil
}

// assess asks the policy of a source about a module, of which nothing but manifests and signatures is downloaded.
func (u *uses) assess(ctx context.Context, source *trust.Source, a *oci.Artifact) (*assessment, error) {
	m, err := trust.Manifest(a.Annotations)
	if err != nil {
		return nil, fmt.Errorf("%s: %w", a.Pinned(), err)
	}
	documents, err := source.Documents(ctx, a)
	if err != nil {
		return nil, err
	}
	list, err := u.of(m)
	if err != nil {
		return nil, err
	}
	now := source.Now()
	all := &assessment{a.Pinned().String(), []decided{}, append([]trust.Signature{}, source.Policy.Verify(ctx, trust.SubjectOf(a), documents, now)...), m}
	for i := range list {
		one := decided{Roles: append([]string{}, list[i].Roles...)}
		d, err := source.Policy.Decide(ctx, trust.SubjectOf(a), documents, list[i], now)
		if err != nil {
			one.err, one.Why = err, err.Error()
		} else {
			one.Accepted, one.Signer, one.Policy = true, d.Signer, d.Policy
		}
		all.Uses = append(all.Uses, one)
	}
	return all, nil
}

// accepted are the roles for which the policy accepts the module, and the first decision that did; nil if there is none.
func (a *assessment) accepted() (roles []string, first *decided) {
	for i := range a.Uses {
		if u := &a.Uses[i]; u.Accepted {
			roles, first = append(roles, u.Roles...), cmp.Or(first, u)
		}
	}
	return roles, first
}

// rejection is why the policy accepts the module for no use; nil if it accepts it for one.
func (a *assessment) rejection() error {
	if _, d := a.accepted(); d != nil {
		return nil
	}
	var faults []error
	for i := range a.Uses {
		if !slices.ContainsFunc(a.Uses[:i], func(u decided) bool { return u.Why == a.Uses[i].Why }) {
			faults = append(faults, a.Uses[i].err)
		}
	}
	return errors.Join(faults...)
}
