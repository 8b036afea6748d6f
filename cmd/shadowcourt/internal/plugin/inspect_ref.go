package plugin

import (
	"context"
	"fmt"
	"slices"
	"strconv"
	"strings"

	"github.com/shadowcourt/shadowcourt/abi"
	"github.com/shadowcourt/shadowcourt/cmd/shadowcourt/internal/cli"
	"github.com/shadowcourt/shadowcourt/cmd/shadowcourt/internal/open"
	"github.com/shadowcourt/shadowcourt/internal/oci"
	"github.com/shadowcourt/shadowcourt/internal/pull"
	"github.com/shadowcourt/shadowcourt/internal/sanitize"
	"github.com/shadowcourt/shadowcourt/internal/trust"
)

// inspected is what a registry says about a module.
type inspected struct {
	Reference  string          `json:"reference"`
	Manifest   *manifestJSON   `json:"manifest"`
	Roles      []string        `json:"roles"`
	Module     string          `json:"module"`     // digest of the wasm
	Size       int64           `json:"size"`       // bytes
	Uses       []useJSON       `json:"uses"`       // what the trust policy decides about each role
	Signatures []signatureJSON `json:"signatures"` // with signed results of the conformance kit
	SBOM       bool            `json:"sbom"`
	Problem    string          `json:"problem,omitempty"` // why attachments could not be read
}

func runInspectRef(ctx context.Context, s cli.Streams, reference, format string, t *open.Trust) error {
	if err := checkFormat(format); err != nil {
		return err
	}
	ref, err := parseRef(reference)
	if err != nil {
		return err
	}
	source, err := trusting(t)
	if err != nil {
		return err
	}
	defer waiting(s, ref)()
	found, err := inspectRef(ctx, source, ref)
	if err != nil {
		return err
	}
	if format == "json" {
		return writeJSON(s, found)
	}
	return found.print(s)
}

// inspectRef asks the registry about a module. The module is not downloaded.
func inspectRef(ctx context.Context, source *pull.Source, ref oci.Ref) (*inspected, error) {
	ref, err := absolute(ref)
	if err != nil {
		return nil, err
	}
	a, err := source.Client.Resolve(ctx, ref)
	if err != nil {
		return nil, err
	}
	all, err := new(uses).assess(ctx, source, a)
	if err != nil {
		return nil, err
	}
	out := &inspected{
		Reference: a.Pinned().String(), Manifest: manifestOf(all.manifest), Roles: append([]string{}, rolesOf(all.manifest)...), Module: a.Layer.Digest, Size: a.Layer.Size,
		Uses: usesJSON(all.uses), Signatures: signaturesJSON(all.signatures),
	}
	bills, err := source.Client.Attachments(ctx, a, typeSBOM)
	if err != nil {
		out.Problem = err.Error()
	}
	out.SBOM = slices.ContainsFunc(bills, func(b oci.Attachment) bool { return isBill(b.Data) })
	if len(bills) > 0 && !out.SBOM {
		out.Problem = "what is attached as an SBOM is not CycloneDX in JSON"
	}
	return out, nil
}

func (i *inspected) print(s cli.Streams) error {
	var b strings.Builder
	line := func(key, value string) {
		if value == "" {
			value = "none"
		}
		fmt.Fprintf(&b, "%-13s %s\n", key, value)
	}
	line("reference", sanitize.Line(i.Reference))
	printManifest(line, i.Manifest)
	line("roles", strings.Join(i.Roles, " "))
	line("size", fmt.Sprintf("%d bytes", i.Size))
	line("digest", i.Module)
	line("signed by", i.signers())
	for n := range i.Uses {
		u := &i.Uses[n]
		verdict := "accepted by " + strings.Split(u.Policy, " ")[0]
		if !u.Accepted {
			verdict = "rejected: " + strings.Split(u.Why, "\n")[0]
		}
		line("as "+strings.Join(u.Roles, " "), shown(verdict))
	}
	line("kit", i.kit())
	line("sbom", map[bool]string{true: "attached"}[i.SBOM])
	if i.Problem != "" {
		line("problem", shown(i.Problem))
	}
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
			list = append(list, strings.TrimSpace("an unknown key "+shown(g.Key[:min(len(g.Key), len("ed25519:")+12)])))
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
		case g.Kit != "" && g.Counts:
			said := g.Kit + ", says " + shown(g.Signer)
			if !slices.ContainsFunc(i.Uses, func(u useJSON) bool { return slices.Contains(strings.Split(u.Signer, ", "), g.Signer) }) {
				said += ", by whose signature the policy accepts nothing here"
			}
			list = append(list, said)
		case g.Type == trust.TypeConformance:
			list = append(list, "a result that does not count: "+shown(g.Why))
		}
	}
	return strings.Join(list, "; ")
}

