package plugin

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"strings"
	"sync"

	"github.com/jedib0t/go-pretty/v6/table"
	"github.com/jedib0t/go-pretty/v6/text"
	"github.com/spf13/cobra"
	"golang.org/x/mod/semver"

	"github.com/shadowcourt/shadowcourt/cmd/shadowcourt/internal/cli"
	"github.com/shadowcourt/shadowcourt/cmd/shadowcourt/internal/open"
	"github.com/shadowcourt/shadowcourt/internal/moduleref"
	"github.com/shadowcourt/shadowcourt/internal/pull"
	"github.com/shadowcourt/shadowcourt/internal/sanitize"
	"github.com/shadowcourt/shadowcourt/internal/strictyaml"
)

// searchOptions are the flags of `plugin search`.
type searchOptions struct {
	trust  open.Trust
	limit  int
	format format
}

// The most references that are looked at, and how many at a time.
const (
	maxSearched = 1000
	searchers   = 8
)

// newPluginSearch is the command `plugin search`.
func newPluginSearch(s cli.Streams) *cobra.Command {
	o := &searchOptions{}
	cmd := &cobra.Command{
		Use:   "search PLACE [WORD]",
		Short: "List the modules of a registry, a layout directory or an index file",
		Long: `List the modules of a registry (oci://HOST), a namespace of it (oci://HOST/NAMESPACE), a folder
with an OCI image layout (oci-layout:FOLDER) or an index file, a YAML list of references:

  modules: [oci://HOST/REPOSITORY, oci://HOST/REPOSITORY:TAG]

Of a repository the highest version counts. WORD must stand in the name, a role or a capability.
Modules are not downloaded. Many public registries do not list their repositories: use an index.`,
		Example: "  shadowcourt plugin search oci-layout:layout",
		Args: func(cmd *cobra.Command, args []string) error {
			if len(args) != 1 && len(args) != 2 {
				return cli.InputError(fmt.Errorf("search takes a place and at most one word; see `%s --help`", cmd.CommandPath()))
			}
			return nil
		},
		RunE: func(cmd *cobra.Command, args []string) error { return o.run(cmd.Context(), s, args) },
	}
	o.trust.PolicyFlag(cmd.Flags())
	cmd.Flags().IntVar(&o.limit, "limit", 100, "repositories or tags that are looked at, at most 1000")
	o.format.flag(cmd.Flags())
	return cmd
}

// hit is what was found of a reference.
type hit struct {
	Reference string     `json:"reference"`
	Error     string     `json:"error,omitempty"` // why it could not be read
	Module    *inspected `json:"module"`
}

func (o *searchOptions) run(ctx context.Context, s cli.Streams, args []string) error {
	if o.limit < 1 || o.limit > maxSearched {
		return cli.InputError(fmt.Errorf("--limit %d: use 1 to %d", o.limit, maxSearched))
	}
	source, err := newSource(&o.trust)
	if err != nil {
		return err
	}
	listed := waiting(s, args[0])
	refs, err := o.refs(ctx, source, args[0])
	if listed(); err != nil {
		return err
	}
	total := len(refs)
	refs = refs[:min(total, o.limit)]
	hits := make([]hit, len(refs))
	names := make([]string, len(refs))
	for i, ref := range refs {
		names[i] = ref.String()
	}
	defer waiting(s, names...)()
	var wait sync.WaitGroup
	turn := make(chan struct{}, searchers)
	for i := range refs {
		turn <- struct{}{}
		wait.Go(func() {
			hits[i] = look(ctx, source, refs[i])
			<-turn
		})
	}
	wait.Wait()
	if ctx.Err() != nil {
		return context.Cause(ctx)
	}
	hits = slices.DeleteFunc(hits, func(h hit) bool { return len(args) == 2 && !h.has(args[1]) })
	if o.format == "json" {
		err = writeJSON(s, struct {
			Found []hit `json:"found"`
			Total int   `json:"total"` // references of the place; of those after the limit nothing is known
		}{hits, total})
	} else {
		err = printText(s, hitTable(hits))
	}
	if total > len(refs) {
		fmt.Fprintf(s.Err, "%d of %d were looked at; --limit takes more\n", len(refs), total)
	}
	return err
}

