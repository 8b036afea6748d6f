// Package replay tries recorded trials again: the same modules, configuration and answers give the same bytes, or the first difference.
package replay

import (
	"context"
	"errors"
	"fmt"
	"io/fs"
	"iter"
	"math"
	"slices"
	"strings"
	"sync"
	"time"

	"github.com/shadowcourt/shadowcourt/abi"
	"github.com/shadowcourt/shadowcourt/abi/codec"
	"github.com/shadowcourt/shadowcourt/host/audit"
	"github.com/shadowcourt/shadowcourt/host/bundle"
	"github.com/shadowcourt/shadowcourt/host/internal/court"
	"github.com/shadowcourt/shadowcourt/host/internal/court/registry"
	"github.com/shadowcourt/shadowcourt/host/internal/sandbox"
	"github.com/shadowcourt/shadowcourt/host/pipeline"
	"github.com/shadowcourt/shadowcourt/host/record"
	"github.com/shadowcourt/shadowcourt/host/rules"
	"github.com/shadowcourt/shadowcourt/host/trial"
)

// Config says where a Replayer finds modules. The zero value looks into this program alone.
type Config struct {
	// Store has modules beside those embedded in this program. Optional.
	Store *record.Store
	// CacheDir keeps compiled modules between runs; it must be the user's own. Default: none.
	CacheDir string
	// Now is the clock of Timings. Default: time.Now.
	Now func() time.Time
}

// Replayer replays the trials of a record, with the modules and the configuration of the record. What depends on the
// moment is taken from it: when the time of a trial was over, which calls the host's own side or the wall clock ended,
// what capabilities and a Light outside of the court answered. It is safe for concurrent use; the caller closes it.
type Replayer struct {
	header *record.Header
	trials court.Config
	audits court.AuditConfig
	find   func(record.Digest) (sandbox.File, error)

	// The court and the audit of the record, with the modules that trials and audits had; nil until they are needed.
	mu                         sync.Mutex
	court                      *court.Court
	audit                      *court.Audit
	courtModules, auditModules *modules
}

// ErrNoCase: the record does not hold the case, which has to be given.
var ErrNoCase = errors.New("the record does not hold the case")

// ErrOtherCase: the case that was given is not the one that was tried.
var ErrOtherCase = errors.New("the case is not the one that was tried")

// ErrNoAnswers: a record that holds only digests has no answers of capabilities, or of a Light outside of the court.
var ErrNoAnswers = errors.New("the record does not hold what was answered in this trial")

// MissingModulesError names the modules of a record that are nowhere to be found.
type MissingModulesError struct{ Modules []record.Part }

// Error names modules and digests.
func (e *MissingModulesError) Error() string {
	list := make([]string, len(e.Modules))
	for i, m := range e.Modules {
		list[i] = m.Name + " " + string(m.Digest)
	}
	return "neither embedded nor in the store: " + strings.Join(list, ", ")
}

// Open makes a Replayer for the trials behind a header.
func Open(header *record.Header, config Config) (*Replayer, error) {
	r := &Replayer{header: header}
	if err := r.configure(&config); err != nil {
		return nil, fmt.Errorf("the header of the record: %w", err)
	}
	embedded := sync.OnceValues(embeddedByDigest)
	r.find = func(d record.Digest) (sandbox.File, error) {
		if config.Store != nil {
			wasm, err := config.Store.Get(d)
			if !errors.Is(err, fs.ErrNotExist) {
				return sandbox.Bytes(wasm), err
			}
		}
		byDigest, err := embedded()
		if err != nil && !errors.Is(err, bundle.ErrNotBuilt) {
			return nil, err
		}
		if file, ok := byDigest[d]; ok {
			return file, nil
		}
		return nil, fs.ErrNotExist
	}
	return r, nil
}

// configure reads the configuration from the header. Time is not limited: the record says when it was over.
func (r *Replayer) configure(config *Config) error {
	h := r.header
	now := config.Now
	if now == nil {
		now = time.Now //nolint:forbidigo // the default of an injected clock
	}
	r.trials = court.Config{
		Sandbox:  court.Sandbox{CacheDir: config.CacheDir, CallLimits: timeless(&h.Limits)},
		Services: court.Services{Now: now}, Reclassify: h.Reclassified && h.LightPath == "", Unprepared: !h.Prepared,
	}
	var err error
	if r.trials.Pipeline, err = pipeline.Parse("pipeline", []byte(h.Pipeline)); err != nil {
		return err
	}
	if h.LightPath != "" {
		if r.trials.LightPath, err = pipeline.Parse("light_path", []byte(h.LightPath)); err != nil {
			return err
		}
	}
	if h.Rules != "" {
		def, err := pipeline.Parse("rules", []byte(h.Rules))
		if err == nil {
			r.trials.Rules, err = rules.Of(def)
		}
		if err != nil {
			return err
		}
	}
	limits, err := codec.DecodeCourtConfig(h.Court, len(h.Court))
	if err != nil {
		return fmt.Errorf("court: %w", err)
	}
	r.trials.Limits = func(c *pipeline.Court) { *c = recorded(&limits) }
	if len(h.Profile) > 0 {
		profile, err := codec.DecodeProfile(h.Profile, len(h.Profile))
		if err != nil {
			return fmt.Errorf("profile: %w", err)
		}
		r.trials.Profile = &profile
	}
	if h.ExternalLight {
		r.trials.Light = court.RecordedLight{}
	}
	return r.configureAudits()
}

