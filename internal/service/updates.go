package service

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"maps"
	"slices"
	"strings"
	"time"

	"golang.org/x/mod/semver"

	"github.com/shadowcourt/shadowcourt/internal/moduleref"
	"github.com/shadowcourt/shadowcourt/internal/oci"
	"github.com/shadowcourt/shadowcourt/internal/pull"
	"github.com/shadowcourt/shadowcourt/internal/sanitize"
	"github.com/shadowcourt/shadowcourt/internal/service/store"
	"github.com/shadowcourt/shadowcourt/internal/trust"
)

const (
	// askTime is how long registries may take to say what there is of one module, lookTime for all.
	askTime  = time.Minute
	lookTime = 10 * time.Minute
	// mostTags are tried of one module, the highest version first.
	mostTags = 5
	// maxFault is how much of an error is kept.
	maxFault = 1000
	// updateAuthor is who made generations with newer versions.
	updateAuthor = "updates by policy"
	// mostGenerations is how many of the latest are searched for one that has a newer version already.
	mostGenerations = 1000
)

// lookWhenDue looks for newer versions. Of several processes one does it.
func (s *Service) lookWhenDue(ctx context.Context) error {
	begun, err := s.config.Store.BeginLook(ctx, s.config.UpdateInterval)
	if begun && err == nil {
		err = s.look(ctx)
	}
	return err
}

// look looks for newer versions of the modules in force, and keeps what it finds.
func (s *Service) look(ctx context.Context) error {
	current, err := s.config.Store.CurrentGeneration(ctx)
	if err != nil {
		return err
	}
	g, err := s.config.Store.Generation(ctx, current)
	if err != nil {
		return err
	}
	all := []store.NewerVersion{}
	looking, cancel := context.WithTimeout(ctx, lookTime)
	defer cancel()
	for _, name := range slices.Sorted(maps.Keys(g.References)) {
		if g.References[name].Update == store.UpdatePinned {
			continue
		}
		n, err := s.lookAt(looking, &g, name)
		if ctx.Err() != nil {
			return context.Cause(ctx) // it says nothing of the registry
		}
		if err != nil {
			n.Fault = sanitize.Cut(sanitize.Line(err.Error()), maxFault)
		}
		all = append(all, n)
	}
	return s.config.Store.EndLook(ctx, all)
}

// lookAt looks for a newer version of one module of a generation, and makes it a canary where its update says so.
func (s *Service) lookAt(ctx context.Context, g *store.Generation, name string) (n store.NewerVersion, err error) {
	r := g.References[name]
	n = store.NewerVersion{Module: name, Update: r.Update, Has: r.Version}
	ref, err := s.covered(r.Reference, trust.Use{Roles: r.Roles}) // the policy may be another one than at the time
	if err != nil {
		return n, err
	}
	asking, cancel := context.WithTimeout(ctx, askTime)
	defer cancel()
	tags, err := s.config.Registries.Tags(asking, ref)
	if err != nil {
		return n, err
	}
	var faults []error
	if ref.Tag() != "" && !slices.Contains(tags, ref.Tag()) {
		faults = append(faults, fmt.Errorf("the registry has the tag %s no longer; the generation keeps its module", ref.Tag()))
	}
	for range mostTags {
		tag := newest(tags, version(r.Version), r.Update)
		if tag == "" {
			break
		}
		newer := ref.WithTag(tag)
		n.Version, n.Reference = strings.TrimPrefix(tag, "v"), newer.String()
		if r.Update != store.UpdatePatch {
			break
		}
		a, err := s.config.Registries.Resolve(asking, newer)
		if err == nil {
			n.Generation, err = s.propose(ctx, g, name, newer, a)
		}
		if err == nil {
			break
		}
		faults = append(faults, err) // another tag may be good: whoever may push could else hold updates back
		tags = slices.DeleteFunc(tags, func(t string) bool { return t == tag })
	}
	return n, errors.Join(faults...)
}

// newest is the tag of the highest version that is above another one, and that an update takes; empty for none.
func newest(tags []string, than string, update store.Update) (tag string) {
	for _, t := range tags {
		v := version(t)
		if v != "" && semver.Compare(v, than) > 0 && (update != store.UpdatePatch || semver.MajorMinor(v) == semver.MajorMinor(than)) {
			tag, than = t, v
		}
	}
	return tag
}

// propose gives the generation that has a newer version as a canary beside another generation, which is made if there is none.
func (s *Service) propose(ctx context.Context, g *store.Generation, name string, newer moduleref.Ref, a *oci.Artifact) (int64, error) {
	m, err := pull.Manifest(a.Annotations)
	if err != nil {
		return 0, err
	}
	// A tag is no proof: who may push, and not sign, could give an old module a new tag, or one that was signed for something else.
	if has := g.References[name]; m.Name != has.Name || version(m.Version) != version(newer.Tag()) {
		return 0, fmt.Errorf("the module of the tag %s says that it is %s %s: such a tag is ignored", newer.Tag(), sanitize.Cut(sanitize.Line(m.Name), maxShown), sanitize.Cut(sanitize.Line(m.Version), maxShown))
	}
	court, err := s.court(ctx, &g.Parts, nil)
	if err != nil {
		return 0, err
	}
	canaries := court.canaries(name)
	if len(canaries) == 0 {
		return 0, fmt.Errorf("%s has no canary: it is only a fallback; add the newer version by hand", name)
	}
	generations, err := s.config.Store.Generations(ctx, 0, mostGenerations)
	if err != nil {
		return 0, err
	}
	for i := range generations {
		if old := &generations[i]; (old.Parent == g.ID || old.ID == g.ID) && old.CanaryReferences[canaries[0]].Manifest == a.Digest {
			return old.ID, nil
		}
	}
	next := store.Generation{
		Parent: g.ID, Share: s.config.UpdateShare, Author: updateAuthor, Note: fmt.Sprintf("%s %s as a canary beside %s", m.Name, m.Version, g.References[name].Version),
		Parts: store.Parts{Modules: maps.Clone(g.Modules), Files: maps.Clone(g.Files), References: maps.Clone(g.References), CanaryReferences: map[string]store.Reference{}},
	}
	for _, canary := range canaries {
		next.CanaryReferences[canary] = store.Reference{Reference: newer.WithDigest(a.Digest).String(), Update: store.UpdatePinned}
	}
	next, err = s.operations.KeepGeneration(ctx, next, map[string][]byte{})
	return next.ID, err
}

// canaries are what a module is named by in a canary.
func (c court) canaries(module string) (names []string) {
	for _, def := range c {
		for _, p := range trust.Parts(def) {
			if p.Module == module && !p.Fallback {
				names = append(names, cmp.Or(p.Persona, module))
			}
		}
	}
	slices.Sort(names)
	return slices.Compact(names)
}
