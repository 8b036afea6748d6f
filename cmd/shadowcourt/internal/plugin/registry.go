package plugin

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"io"
	"maps"
	"path/filepath"
	"slices"
	"strings"
	"time"

	"github.com/jedib0t/go-pretty/v6/table"
	"github.com/spf13/cobra"
	"github.com/spf13/pflag"

	"github.com/shadowcourt/shadowcourt/abi"
	"github.com/shadowcourt/shadowcourt/cmd/shadowcourt/internal/cli"
	"github.com/shadowcourt/shadowcourt/cmd/shadowcourt/internal/open"
	"github.com/shadowcourt/shadowcourt/host/pipeline"
	"github.com/shadowcourt/shadowcourt/host/record"
	"github.com/shadowcourt/shadowcourt/internal/disk"
	"github.com/shadowcourt/shadowcourt/internal/moduleref"
	"github.com/shadowcourt/shadowcourt/internal/oci"
	"github.com/shadowcourt/shadowcourt/internal/sanitize"
	"github.com/shadowcourt/shadowcourt/internal/strictyaml"
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

// find opens the registries, and finds the module of a reference as a court does: the folder of a layout is that behind its links.
func find(ctx context.Context, t *open.Trust, reference string) (*trust.Source, *oci.Artifact, error) {
	source, err := newSource(t)
	if err != nil {
		return nil, nil, err
	}
	ref, err := source.Parse(reference)
	if err != nil {
		return nil, nil, cli.InputError(err)
	}
	a, err := source.Client.Resolve(ctx, ref)
	return source, a, err
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

func parseRef(text string) (moduleref.Ref, error) {
	ref, err := moduleref.Parse(text)
	return ref, cli.InputError(err)
}

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

func (f *format) flag(flags *pflag.FlagSet) {
	*f = "table"
	flags.Var(f, "format", "table or json")
}

// writeJSON writes a document, whose texts may be of anybody.
func writeJSON(s cli.Streams, value any) error {
	text, err := sanitize.EncodeJSON(value, "  ")
	if err == nil {
		_, err = s.Out.Write(sanitize.JSON(text))
	}
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
	source, a, err := find(ctx, t, reference)
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

type verifyOptions struct {
	uses
	trust  open.Trust
	key    string
	format format
}

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
	source, a, err := find(ctx, policy, reference)
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
	text, err := disk.ReadBounded(name, open.MaxKeyBytes)
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

type pullOptions struct {
	uses
	trust      open.Trust
	output     string
	format     format
	unverified bool
}

func newPluginPull(s cli.Streams) *cobra.Command {
	o := &pullOptions{}
	cmd := &cobra.Command{
		Use:   "pull REF",
		Short: "Download a module when the trust policy accepts it",
		Long: `Download a module into a file. The trust policy decides first, as before a court: about the
roles of --role, or about each role that the module can play, of which it must accept one. No
policy is asked again about the file: a court that finds it in --modules runs it as a local module.

--unverified downloads without asking a policy: anybody may have made what comes.`,
		Example: "  shadowcourt plugin pull oci-layout:layout:clerk --unverified --output pulled.wasm",
		Args:    cli.ExactArgs(1, "one reference"),
		RunE:    func(cmd *cobra.Command, args []string) error { return o.run(cmd.Context(), s, args[0]) },
	}
	o.flags(cmd)
	o.trust.PolicyFlag(cmd.Flags())
	cmd.Flags().StringVar(&o.output, "output", "", "where to write (default: NAME.wasm, which must not be there yet)")
	cmd.Flags().BoolVar(&o.unverified, "unverified", false, "ask no trust policy")
	o.format.flag(cmd.Flags())
	return cmd
}

func (o *pullOptions) run(ctx context.Context, s cli.Streams, reference string) error {
	policy := &o.trust
	if o.unverified {
		if policy = nil; o.trust.Policy != "" {
			return cli.InputError(errors.New("use either --unverified or --trust"))
		}
	}
	defer waiting(s, reference)()
	source, a, err := find(ctx, policy, reference)
	if err != nil {
		return err
	}
	how, roles := "unverified: no trust policy was asked, and anybody may have made it", []string{}
	if !o.unverified {
		all, err := o.assess(ctx, source, a)
		if err != nil {
			return err
		}
		if err := all.rejection(); err != nil {
			return cli.InputError(fmt.Errorf("%s is rejected: %w", a.Pinned(), err))
		}
		how = all.line()
		roles, _ = all.accepted()
	}
	wasm, manifest, err := trust.Fetch(ctx, source.Client, a)
	if err != nil {
		if errors.Is(err, trust.ErrOther) {
			err = cli.InputError(err)
		}
		return err
	}
	name, err := o.write(wasm, manifest)
	if err != nil {
		return cli.FileError(err)
	}
	if o.format == "json" {
		return writeJSON(s, struct {
			File      string   `json:"file"`
			Reference string   `json:"reference"`
			Module    string   `json:"module"`
			Verified  bool     `json:"verified"`
			Roles     []string `json:"roles"`
		}{name, a.Pinned().String(), a.Layer.Digest, !o.unverified, roles})
	}
	fmt.Fprintf(s.Err, "%s\n%s\n", sanitize.Line(a.Pinned().String()), how)
	_, err = fmt.Fprintln(s.Out, sanitize.Line(name))
	return err
}

// write writes the module. A name that the module gives itself never replaces a file, or leaves the folder.
func (o *pullOptions) write(wasm []byte, m *abi.Manifest) (string, error) {
	if o.output != "" {
		return o.output, disk.Replace(o.output, wasm)
	}
	name := "module.wasm"
	if len(m.Name) <= maxPluginName && pluginName.MatchString(m.Name) {
		name = m.Name + ".wasm"
	}
	return name, disk.CreateNew(name, wasm, 0o666)
}

func newPluginCopy(s cli.Streams) *cobra.Command {
	var form format
	var move bool
	cmd := &cobra.Command{
		Use:   "copy FROM TO",
		Short: "Copy a module with its signatures between registries and layout directories",
		Long: `Copy a module with all that is attached to it (signatures, result of the conformance kit, SBOM)
between registries and folders with an OCI image layout, such as for a site without a network.
The digest stays the same, so what is pinned and signed stays valid. No policy is asked: the court
that runs the copy decides. The tag is that of FROM, unless TO has one; one that stands for another
module stays, unless --move is given.`,
		Example: "  shadowcourt plugin copy oci-layout:layout:clerk oci-layout:copied",
		Args:    cli.ExactArgs(2, "two references"),
		RunE: func(cmd *cobra.Command, args []string) error {
			from, err := parseRef(args[0])
			if err != nil {
				return err
			}
			to, err := parseRef(args[1])
			if err != nil {
				return err
			}
			defer waiting(s, args...)()
			a, err := copyTo(cmd.Context(), from, to, move)
			if err != nil {
				return err
			}
			return printPushed(s, form, newPushed(a, nil))
		},
	}
	moveFlag(cmd.Flags(), &move)
	form.flag(cmd.Flags())
	return cmd
}

func copyTo(ctx context.Context, from, to moduleref.Ref, move bool) (*oci.Artifact, error) {
	source, err := newSource(nil)
	if err != nil {
		return nil, err
	}
	a, err := source.Client.Resolve(ctx, from)
	if err != nil {
		return nil, err
	}
	if to.Tag() == "" && from.Digest() == "" {
		from = from.WithTag(cmp.Or(from.Tag(), "latest"))
	}
	at := to.WithTag(cmp.Or(to.Tag(), from.Tag()))
	if err := checkTag(ctx, source.Client, at, a.Digest, move); err != nil {
		return nil, err
	}
	return source.Client.Copy(ctx, from.WithDigest(a.Digest), to, trust.DocumentTypes...)
}