// recorded are the limits of a recorded court, but for that of time.
func recorded(c *abi.CourtConfig) pipeline.Court {
	return pipeline.Court{
		Enabled: c.Enabled, TTL: endless, MaxHandoffs: c.MaxHandoffs, MaxRemands: c.MaxRemands,
		ActivationThreshold: c.ActivationThreshold, RejectionThreshold: c.RejectionThreshold, MaxRounds: c.MaxRounds,
	}
}

// endless is the time that trials and calls have, in nanoseconds: more than anybody waits.
const endless = math.MaxInt64 / 4

// timeless are recorded limits without that of time.
func timeless(l *record.CallLimits) sandbox.Limits {
	return sandbox.Limits{MemoryBytes: l.MemoryBytes, WallClock: endless, OutputBytes: l.OutputBytes, InputBytes: l.InputBytes, Fuel: l.Fuel}
}

func embeddedByDigest() (map[record.Digest]sandbox.File, error) {
	modules, err := court.Embedded()
	if err != nil {
		return nil, err
	}
	byDigest := make(map[record.Digest]sandbox.File, len(modules))
	for _, file := range modules {
		info, err := file.Inspect()
		if err != nil {
			return nil, err
		}
		byDigest[record.Digest(info.Digest.String())] = file
	}
	return byDigest, nil
}

// SameMetering says whether this program meters fuel as the one did that wrote the record. If not, every figure of fuel differs.
func (r *Replayer) SameMetering() bool { return r.header.Instrumentation == sandbox.Instrumentation }

// Replay tries a recorded trial again and gives what came of it, with a record that is to be compared with the one given: [record.Compare].
// The case is subject, which has to be the one that was tried; nil takes that of the record. A verdict that was audited is audited again.
// Errors are ErrNoCase, ErrOtherCase, ErrNoAnswers, a *MissingModulesError, and those of opening and trying.
func (r *Replayer) Replay(ctx context.Context, recorded *record.Trial, subject *abi.Case) (*trial.Trial, *record.Trial, error) {
	if err := ctx.Err(); err != nil {
		return nil, nil, context.Cause(ctx)
	}
	own, err := r.subject(recorded, subject)
	if err != nil {
		return nil, nil, err
	}
	if err := answered(recorded); err != nil {
		return nil, nil, err
	}
	c, modules, err := r.openCourt(ctx)
	if err != nil {
		return nil, nil, err
	}
	generation, err := modules.take(ctx, recorded.Modules)
	if err != nil {
		return nil, nil, err
	}
	defer func() { _ = generation.Release(context.WithoutCancel(ctx)) }()
	out, err := c.Try(ctx, *own, court.Options{Modules: generation, Recorder: court.NewReplay(r.header.Contents, recorded)})
	if err != nil {
		return nil, nil, err
	}
	t, again := out.Trial, out.Record
	again.Generation = recorded.Generation
	if again.Case != recorded.Case {
		return nil, nil, ErrOtherCase
	}
	if err := r.auditAgain(ctx, recorded, t, again); err != nil {
		return nil, nil, err
	}
	return t, again, nil
}

// subject is the case of a trial.
func (r *Replayer) subject(recorded *record.Trial, given *abi.Case) (*abi.Case, error) {
	if given != nil {
		return given, nil
	}
	message, ok := recorded.Content(recorded.Case)
	if !ok {
		return nil, ErrNoCase
	}
	subject, err := codec.DecodeCase(message, len(message))
	return &subject, err
}

// answered says whether all answers are there that the trial depended on.
func answered(t *record.Trial) error {
	var digests []record.Digest
	for i := range t.Events {
		if l := t.Events[i].Light; l != nil && l.Failure == nil {
			digests = append(digests, l.Answer)
		}
	}
	calls := t.Calls()
	if t.Audit != nil {
		calls = append(calls, t.Audit.Calls()...)
	}
	for _, c := range calls {
		for _, u := range c.Uses {
			if u.Answer != record.DigestOf(nil) {
				digests = append(digests, u.Answer)
			}
		}
	}
	for _, d := range digests {
		if _, ok := t.Content(d); !ok {
			return ErrNoAnswers
		}
	}
	return nil
}

