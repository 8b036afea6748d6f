package plugin

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"sync"
	"time"

	"github.com/spf13/cobra"

	"github.com/shadowcourt/shadowcourt/abi"
	"github.com/shadowcourt/shadowcourt/cmd/shadowcourt/internal/cli"
	"github.com/shadowcourt/shadowcourt/cmd/shadowcourt/internal/open"
	"github.com/shadowcourt/shadowcourt/host/module"
	"github.com/shadowcourt/shadowcourt/host/pipeline"
	"github.com/shadowcourt/shadowcourt/host/record"
	"github.com/shadowcourt/shadowcourt/internal/oci"
	"github.com/shadowcourt/shadowcourt/internal/pull"
	"github.com/shadowcourt/shadowcourt/internal/sanitize"
	"github.com/shadowcourt/shadowcourt/internal/strictyaml"
	"github.com/shadowcourt/shadowcourt/internal/trust"
)

// typeSBOM is the media type of a bill of materials that is attached to a module.
const typeSBOM = "application/vnd.cyclonedx+json"

// signatureTypes are those of attachments that are copied first.
var signatureTypes = []string{ //nolint:gochecknoglobals // constant
	trust.TypeSignature, trust.TypeConformance, trust.TypeSimple, "application/vnd.dev.sigstore.bundle.v0.3+json",
}

// maxShown bounds what is printed of a field that a registry gives.
const maxShown = 500

// shown makes a text of a registry safe to print, also in the log of a CI job.
func shown(text string) string { return sanitize.Cut(sanitize.Log(sanitize.Line(text)), maxShown) }

// printText prints a rendered text. No line of it is a command to a CI platform, whatever columns begin with.
func printText(s cli.Streams, text string) error {
	_, err := io.WriteString(s.Out, sanitize.Log(text))
	return err
}

// newSource opens the registries. policy nil decides nothing.
func newSource(policy *trust.Policy) (*pull.Source, error) {
	client, err := open.Registries()
	if err != nil {
		return nil, cli.InputError(err)
	}
	return &pull.Source{Client: client, Policy: policy, Folder: ".", Now: time.Now}, nil
}

// waitTime is how long a command waits for registries before it says so.
const waitTime = 5 * time.Second

// waiting says once for which registries a command waits, if that takes long. The caller calls done at the end of the wait.
func waiting(s cli.Streams, refs ...oci.Ref) (done func()) {
	var hosts []string
	for _, ref := range refs {
		if host := ref.Registry(); host != "" && !slices.Contains(hosts, host) {
			hosts = append(hosts, host)
		}
	}
	if len(hosts) == 0 {
		return func() {}
	}
	var mu sync.Mutex
	over := false
	timer := time.AfterFunc(waitTime, func() {
		mu.Lock()
		defer mu.Unlock()
		if !over {
			fmt.Fprintf(s.Err, "waiting for %s\n", sanitize.Line(strings.Join(hosts, ", ")))
		}
	})
	return func() {
		timer.Stop()
		mu.Lock()
		defer mu.Unlock()
		over = true
	}
}

// trusting opens the registries with a trust policy.
func trusting(t *open.Trust) (*pull.Source, error) {
	policy, err := t.TrustPolicy()
	if err != nil {
		return nil, err
	}
	return newSource(policy)
}

// parseRef reads a reference of the command line.
func parseRef(text string) (oci.Ref, error) {
	ref, err := oci.Parse(text)
	return ref, cli.InputError(err)
}

