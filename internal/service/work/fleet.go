package work

import (
	"context"
	"errors"
	"fmt"
	"io/fs"
	"log/slog"
	"maps"
	"slices"
	"strings"
	"sync"
	"testing/fstest" // a folder in memory; it does not link package testing

	"github.com/shadowcourt/shadowcourt/host"
	"github.com/shadowcourt/shadowcourt/host/bundle"
	"github.com/shadowcourt/shadowcourt/host/record"
	"github.com/shadowcourt/shadowcourt/internal/service/store"
)

// Opening is what a host of one generation and one format is opened on.
type Opening struct {
	// Format is that of the dockets whose cases it tries, as internal/run names it: it decides on classifier and profile.
	Format string
	// Answered: Light's answers come with the cases, so that no Light path is asked.
	Answered bool
	// Modules are those of the generation; nil for those that this program embeds.
	Modules fs.FS
	// Signed says who signed those that came from a registry, and by which policy, by their digests.
	Signed map[record.Digest]host.Signature
	// Files are its pipelines, profiles and rubrics, by the names of store.Parts.Files. One that is not there is the embedded one.
	Files map[string][]byte
	// Canary and Share are those of a host.Candidate; none where Canary is empty.
	Canary map[string][]byte
	Share  float64
	// Experiments that its trials may run; nil for none.
	Experiments host.Experiments
}

// fleet are the open hosts of a worker, by generation and format; a docket that may run experiments has one of its own. It is safe for concurrent use.
type fleet struct {
	shelf[hostKey, *fleetHost]
	store        *store.Store
	open         func(context.Context, *Opening) (*host.Host, error)
	laboratories *Laboratories // nil: no docket runs experiments
	logger       *slog.Logger
}

func newFleet(config *Config) *fleet {
	f := &fleet{store: config.Store, open: config.Open, laboratories: config.Laboratories, logger: config.Logger}
	f.openOne, f.close = f.openHost, (*fleetHost).close
	return f
}

type hostKey struct {
	generation int64
	format     string
	answered   bool   // Light's answers come with the cases
	docket     int64  // with experiments; else 0
	revision   string // of the docket
}

// fleetHost is an open host.
type fleetHost struct {
	host       *host.Host
	laboratory Laboratory // nil for none
	docket     int64      // that has the laboratory

	mu      sync.Mutex
	configs map[bookKey]*configured
}

func (f *fleet) openHost(ctx context.Context, key hostKey) (*fleetHost, error) {
	g, err := f.store.Generation(ctx, key.generation)
	if err != nil {
		return nil, err
	}
	o, err := OpeningOf(ctx, f.store, &g, key.format)
	if err != nil {
		return nil, err
	}
	h := &fleetHost{docket: key.docket, configs: map[bookKey]*configured{}}
	o.Answered = key.answered
	if key.docket != 0 {
		if h.laboratory, err = f.openLaboratory(ctx, key); err != nil {
			return nil, err
		}
		o.Experiments = h.laboratory
	}
	if h.host, err = f.open(ctx, o); err != nil {
		return nil, errors.Join(err, h.close())
	}
	return h, nil
}

func (h *fleetHost) close() (err error) {
	if h.host != nil {
		err = h.host.Close(context.Background())
	}
	if h.laboratory != nil {
		err = errors.Join(err, h.laboratory.Close())
	}
	return err
}

// mostIdle is how many things stay open on a shelf that nobody uses: a swap opens a host beside those of dockets that are pinned.
const mostIdle = 4

// shelf keeps open what is costly to open. What nobody uses is closed but for those that were used last. It is safe for concurrent use.
type shelf[K comparable, V any] struct {
	openOne func(ctx context.Context, key K) (V, error)
	close   func(V) error

	mu     sync.Mutex
	items  map[K]*item[V]
	clock  int64
	closed bool
}

// item is open, or being opened.
type item[V any] struct {
	open  func() (V, error) // opens it once
	value V                 // when it is open
	err   error
	users int
	used  int64 // the shelf's clock when it was last used
}

var errClosed = errors.New("the worker is stopping")

// get gives what a key names, opened if need be. The caller calls release once.
func (s *shelf[K, V]) get(ctx context.Context, key K) (v V, release func(), err error) {
	s.mu.Lock()
	if s.closed {
		s.mu.Unlock()
		return v, nil, errClosed
	}
	i := s.items[key]
	if i == nil {
		i = &item[V]{open: sync.OnceValues(func() (V, error) { return s.openOne(ctx, key) })}
		if s.items == nil {
			s.items = map[K]*item[V]{}
		}
		s.items[key] = i
	}
	i.users++
	s.mu.Unlock()
	v, err = i.open()
	s.mu.Lock()
	i.value, i.err = v, err
	s.mu.Unlock()
	if release = func() { s.release(key, i) }; err != nil {
		release()
	}
	return v, release, err
}

