package work

import (
	"context"
	"errors"
	"io/fs"
	"maps"
	"strings"
	"sync"
	"testing/fstest" // a folder in memory; it does not link package testing

	"github.com/shadowcourt/shadowcourt/host"
	"github.com/shadowcourt/shadowcourt/host/bundle"
	"github.com/shadowcourt/shadowcourt/host/record"
	"github.com/shadowcourt/shadowcourt/internal/service/store"
)

// embedded are the digests of the modules in this program, by name.
var embedded = sync.OnceValues(func() (map[string]string, error) {
	digests := map[string]string{}
	err := eachEmbedded(func(name string, wasm []byte) error {
		digests[name] = record.DigestOf(wasm).Hex()
		return nil
	})
	return digests, err
})

func eachEmbedded(do func(name string, wasm []byte) error) error {
	modules, err := bundle.FS()
	if err != nil {
		return err
	}
	files, err := fs.Glob(modules, "*.wasm")
	if err != nil {
		return err
	}
	for _, file := range files {
		wasm, err := fs.ReadFile(modules, file)
		if err == nil {
			err = do(strings.TrimSuffix(file, ".wasm"), wasm)
		}
		if err != nil {
			return err
		}
	}
	return nil
}

// Begin puts the modules that this program embeds in force where the store has no generation yet, and gives the current one. A
// store that has one keeps it, whatever this program embeds: a fleet may run two versions of the program for a while.
func Begin(ctx context.Context, s *store.Store) (generation int64, err error) {
	if generation, err = s.CurrentGeneration(ctx); err != nil || generation != 0 {
		return generation, err
	}
	parts := store.Parts{Modules: map[string]string{}}
	if err := eachEmbedded(func(name string, wasm []byte) (err error) {
		parts.Modules[name], err = s.AddBlob(ctx, wasm)
		return err
	}); err != nil {
		return 0, err
	}
	return s.BeginWith(ctx, store.Generation{Parts: parts, Note: "the modules that shadowcourt embeds", Author: "shadowcourt"})
}

// BegunWith gives whether a module is one that this program has embedded, or that the program had with which the store began.
func BegunWith(ctx context.Context, s *store.Store) (func(name, digest string) bool, error) {
	own, err := embedded()
	if err != nil {
		return nil, err
	}
	first, err := s.Generation(ctx, 1)
	if err != nil && !errors.Is(err, store.ErrNotFound) {
		return nil, err
	}
	return func(name, digest string) bool {
		return own[name] == digest || first.Parent == 0 && first.Modules[name] == digest
	}, nil
}

// readOpening reads what a host of a generation is opened on.
func readOpening(ctx context.Context, s *store.Store, generation int64, format string) (*Opening, error) {
	g, err := s.Generation(ctx, generation)
	if err != nil {
		return nil, err
	}
	return OpeningOf(ctx, s, &g, format)
}

// Blobs gives modules and files by their digests: a *store.Store, or what is to be added to one.
type Blobs interface {
	Blob(ctx context.Context, digest string) ([]byte, error)
}

// OpeningOf reads what a host of a generation is opened on, which need not be in the store yet, but its modules and files must
// be.
func OpeningOf(ctx context.Context, s Blobs, g *store.Generation, format string) (*Opening, error) {
	o := &Opening{Format: format, Files: map[string][]byte{}, Share: g.Share, Signed: map[record.Digest]host.Signature{}}
	for _, from := range []struct {
		references map[string]store.Reference
		digests    map[string]string
	}{{g.References, g.Modules}, {g.CanaryReferences, g.Canary}} {
		for name, r := range from.references {
			o.Signed[record.Digest("sha256:"+from.digests[name])] = host.Signature{Signer: r.Signer, Policy: r.Policy}
		}
	}
	var err error
	for name, digest := range g.Files {
		if o.Files[name], err = s.Blob(ctx, digest); err != nil {
			return nil, err
		}
	}
	if len(g.Canary) > 0 {
		o.Canary = map[string][]byte{}
	}
	for name, digest := range g.Canary {
		if o.Canary[name], err = s.Blob(ctx, digest); err != nil {
			return nil, err
		}
	}
	own, err := embedded()
	if err != nil {
		return nil, err
	}
	if maps.Equal(own, g.Modules) || len(g.Modules) == 0 {
		return o, nil
	}
	o.Modules, err = modulesOf(ctx, s, g.Modules, own)
	return o, err
}

// modulesOf reads modules: those that this program has embedded from there, so that a fleet reads no more of the database than what a
// generation changes.
func modulesOf(ctx context.Context, s Blobs, digests, own map[string]string) (fs.FS, error) {
	shipped, err := bundle.FS()
	if err != nil {
		return nil, err
	}
	files := fstest.MapFS{}
	for name, digest := range digests {
		file := name + ".wasm"
		f := &fstest.MapFile{Mode: 0o444}
		if own[name] == digest {
			f.Data, err = fs.ReadFile(shipped, file)
		} else {
			f.Data, err = s.Blob(ctx, digest)
		}
		if err != nil {
			return nil, err
		}
		files[file] = f
	}
	return files, nil
}