// withManifest reads a module that has a manifest.
func withManifest(name string) ([]byte, *module.Info, error) {
	wasm, err := open.Module(name)
	if err != nil {
		return nil, nil, err
	}
	info, err := module.Inspect(wasm)
	if err == nil && info.Manifest == nil {
		err = errors.Join(errors.New("the module has no manifest; `shadowcourt plugin annotate` writes one"), info.ManifestError)
	}
	if err != nil {
		return nil, nil, cli.InputError(fmt.Errorf("%s: %w", name, err))
	}
	return wasm, info, nil
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

const (
	formatUsage = "table or json"
	keyUsage    = "sign with this key, one of `shadowcourt record key new`"
)

func checkFormat(format string) error {
	if format != "table" && format != "json" {
		return cli.InputError(fmt.Errorf("--format %q: use table or json", format))
	}
	return nil
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
			if !slices.Contains(m.Families, abi.Family(rule.Family)) {
				continue
			}
			if rule.Family == pipeline.FamilyHearing && len(roles) > 0 {
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
	artifact   *oci.Artifact
	manifest   *abi.Manifest // as the registry says
	signatures []trust.Signature
	uses       []decided
}

// decided is what a policy decided about a use.
type decided struct {
	roles    []string
	decision *trust.Decision
	err      error
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
			case slices.Contains(pipeline.Capabilities(), pipeline.Capability(grant)):
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
func (u *uses) assess(ctx context.Context, source *pull.Source, a *oci.Artifact) (*assessment, error) {
	m, err := pull.Manifest(a.Annotations)
	if err != nil {
		return nil, fmt.Errorf("%s: %w", a.Pinned(), err)
	}
	documents, err := source.Documents(ctx, a)
	if err != nil {
		return nil, err
	}
	now := source.Now()
	all := &assessment{artifact: a, manifest: m, signatures: source.Policy.Verify(pull.Subject(a), documents, now)}
	list, err := u.of(m)
	if err != nil {
		return nil, err
	}
	for i := range list {
		d, err := source.Policy.Decide(pull.Subject(a), documents, list[i], now)
		all.uses = append(all.uses, decided{list[i].Roles, d, err})
	}
	return all, nil
}

// accepted are the roles for which the policy accepts the module, and a decision that did; nil if there is none.
func (a *assessment) accepted() (roles []string, d *trust.Decision) {
	for i := range a.uses {
		if u := &a.uses[i]; u.err == nil {
			roles = append(roles, u.roles...)
			if d == nil {
				d = u.decision
			}
		}
	}
	return roles, d
}

// rejection is why the policy accepts the module for no use.
func (a *assessment) rejection() error {
	var faults []error
	var told []string
	for i := range a.uses {
		if err := a.uses[i].err; err != nil && !slices.Contains(told, err.Error()) {
			told = append(told, err.Error())
			faults = append(faults, err)
		}
	}
	return errors.Join(faults...)
}

// policyLine is FILE:LINE of a decision.
func policyLine(d *trust.Decision) string {
	line, _, _ := strings.Cut(d.Policy, " ")
	return sanitize.Line(line)
}

// keyPolicy is a policy that allows everything that a key has signed.
func keyPolicy(name string, repository string) (*trust.Policy, error) {
	text, err := open.ReadBounded(name, open.MaxKeyBytes)
	if err != nil {
		return nil, cli.InputError(fmt.Errorf("--key: %w", err))
	}
	quote := func(list ...string) string {
		out, _ := json.Marshal(list) // strings can't fail
		return string(out)
	}
	who := filepath.Base(name)
	policy := "keys: [{name: " + quote(who)[1:len(quote(who))-1] + ", key: key}]\nallow: [{from: " + quote(repository) + `, names: ["*"], signed_by: ` + quote(who) +
		", roles: " + quote(append(cli.Words(pipeline.Roles()), trust.RoleEdge, trust.RoleCriterion)...) +
		", capabilities: " + quote(cli.Words(pipeline.Capabilities())...) + "}]\n"
	p, err := trust.Parse("--key "+name, []byte(policy), func(string) ([]byte, error) { return text, nil })
	if fault, ok := errors.AsType[*strictyaml.Error](err); ok {
		err = fmt.Errorf("--key %s: %s", name, fault.Message) // the place is in no file
	}
	return p, cli.InputError(err)
}

// absolute is the reference of a folder by its whole path, as policies name it.
func absolute(ref oci.Ref) (oci.Ref, error) {
	if !ref.IsLayout() || filepath.IsAbs(ref.Repository()) {
		return ref, nil
	}
	at, err := os.Getwd()
	if err != nil {
		return ref, err
	}
	text := strings.TrimPrefix(ref.String(), trust.Layout)
	return oci.Parse(trust.Layout + filepath.Join(at, text))
}
