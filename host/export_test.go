package host

import (
	"context"
	"errors"
	"io/fs"
	"time"

	"github.com/shadowcourt/shadowcourt/host/internal/court"
)

// Looker gives what Follow of a Host does at a tick.
func Looker(h *Host, w Watch) func(context.Context) {
	return newFollower(context.Background(), h.court.Runtime, w).look
}

// AuditLooker is Looker for an Auditor.
func AuditLooker(a *Auditor, w Watch) func(context.Context) {
	return newFollower(context.Background(), a.audit.Runtime, w).look
}

// WithCallClock has the time of single calls measured with a clock of a test.
func WithCallClock(config Config, now func() time.Time) Config {
	config.callClock = now
	return config
}

// WithAuditCallClock is WithCallClock for audits.
func WithAuditCallClock(config AuditConfig, now func() time.Time) AuditConfig {
	config.callClock = now
	return config
}

// ReadModules reads modules as Open does, without waiting in between.
func ReadModules(fsys fs.FS, names ...string) (map[string][]byte, error) {
	files, err := court.ReadModules(context.Background(), fsys, names, func(ctx context.Context, _ time.Duration) error { return ctx.Err() })
	modules := make(map[string][]byte, len(files))
	for name, file := range files {
		wasm, fault := file.Bytes()
		modules[name], err = wasm, errors.Join(err, fault)
	}
	return modules, err
}

// Arranged has the branches of every audit merged in an order of the test's own.
func Arranged(config AuditConfig, arrange func(n int) []int) AuditConfig {
	config.arrange = arrange
	return config
}
