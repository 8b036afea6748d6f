package plugin

import (
	"cmp"
	"context"
	"fmt"
	"reflect"
	"slices"
	"strings"

	"github.com/spf13/cobra"

	"github.com/shadowcourt/shadowcourt/cmd/shadowcourt/internal/cli"
	"github.com/shadowcourt/shadowcourt/host/record"
	"github.com/shadowcourt/shadowcourt/internal/moduleref"
	"github.com/shadowcourt/shadowcourt/internal/pull"
	"github.com/shadowcourt/shadowcourt/internal/sanitize"
)

// newPluginDiff is the command `plugin diff`.
func newPluginDiff(s cli.Streams) *cobra.Command {
	var form format
	cmd := &cobra.Command{
		Use:   "diff OLD NEW",
		Short: "Show what a new version of a module asks for in addition",
		Long: `Compare what two modules are and ask for, each a file, the name of an embedded module or a
reference: capabilities, limits, calls, families, edges, criteria, size. Modules of references are
not downloaded: what their registries say is compared.

Exit codes: 0 done; 3 the new one asks for a capability or a higher limit that the old one does
not ask for; 1 something failed while running; 2 the command line or an input is wrong.`,
		Example: "  shadowcourt plugin diff specter magistrate",
		Args:    cli.ExactArgs(2, "two modules"),
		RunE: func(cmd *cobra.Command, args []string) error {
			source, err := newSource(nil)
			if err != nil {
				return err
			}
			defer waiting(s, args...)()
			var d difference
			for i, side := range []*side{&d.Old, &d.New} {
				if *side, err = sideOf(cmd.Context(), source, args[i]); err != nil {
					return err
				}
			}
			d.compare()
			if form == "json" {
				err = writeJSON(s, &d)
			} else {
				err = printText(s, d.String())
			}
			if err == nil && d.AsksForMore {
				err = &cli.ExitError{Code: cli.ExitMatched}
			}
			return err
		},
	}
	form.flag(cmd.Flags())
	return cmd
}

// side is one of the modules that are compared.
type side struct {
	Module   string        `json:"module"` // as it was asked for; a reference with its digest
	Digest   string        `json:"digest"` // of the wasm
	Size     int64         `json:"size"`   // bytes
	Manifest *manifestJSON `json:"manifest"`
}

func sideOf(ctx context.Context, source *pull.Source, name string) (side, error) {
	if !moduleref.Is(name) {
		wasm, m, err := withManifest(name)
		if err != nil {
			return side{}, err
		}
		return side{name, string(record.DigestOf(wasm)), int64(len(wasm)), manifestOf(m)}, nil
	}
	a, err := resolve(ctx, source, name)
	if err != nil {
		return side{}, err
	}
	m, err := pull.Manifest(a.Annotations)
	if err != nil {
		return side{}, fmt.Errorf("%s: %w", a.Pinned(), err)
	}
	return side{a.Pinned().String(), a.Layer.Digest, a.Layer.Size, manifestOf(m)}, nil
}

// difference is what a new module has and asks for beside the old one.
type difference struct {
	Old         side          `json:"old"`
	New         side          `json:"new"`
	AsksForMore bool          `json:"asks_for_more"` // capabilities, or higher limits
	Lists       []listChange  `json:"lists"`         // those that differ
	Limits      []limitChange `json:"limits"`        // those that differ
}

type listChange struct {
	Name    string   `json:"name"`
	Added   []string `json:"added"`
	Removed []string `json:"removed"`
}

type limitChange struct {
	Name string `json:"name"`
	Old  int    `json:"old"`
	New  int    `json:"new"`
}

func (d *difference) compare() {
	before, after := d.Old.Manifest, d.New.Manifest
	d.Lists, d.Limits = []listChange{}, []limitChange{}
	lists := after.lists()
	for i, old := range before.lists() {
		change := listChange{old.name, without(lists[i].words, old.words), without(old.words, lists[i].words)}
		if len(change.Added)+len(change.Removed) > 0 {
			d.Lists = append(d.Lists, change)
		}
		d.AsksForMore = d.AsksForMore || old.name == "capabilities" && len(change.Added) > 0
	}
	for _, l := range defaults {
		if old, now := cmp.Or(before.Limits[l.name], l.limit), cmp.Or(after.Limits[l.name], l.limit); now != old {
			d.Limits = append(d.Limits, limitChange{l.name, old, now})
			d.AsksForMore = d.AsksForMore || now > old
		}
	}
}

// without is what a list has and another lacks.
func without(list, other []string) []string {
	return slices.DeleteFunc(slices.Clone(list), func(word string) bool { return slices.Contains(other, word) })
}

// String is the difference for people.
func (d *difference) String() string {
	var b strings.Builder
	switch {
	case d.AsksForMore:
		b.WriteString("The new version asks for more.\n")
	case d.Old.Digest == d.New.Digest && reflect.DeepEqual(d.Old.Manifest, d.New.Manifest):
		b.WriteString("The same module.\n")
	case d.Old.Digest == d.New.Digest:
		b.WriteString("The same bytes, and other words about them: no other capabilities and no higher limits.\n")
	default:
		b.WriteString("The new version asks for no other capabilities and no higher limits.\n")
	}
	line := func(key, text string) { fmt.Fprintf(&b, "%-13s %s\n", key, text) }
	changed := func(key, old, now string) {
		if old != now {
			line(key, shown(old)+" -> "+shown(now))
		}
	}
	line("old", sanitize.Line(d.Old.Module))
	line("new", sanitize.Line(d.New.Module))
	before, after := d.Old.Manifest, d.New.Manifest
	changed("name", before.Name, after.Name)
	changed("version", before.Version, after.Version)
	changed("abi", before.ABI, after.ABI)
	for _, l := range d.Lists {
		var words []string
		for _, word := range l.Added {
			words = append(words, "+"+word)
		}
		for _, word := range l.Removed {
			words = append(words, "-"+word)
		}
		line(l.Name, shown(strings.Join(words, " ")))
	}
	for _, l := range d.Limits {
		line(l.Name, fmt.Sprintf("%d -> %d", l.Old, l.New))
	}
	changed("source", before.Source, after.Source)
	changed("licence", before.Licence, after.Licence)
	changed("size", fmt.Sprintf("%d bytes", d.Old.Size), fmt.Sprintf("%d bytes", d.New.Size))
	changed("digest", d.Old.Digest, d.New.Digest)
	return b.String()
}
