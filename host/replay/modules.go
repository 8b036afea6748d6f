package replay

import (
	"context"
	"errors"
	"fmt"
	"io/fs"
	"slices"
	"strings"
	"sync"

	"github.com/shadowcourt/shadowcourt/host/internal/court"
	"github.com/shadowcourt/shadowcourt/host/internal/court/registry"
	"github.com/shadowcourt/shadowcourt/host/internal/sandbox"
	"github.com/shadowcourt/shadowcourt/host/record"
)

// keptGenerations is how many sets of modules are kept ready beside those that
// trials are using: the current one, and the one before it for workers that are
// behind.
const keptGenerations = 2

// modules are those that trials of a record had, on one runtime. Modules that
// two generations share are loaded once; a set that is neither used nor one of the
// last few is closed. It is safe for concurrent use.
type modules struct {
	runtime *court.Runtime
	find    func(record.Digest) (sandbox.File, error)

	mu   sync.Mutex
	kept []keptGeneration // the one that was used last is the last
}

type keptGeneration struct {
	key        string
	generation *registry.Generation
}

// take gives the modules of a trial, to be released once. The error may be a
// *MissingModulesError, or has every fault of modules that were rejected.
func (s *modules) take(ctx context.Context, parts []record.Part) (*registry.Generation, error) {
	names := s.runtime.ModuleNames()
	needed := make([]record.Part, 0, len(names))
	for _, m := range parts {
		if slices.Contains(names, m.Name) {
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
func (s *modules) ready(ctx context.Context, key string, modules []record.Part) (keptGeneration, error) {
	if i := slices.IndexFunc(s.kept, func(k keptGeneration) bool { return k.key == key }); i >= 0 {
		one := s.kept[i]
		s.kept = slices.Delete(s.kept, i, i+1)
		return one, nil
	}
	files, err := s.files(modules)
	if err == nil {
		err = s.runtime.Install(ctx, files)
	}
	if err != nil {
		return keptGeneration{}, err
	}
	generation, err := s.runtime.Acquire()
	return keptGeneration{key, generation}, err
}

// files finds modules; those that are nowhere are a *MissingModulesError.
func (s *modules) files(modules []record.Part) (map[string]sandbox.File, error) {
	files := make(map[string]sandbox.File, len(modules))
	var missing []record.Part
	for _, m := range modules {
		file, err := s.find(m.Digest)
		switch {
		case errors.Is(err, fs.ErrNotExist):
			missing = append(missing, m)
		case err != nil:
			return nil, fmt.Errorf("module %q: %w", m.Name, err)
		}
		files[m.Name] = file
	}
	if len(missing) > 0 {
		return nil, &MissingModulesError{missing}
	}
	return files, nil
}

// close frees everything, once the trials that are going on have ended.
func (s *modules) close(ctx context.Context) error {
	s.mu.Lock()
	defer s.mu.Unlock()
	var errs []error
	for _, k := range s.kept {
		errs = append(errs, k.generation.Release(ctx))
	}
	s.kept = nil
	return errors.Join(append(errs, s.runtime.Close(ctx))...)
}

// openCourt opens the court and its sandbox at the first call.
func (r *Replayer) openCourt(ctx context.Context) (*court.Court, *modules, error) {
	r.mu.Lock()
	defer r.mu.Unlock()
	if r.court == nil {
		c, err := court.Open(ctx, r.trials)
		if err != nil {
			return nil, nil, err
		}
		r.court, r.courtModules = c, &modules{runtime: c.Runtime, find: r.find}
	}
	return r.court, r.courtModules, nil
}

// openAudit opens the audit and its sandbox at the first call.
func (r *Replayer) openAudit(ctx context.Context) (*court.Audit, *modules, error) {
	r.mu.Lock()
	defer r.mu.Unlock()
	if r.audit == nil {
		a, err := court.OpenAudit(ctx, r.audits)
		if err != nil {
			return nil, nil, err
		}
		r.audit, r.auditModules = a, &modules{runtime: a.Runtime, find: r.find}
	}
	return r.audit, r.auditModules, nil
}

// Loaded tells how many modules are loaded, for trials and for audits.
func (r *Replayer) Loaded() (trials, audits int) {
	r.mu.Lock()
	defer r.mu.Unlock()
	if r.court != nil {
		trials = r.court.Loaded()
	}
	if r.audit != nil {
		audits = r.audit.Loaded()
	}
	return trials, audits
}

// Close frees everything.
func (r *Replayer) Close(ctx context.Context) error {
	r.mu.Lock()
	defer r.mu.Unlock()
	var errs []error
	for _, m := range []*modules{r.courtModules, r.auditModules} {
		if m != nil {
			errs = append(errs, m.close(ctx))
		}
	}
	return errors.Join(errs...)
}