// release gives an item back. One that could not be opened is forgotten, to be tried again.
func (s *shelf[K, V]) release(key K, i *item[V]) {
	s.mu.Lock()
	i.users--
	s.clock++
	i.used = s.clock
	if i.err != nil && s.items[key] == i {
		delete(s.items, key)
	}
	old := s.take(mostIdle, func(K) bool { return true })
	s.mu.Unlock()
	_ = s.closeAll(old) // what they leave in temporary folders is removed later
}

// take takes those that nobody uses, and that are asked for, off the shelf, until at most so many of them are left. The caller has the lock.
func (s *shelf[K, V]) take(most int, asked func(K) bool) (old []V) {
	keys := slices.DeleteFunc(slices.Collect(maps.Keys(s.items)), func(key K) bool { return s.items[key].users > 0 || !asked(key) })
	slices.SortFunc(keys, func(a, b K) int { return int(s.items[a].used - s.items[b].used) })
	for _, key := range keys[:max(len(keys)-most, 0)] {
		old = append(old, s.items[key].value)
		delete(s.items, key)
	}
	return old
}

func (s *shelf[K, V]) closeAll(list []V) (err error) {
	for _, v := range list {
		err = errors.Join(err, s.close(v))
	}
	return err
}

// keys are those of all that is open.
func (s *shelf[K, V]) keys() []K {
	s.mu.Lock()
	defer s.mu.Unlock()
	return slices.Collect(maps.Keys(s.items))
}

// drop closes one that nobody uses.
func (s *shelf[K, V]) drop(key K) error {
	s.mu.Lock()
	old := s.take(0, func(k K) bool { return k == key })
	s.mu.Unlock()
	return s.closeAll(old)
}

// end closes those that nobody uses; there are no others when the worker has stopped.
func (s *shelf[K, V]) end() error {
	s.mu.Lock()
	s.closed = true
	old := s.take(0, func(K) bool { return true })
	s.mu.Unlock()
	return s.closeAll(old)
}

// Laboratories run experiments for the dockets of one repository.
type Laboratories struct {
	Repository string
	// Open opens one for a docket that names a revision, which may be any text.
	Open func(ctx context.Context, revision string) (Laboratory, error)
}

// Laboratory runs the experiments of a docket, and has a budget for them.
type Laboratory interface {
	host.Experiments
	// Close is called when no trial of the docket goes on. The docket's next case opens another one.
	Close() error
}

// serves says whether a docket may run experiments.
func (l *Laboratories) serves(d *store.Docket) bool {
	return l != nil && d.Repository == l.Repository && d.Revision != ""
}

// key is that of the host for a case.
func (f *fleet) key(c *store.Claim) hostKey {
	key := hostKey{generation: c.Generation, format: c.Docket.Format, answered: c.Docket.Answered}
	if f.laboratories.serves(&c.Docket) {
		key.docket, key.revision = c.Docket.ID, c.Docket.Revision
	}
	return key
}

func (f *fleet) openLaboratory(ctx context.Context, key hostKey) (Laboratory, error) {
	l, err := f.laboratories.Open(ctx, key.revision)
	if err != nil {
		return nil, fmt.Errorf("open a laboratory: %w", err)
	}
	if why := l.Why(nil); why != "" {
		f.logger.WarnContext(ctx, "not all experiments can be run", "docket", key.docket, "reason", why)
	}
	return l, nil
}

// closeEnded closes the laboratories of dockets that have ended, with what they wrote.
func (f *fleet) closeEnded(ctx context.Context) (err error) {
	for _, key := range f.keys() {
		if key.docket == 0 {
			continue
		}
		d, read := f.store.Docket(ctx, key.docket)
		if errors.Is(read, store.ErrNotFound) || read == nil && d.State.Ended() {
			_ = f.drop(key) // what it leaves in its temporary folder is removed later
			continue
		}
		err = errors.Join(err, read)
	}
	return err
}

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

// Blobs gives modules and files by their digests: a *store.Store, or what is to be added to one.
type Blobs interface {
	Blob(ctx context.Context, digest string) ([]byte, error)
}

// OpeningOf reads what a host of a generation is opened on, which need not be in the store yet, but its modules and files must be.
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