// printManifest prints what a module is and asks for.
func printManifest(line func(key, value string), m *manifestJSON) {
	words := func(list []string) string { return shown(strings.Join(list, " ")) }
	line("name", shown(m.Name))
	line("version", shown(m.Version))
	line("abi", shown(m.ABI))
	line("calls", words(m.Calls))
	line("families", words(m.Families))
	line("edges", words(m.Edges))
	line("criteria", words(m.Criteria))
	line("capabilities", words(m.Capabilities))
	line("limits", limitsLine(m.Limits))
	line("source", shown(m.Source))
	line("licence", shown(m.Licence))
}

// manifestJSON is a manifest as programs read it.
type manifestJSON struct {
	Name         string      `json:"name"`
	Version      string      `json:"version"`
	ABI          string      `json:"abi"`
	Calls        []string    `json:"calls"`
	Families     []string    `json:"families"`
	Edges        []string    `json:"edges"`
	Criteria     []string    `json:"criteria"`
	Capabilities []string    `json:"capabilities"`
	Limits       *limitsJSON `json:"limits,omitempty"` // that it asks for beyond the defaults
	Source       string      `json:"source,omitempty"`
	Licence      string      `json:"licence,omitempty"`
}

// limitsJSON are the limits of a call; 0 is the default.
type limitsJSON struct {
	MemoryBytes int `json:"memory_bytes,omitempty"`
	OutputBytes int `json:"output_bytes,omitempty"`
	WallClock   int `json:"wall_clock,omitempty"` // nanoseconds
	Fuel        int `json:"fuel,omitempty"`
}

func manifestOf(m *abi.Manifest) *manifestJSON {
	out := &manifestJSON{
		m.Name, m.Version, m.ABI, cli.Words(m.Calls), cli.Words(m.Families), cli.Words(m.Edges), cli.Words(m.Criteria), cli.Words(m.Capabilities),
		nil, m.Source, m.Licence,
	}
	if l := m.Limits; l != nil {
		out.Limits = &limitsJSON{l.MemoryBytes, l.OutputBytes, l.WallClock, l.Fuel}
	}
	return out
}

// limit is one of a call.
type limit struct {
	Name  string `json:"name"`
	Value int    `json:"value"` // the default where nothing is asked for
	asked bool
}

func limitsOf(l *limitsJSON) []limit {
	if l == nil {
		l = &limitsJSON{}
	}
	list := []limit{
		{"memory_bytes", l.MemoryBytes, false}, {"output_bytes", l.OutputBytes, false}, {"wall_clock", l.WallClock, false}, {"fuel", l.Fuel, false},
	}
	for i, usual := range []int{abi.DefaultMemoryBytes, abi.DefaultOutputBytes, abi.DefaultWallClockNanos, abi.DefaultFuel} {
		if list[i].asked = list[i].Value != 0; !list[i].asked {
			list[i].Value = usual
		}
	}
	return list
}

func limitsLine(l *limitsJSON) string {
	var words []string
	for _, one := range limitsOf(l) {
		if one.asked {
			words = append(words, one.Name+" "+strconv.Itoa(one.Value))
		}
	}
	if len(words) == 0 {
		return "the defaults"
	}
	return strings.Join(words, ", ")
}
