package open

import (
	"cmp"
	"context"
	"errors"
	"time"

	"github.com/shadowcourt/shadowcourt/cmd/shadowcourt/internal/cli"
	"github.com/shadowcourt/shadowcourt/host"
	"github.com/shadowcourt/shadowcourt/host/record"
	"github.com/shadowcourt/shadowcourt/host/trial"
)

// AuditorFlags are those by which an Auditor is opened.
type AuditorFlags struct {
	Trust                                   *Trust
	Rubric, Pipeline, Modules, Cache, Store string
	// Beside is the file beside which the lock file stands. Default: the pipeline, or the rubric where that is a shipped one.
	Beside string
}

// Auditor opens an Auditor. Errors that are the command line's fault say so.
func Auditor(ctx context.Context, s cli.Streams, f AuditorFlags) (*host.Auditor, error) {
	config := host.AuditConfig{Now: time.Now}
	var faults []error
	var err error
	if config.Rubric, err = Rubric(f.Rubric); err != nil {
		faults = append(faults, err)
	}
	if config.Pipeline, err = Pipeline(f.Pipeline); err != nil {
		faults = append(faults, err)
	}
	if f.Modules != "" {
		own, err := Modules(f.Modules)
		if err != nil {
			faults = append(faults, err)
		}
		if config.Modules, err = WithEmbedded(own); err != nil {
			return nil, err
		}
	}
	if len(faults) > 0 {
		return nil, cli.InputError(errors.Join(faults...))
	}
	beside := cmp.Or(f.Beside, f.Pipeline)
	if IsShipped(beside) {
		beside = f.Rubric
	}
	fetched, err := f.Trust.Fetch(ctx, beside, config.Modules, config.Rubric, config.Pipeline)
	if err != nil {
		return nil, err
	}
	config.Modules, config.Signed = fetched.Modules, fetched.Signed
	if f.Cache != "none" {
		config.CacheDir = f.Cache
	}
	if f.Store != "" {
		config.Store = record.OpenStore(f.Store)
	}
	var a *host.Auditor
	err = Cached(s.Err, f.Cache, &config.CacheDir, func() (err error) {
		a, err = host.OpenAuditor(ctx, config)
		return err
	})
	if err != nil {
		return nil, AuditorError(err, f.Modules)
	}
	if err := a.Probe(ctx); err != nil {
		_ = a.Close(context.WithoutCancel(ctx))
		if ctx.Err() != nil {
			return nil, err
		}
		return nil, cli.InputError(err)
	}
	return a, nil
}

// AuditorError says whose fault it is that an Auditor did not take modules.
func AuditorError(err error, modules string) error {
	from := "embedded modules"
	if modules != "" {
		from = "--modules " + modules + " and embedded"
	}
	_, _, err = rejected(err, from)
	return cli.InputError(err)
}

// What `audit --fail-on` matches.
const (
	failSecurity = "security"
	failDegraded = "degraded"
)

// AuditFailures are the words of `audit --fail-on`.
var AuditFailures = []string{failSecurity, failDegraded} //nolint:gochecknoglobals // constant

// AuditFails says whether an audit is one of AuditFailures.
func AuditFails(a *trial.Audit, word string) bool {
	return word == failSecurity && a.SecurityViolationFound || word == failDegraded && a.Degraded
}
