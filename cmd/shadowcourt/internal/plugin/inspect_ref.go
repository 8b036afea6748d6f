package plugin

import (
	"cmp"
	"context"
	"fmt"
	"maps"
	"slices"
	"strings"

	"github.com/shadowcourt/shadowcourt/abi"
	"github.com/shadowcourt/shadowcourt/cmd/shadowcourt/internal/cli"
	"github.com/shadowcourt/shadowcourt/cmd/shadowcourt/internal/open"
	"github.com/shadowcourt/shadowcourt/internal/pull"
	"github.com/shadowcourt/shadowcourt/internal/sanitize"
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

func runInspectRef(ctx context.Context, s cli.Streams, reference string, form format, t *open.Trust) error {
	defer waiting(s, reference)()
	source, err := newSource(t)
	if err != nil {
		return err
	}
	found, err := inspect(ctx, source, reference)
	if err != nil {
		return err
	}
	if form == "json" {
		return writeJSON(s, found)
	}
	return found.print(s)
}

// inspect asks the registry about a module, which is not downloaded.
func inspect(ctx context.Context, source *pull.Source, reference string) (*inspected, error) {
	a, err := resolve(ctx, source, reference)
	if err != nil {
		return nil, err
	}
	all, err := new(uses).assess(ctx, source, a)
	if err != nil {
		return nil, err
	}
	return &inspected{
		assessment: all, Manifest: manifestOf(all.manifest), Roles: append([]string{}, rolesOf(all.manifest)...), Module: a.Layer.Digest, Size: a.Layer.Size,
	}, nil
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

// defaults are the limits of a call of which a manifest asks for no other.
var defaults = []struct { //nolint:gochecknoglobals // constant
	name  string
	limit int
}{{"memory_bytes", abi.DefaultMemoryBytes}, {"output_bytes", abi.DefaultOutputBytes}, {"wall_clock", abi.DefaultWallClockNanos}, {"fuel", abi.DefaultFuel}}

// list is one that a manifest has.
type list struct {
	name  string
	words []string
}

func (m *manifestJSON) lists() []list {
	return []list{{"calls", m.Calls}, {"families", m.Families}, {"edges", m.Edges}, {"criteria", m.Criteria}, {"capabilities", m.Capabilities}}
}

// show tells people what a module is and asks for.
func (m *manifestJSON) show(line func(key, value string)) {
	line("name", shown(m.Name))
	line("version", shown(m.Version))
	line("abi", shown(m.ABI))
	for _, l := range m.lists() {
		line(l.name, shown(strings.Join(l.words, " ")))
	}
	var limits []string
	for _, d := range defaults {
		if asked, ok := m.Limits[d.name]; ok {
			limits = append(limits, fmt.Sprintf("%s %d", d.name, asked))
		}
	}
	line("limits", cmp.Or(strings.Join(limits, ", "), "the defaults"))
	line("source", shown(m.Source))
	line("licence", shown(m.Licence))
}
