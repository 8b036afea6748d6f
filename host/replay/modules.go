package replay

import (
	"context"
	"errors"
	"fmt"
	"io/fs"
	"slices"
	"strings"
	"sync"

	"github.com/shadowcourt/shadowcourt/host/internal/runner"
	"github.com/shadowcourt/shadowcourt/host/internal/runtime"
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
	runtime *runtime.Runtime
	user    installer
	find    func(record.Digest) (sandbox.File, error)

	mu   sync.Mutex
	kept []keptGeneration // the one that was used last is the last
}

// installer is a court or an audit.
type installer interface {
	Modules() []string
	Install(ctx context.Context, r *runtime.Runtime, files map[string]sandbox.File) error
}

type keptGeneration struct {
	key        string
	generation *runtime.Generation
}

// take gives the modules of a trial, to be released once. The error may be a
// *MissingModulesError, or has every fault of modules that were rejected.
func (s *modules) take(ctx context.Context, parts []record.Part) (*runtime.Generation, error) {
	names := s.user.Modules()
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
		err = s.user.Install(ctx, s.runtime, files)
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

// openCourt prepares the court, and opens its sandbox, at the first call.
func (r *Replayer) openCourt(ctx context.Context) (*court, error) {
	r.mu.Lock()
	defer r.mu.Unlock()
	if r.court != nil {
		return r.court, nil
	}
	c, err := runner.NewCourt(r.trials)
	if err != nil {
		return nil, err
	}
	own, err := runtime.Open(ctx, r.trialRuntime)
	if err != nil {
		return nil, err
	}
	r.court = &court{c, &modules{runtime: own, user: c, find: r.find}}
	return r.court, nil
}

// openAudit prepares the audit, and opens its sandbox, at the first call.
func (r *Replayer) openAudit(ctx context.Context) (*auditor, error) {
	r.mu.Lock()
	defer r.mu.Unlock()
	if r.audit != nil {
		return r.audit, nil
	}
	a, err := runner.NewAudit(r.audits)
	if err != nil {
		return nil, err
	}
	own, err := runtime.Open(ctx, r.auditRuntime)
	if err != nil {
		return nil, err
	}
	r.audit = &auditor{a, &modules{runtime: own, user: a, find: r.find}}
	return r.audit, nil
}

// Loaded tells how many modules are loaded, for trials and for audits.
func (r *Replayer) Loaded() (trials, audits int) {
	r.mu.Lock()
	defer r.mu.Unlock()
	if r.court != nil {
		trials = r.court.runtime.Loaded()
	}
	if r.audit != nil {
		audits = r.audit.runtime.Loaded()
	}
	return trials, audits
}

// Close frees everything.
func (r *Replayer) Close(ctx context.Context) error {
	r.mu.Lock()
	defer r.mu.Unlock()
	var errs []error
	if r.court != nil {
		errs = append(errs, r.court.close(ctx))
	}
	if r.audit != nil {
		errs = append(errs, r.audit.close(ctx))
	}
	return errors.Join(errs...)
}