// refs are the references of a place.
func (o *searchOptions) refs(ctx context.Context, source *pull.Source, place string) ([]moduleref.Ref, error) {
	switch {
	case strings.HasPrefix(place, moduleref.Registry):
		refs, err := source.Client.Repositories(ctx, place)
		if err != nil {
			err = fmt.Errorf("%w; a registry that does not list its repositories can be searched by an index file", err)
		}
		return refs, err
	case moduleref.Is(place):
		ref, err := parseRef(place)
		if err != nil {
			return nil, err
		}
		tags, err := source.Client.Tags(ctx, ref)
		refs := make([]moduleref.Ref, len(tags))
		for i, tag := range tags {
			refs[i] = ref.WithTag(tag)
		}
		return refs, err
	}
	refs, err := readIndex(place)
	return refs, cli.InputError(err)
}

// maxIndex is the largest index file that is read, in bytes.
const maxIndex = 1 << 20

// readIndex reads a YAML list of references.
func readIndex(name string) ([]moduleref.Ref, error) {
	data, err := strictyaml.ReadFile(name, maxIndex, strictyaml.Open)
	if err != nil {
		return nil, err
	}
	r := &strictyaml.Reader{File: name}
	var index struct {
		Modules []string `yaml:"modules"`
	}
	var refs []moduleref.Ref
	if root := r.Document(data, maxIndex); root != nil {
		r.Struct(root, "", &index, nil)
		for i, text := range index.Modules {
			ref, err := moduleref.Parse(text)
			if err != nil {
				r.FailAt(strictyaml.IndexPath("modules", i), "bad_reference", "%v", err)
			}
			refs = append(refs, ref)
		}
	}
	return refs, r.Err()
}

// look asks about one module: in a registry that of the highest version, if the reference names none.
func look(ctx context.Context, source *pull.Source, ref moduleref.Ref) hit {
	h := hit{Reference: ref.String()}
	err := ctx.Err()
	if err == nil && ref.Tag() == "" && ref.Digest() == "" {
		var tags []string
		if tags, err = source.Client.Tags(ctx, ref); err == nil && len(tags) == 0 {
			err = errors.New("it has no tag")
		} else if err == nil {
			ref = ref.WithTag(highest(tags))
		}
	}
	if err == nil {
		h.Module, err = inspect(ctx, source, ref.String())
	}
	if err != nil {
		h.Error = err.Error()
	}
	return h
}

// highest is the tag with the highest version; "latest", or else the last, where none is one.
func highest(tags []string) string {
	version := func(tag string) string {
		v := "v" + strings.TrimPrefix(tag, "v")
		if !semver.IsValid(v) {
			return ""
		}
		return v
	}
	best := slices.MaxFunc(tags, func(a, b string) int { return semver.Compare(version(a), version(b)) })
	switch {
	case version(best) != "":
		return best
	case slices.Contains(tags, "latest"):
		return "latest"
	}
	return tags[len(tags)-1]
}

// has says whether a word stands in the name, a role or a capability.
func (h *hit) has(word string) bool {
	if h.Module == nil {
		return false
	}
	m := h.Module
	return strings.Contains(strings.Join(slices.Concat([]string{m.Manifest.Name}, m.Roles, m.Manifest.Capabilities), "\n"), word)
}

func hitTable(hits []hit) string {
	if len(hits) == 0 {
		return "No modules.\n"
	}
	t := table.NewWriter()
	t.SetStyle(cli.ListStyle())
	t.SuppressTrailingSpaces()
	t.SetColumnConfigs([]table.ColumnConfig{{Name: "ROLES", WidthMax: 24, WidthMaxEnforcer: text.WrapSoft}})
	t.AppendHeader(table.Row{"NAME", "VERSION", "ROLES", "CAPABILITIES", "SIGNED BY", "REFERENCE"})
	var unread []string
	for i := range hits {
		h := &hits[i]
		if h.Module == nil {
			unread = append(unread, shown(h.Reference)+": "+shown(h.Error))
			continue
		}
		m := h.Module.Manifest
		reference, _, _ := strings.Cut(h.Module.Reference, "@")
		t.AppendRow(table.Row{
			shown(m.Name), shown(m.Version), strings.Join(h.Module.Roles, " "), shown(strings.Join(m.Capabilities, " ")), h.Module.signers(), sanitize.Line(reference),
		})
	}
	out := ""
	if t.Length() > 0 {
		out = t.Render() + "\n"
	}
	if len(unread) > 0 {
		out += "\nNot read:\n  " + strings.Join(unread, "\n  ") + "\n"
	}
	return out
}