// configureAudits reads what audits depend on from the header, if there are any. Time is not limited: the record says which calls it ended.
func (r *Replayer) configureAudits() error {
	h := r.header.Audit
	if h == nil {
		return nil
	}
	r.audits.Sandbox = court.Sandbox{CacheDir: r.trials.CacheDir, CallLimits: timeless(&h.Limits)}
	r.audits.Now = r.trials.Now
	var err error
	if r.audits.Pipeline, err = pipeline.Parse("audit.pipeline", []byte(h.Pipeline)); err != nil {
		return err
	}
	r.audits.Pipeline.Court.TTL = endless
	if r.audits.Rubric, err = audit.Parse("audit.rubric", []byte(h.Rubric)); err != nil {
		return err
	}
	return nil
}

// auditAgain audits the opinion of a verdict again, if it was audited, and puts the audit beside the trial. A trial
// that goes another way has another opinion, which nobody has audited.
func (r *Replayer) auditAgain(ctx context.Context, recorded *record.Trial, t *trial.Trial, again *record.Trial) error {
	if recorded.Audit == nil || recorded.ResultDigest != again.ResultDigest {
		return nil
	}
	a, modules, err := r.openAudit(ctx)
	if err != nil {
		return fmt.Errorf("the audit: %w", err)
	}
	generation, err := modules.take(ctx, recorded.Audit.Modules)
	if err != nil {
		return fmt.Errorf("the audit: %w", err)
	}
	defer func() { _ = generation.Release(context.WithoutCancel(ctx)) }()
	recorder := court.NewAuditReplay(r.header.Contents, recorded)
	if err := a.AuditTrial(ctx, generation, t, recorded.Audit.Court, again, recorder); err != nil {
		return err
	}
	if again.Audit != nil { // without a verdict there is none
		again.Audit.Generation = recorded.Audit.Generation
	}
	return nil
}

// Replayed is what came of the replay of a recorded trial.
type Replayed struct {
	Was *record.Trial
	// Trial is nil with an Err.
	Trial *trial.Trial
	// Difference is nil where the same bytes came.
	Difference *record.Difference
	Err        error
}

// All replays trials with a number of workers (0: one for each processor) and returns them in their order. subject
// gives the case of an id, or nil for that of the record; it may be nil itself. An error of trials ends the sequence:
// it is given in a Replayed without Was. When the context ends, or the caller stops, no further trial is begun.
func (r *Replayer) All(ctx context.Context, trials iter.Seq2[*record.Trial, error], subject func(id string) *abi.Case, workers int) iter.Seq[Replayed] {
	read := func(yield func(Replayed) bool) {
		for was, err := range trials {
			if !yield(Replayed{Was: was, Err: err}) || err != nil {
				return
			}
		}
	}
	try := func(ctx context.Context, t Replayed) Replayed {
		if t.Err == nil {
			r.one(ctx, &t, subject)
		}
		return t
	}
	return func(yield func(Replayed) bool) {
		for replayed := range court.Ordered(ctx, read, workers, try) {
			if ctx.Err() != nil || !yield(replayed) {
				return
			}
		}
	}
}

func (r *Replayer) one(ctx context.Context, replayed *Replayed, subject func(id string) *abi.Case) {
	var given *abi.Case
	if subject != nil {
		given = subject(replayed.Was.ID)
	}
	var is *record.Trial
	replayed.Trial, is, replayed.Err = r.Replay(ctx, replayed.Was, given)
	if replayed.Err == nil && ctx.Err() == nil { // nobody waits for it otherwise
		replayed.Difference, replayed.Err = record.Compare(replayed.Was, is)
	}
}

// modules are those that trials of a record had, on one runtime. Those of the last trial are kept ready, and those of two trials that are the
// same are loaded once. It is safe for concurrent use.
type modules struct {
	runtime *court.Runtime
	find    func(record.Digest) (sandbox.File, error)

	mu         sync.Mutex
	parts      []record.Part
	generation *registry.Generation // of the parts; nil before the first
}

// take gives the modules of a trial, to be released once. The error may be a
// *MissingModulesError, or has every fault of modules that were rejected.
func (s *modules) take(ctx context.Context, parts []record.Part) (*registry.Generation, error) {
	names := s.runtime.ModuleNames()
	needed := slices.DeleteFunc(slices.Clone(parts), func(m record.Part) bool { return !slices.Contains(names, m.Name) })
	s.mu.Lock()
	defer s.mu.Unlock()
	if s.generation == nil || !slices.Equal(s.parts, needed) {
		if err := s.load(ctx, needed); err != nil {
			return nil, err
		}
	}
	s.generation.Share()
	return s.generation, nil
}

// load loads modules in place of those before.
func (s *modules) load(ctx context.Context, needed []record.Part) error {
	files, err := s.files(needed)
	if err == nil {
		err = s.runtime.Install(ctx, files)
	}
	if err != nil {
		return err
	}
	before := s.generation
	next, err := s.runtime.Acquire()
	if err != nil {
		return err
	}
	s.generation, s.parts = next, needed
	if before == nil {
		return nil
	}
	return before.Release(context.WithoutCancel(ctx))
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
	var err error
	if s.generation != nil {
		err = s.generation.Release(ctx)
		s.generation = nil
	}
	return errors.Join(err, s.runtime.Close(ctx))
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
