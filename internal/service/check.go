package service

import (
	"context"
	"errors"
	"fmt"
	"maps"
	"slices"
	"strings"

	"github.com/shadowcourt/shadowcourt/host"
	"github.com/shadowcourt/shadowcourt/internal/run"
	"github.com/shadowcourt/shadowcourt/internal/service/store"
	"github.com/shadowcourt/shadowcourt/internal/service/work"
)

// The names of files in generations: see store.Parts.Files. A profile is for the dockets of one format.
const (
	PipelineFile  = "pipeline"
	LightPathFile = "light_path"
	profileFile   = "profile:"
)

// ProfileFile is the name of the profile for dockets of a format.
func ProfileFile(format string) string { return profileFile + format }

// both gives blobs that are to be added, and those of the store.
type both struct {
	added map[string][]byte
	store *store.Store
}

func (b both) Blob(ctx context.Context, digest string) ([]byte, error) {
	if content, ok := b.added[digest]; ok {
		return content, nil
	}
	return b.store.Blob(ctx, digest)
}

// checkGeneration fetches what references name, opens the generation for every format as a worker would, and closes it.
func (s *Service) checkGeneration(ctx context.Context, parts *store.Parts, blobs map[string][]byte) (fetched []string, err error) {
	for name := range parts.Files {
		if format, ok := strings.CutPrefix(name, profileFile); name != PipelineFile && name != LightPathFile && (!ok || !slices.Contains(formats(), format)) {
			return nil, fmt.Errorf("file %q: use %s, %s or %sFORMAT, with the format %s", name, PipelineFile, LightPathFile, profileFile, strings.Join(formats(), ", "))
		}
	}
	if fetched, err = s.fetch(ctx, parts, blobs); err != nil {
		return nil, err
	}
	return fetched, s.openGeneration(ctx, *parts, blobs)
}

func (s *Service) openGeneration(ctx context.Context, parts store.Parts, blobs map[string][]byte) error {
	g := &store.Generation{Parts: parts}
	if len(parts.Canary) > 0 {
		g.Share = 1
	}
	var used []string
	for _, format := range formats() {
		o, err := work.OpeningOf(ctx, both{blobs, s.config.Store}, g, format)
		if err != nil {
			return err
		}
		h, err := s.config.Open(ctx, o, nil)
		if _, ok := errors.AsType[*host.CandidateError](err); ok {
			return fmt.Errorf("%w; a canary is named by the persona that it plays, or by the module that evaluates edges (clerk)", err)
		}
		if err != nil {
			return err
		}
		used = slices.AppendSeq(used, maps.Keys(h.Modules(ctx)))
		if err := h.Close(ctx); err != nil {
			return err
		}
	}
	slices.Sort(used)
	used = slices.Compact(used)
	began, err := work.BegunWith(ctx, s.config.Store)
	if err != nil {
		return err
	}
	for _, name := range slices.Sorted(maps.Keys(parts.Modules)) {
		digest := parts.Modules[name] // which an embedded module that nobody names may have, too
		if _, added := blobs[digest]; added && !slices.Contains(used, name) && !began(name, digest) {
			return fmt.Errorf("module %q is of no use: no pipeline of the generation names it; they name %s", name, strings.Join(used, ", "))
		}
	}
	return nil
}

// formats are those of dockets.
func formats() []string {
	return slices.DeleteFunc(run.Formats(), func(f string) bool { return f == run.Auto })
}
