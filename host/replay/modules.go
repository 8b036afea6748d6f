package replay

import (
	"context"
	"errors"
	"fmt"
	"io/fs"
	"slices"
	"strings"
	"sync"

	"github.com/shadowcourt/shadowcourt/host/internal/runtime/registry"
	"github.com/shadowcourt/shadowcourt/host/record"
)

// keptGenerations is how many sets of modules are kept ready beside those that
// trials are using: the current one, and the one before it for workers that are
// behind.
const keptGenerations = 2

// shelf has the modules that trials of a record had, for one host. Those that
// two generations share are loaded once; a set that is neither used nor one of the
// last few is let go. It is safe for concurrent use.
type shelf struct {
	host    *Host
	needed  []string // names of modules
	install func(ctx context.Context, files map[string][]byte) error
	find    func(record.Digest) ([]byte, error)

	mu   sync.Mutex
	kept []keptGeneration // the one that was used last is the last
}

type keptGeneration struct {
	key        string
	generation *registry.Generation
}

// take gives the modules of a trial, to be released once. The error may be a
// *MissingModulesError or a *RefusedError.
func (s *shelf) take(ctx context.Context, modules []record.Part) (*registry.Generation, error) {
	needed := make([]record.Part, 0, len(s.needed))
	for _, m := range modules {
		if slices.Contains(s.needed, m.Name) {
			needed = append(needed, m)
		}
	}
	var key strings.Builder
	for _, m := range needed {
		key.WriteString(m.Name + " " + string(m.Digest) + "\n")
	}
	s.mu.Lock()
	defer s.mu.Unlock()
	one, err := s.ready(ctx, key.String(), needed)
	if err != nil {
		return nil, err
	}
	one.generation.Share()
	s.kept = append(s.kept, one)
	if len(s.kept) > keptGenerations {
		err = s.kept[0].generation.Release(context.WithoutCancel(ctx))
		s.kept = slices.Delete(s.kept, 0, 1)
	}
	if err != nil {
		return nil, errors.Join(err, one.generation.Release(context.WithoutCancel(ctx)))
	}
	return one.generation, nil
}

// ready takes a set out of those that are kept, or loads it.
func (s *shelf) ready(ctx context.Context, key string, modules []record.Part) (keptGeneration, error) {
	if i := slices.IndexFunc(s.kept, func(k keptGeneration) bool { return k.key == key }); i >= 0 {
		one := s.kept[i]
		s.kept = slices.Delete(s.kept, i, i+1)
		return one, nil
	}
	files, err := s.files(modules)
	if err == nil {
		err = s.install(ctx, files)
	}
	if err != nil {
		return keptGeneration{}, err
	}
	generation, err := s.host.registry.Acquire()
	return keptGeneration{key, generation}, err
}

// files finds modules; those that are nowhere are a *MissingModulesError.
func (s *shelf) files(modules []record.Part) (map[string][]byte, error) {
	files := make(map[string][]byte, len(modules))
	var missing []record.Part
	for _, m := range modules {
		wasm, err := s.find(m.Digest)
		switch {
		case errors.Is(err, fs.ErrNotExist):
			missing = append(missing, m)
		case err != nil:
			return nil, fmt.Errorf("module %q: %w", m.Name, err)
		}
		files[m.Name] = wasm
	}
	if len(missing) > 0 {
		return nil, &MissingModulesError{missing}
	}
	return files, nil
}

// close lets go of everything, once the trials that are going on have ended.
func (s *shelf) close(ctx context.Context) error {
	s.mu.Lock()
	defer s.mu.Unlock()
	var errs []error
	for _, k := range s.kept {
		errs = append(errs, k.generation.Release(ctx))
	}
	s.kept = nil
	return errors.Join(append(errs, s.host.Close(ctx))...)
}

// court gives the modules of the court, and opens the sandbox for them the first time.
func (r *Replayer) court(ctx context.Context) (*shelf, error) {
	r.mu.Lock()
	defer r.mu.Unlock()
	if r.courts != nil {
		return r.courts, nil
	}
	h, err := prepared(r.config)
	if err == nil {
		err = h.openSandbox(ctx)
	}
	if err != nil {
		return nil, err
	}
	r.courts = &shelf{host: h, needed: h.modules(), install: h.replace, find: r.find}
	return r.courts, nil
}

// auditor gives the one who audits again, and the modules of collectors and judges.
func (r *Replayer) auditor(ctx context.Context) (*Auditor, *shelf, error) {
	r.mu.Lock()
	defer r.mu.Unlock()
	if r.audited != nil {
		return r.audited, r.judges, nil
	}
	a, err := preparedAuditor(r.audits)
	if err == nil {
		err = a.host.openSandbox(ctx)
	}
	if err != nil {
		return nil, nil, err
	}
	r.audited, r.judges = a, &shelf{host: a.host, needed: a.modules(), install: a.replace, find: r.find}
	return r.audited, r.judges, nil
}

// Close frees everything.
func (r *Replayer) Close(ctx context.Context) error {
	r.mu.Lock()
	defer r.mu.Unlock()
	var errs []error
	for _, s := range []*shelf{r.courts, r.judges} {
		if s != nil {
			errs = append(errs, s.close(ctx))
		}
	}
	return errors.Join(errs...)
}
