package host

import "context"

// Follow is [Host.Follow] for the modules of collectors and judges: an audit
// keeps those that it began with. Watch.Modules has all NAME.wasm files that
// pipeline and rubric name.
func (a *Auditor) Follow(ctx context.Context, w Watch) { follow(ctx, a, w) }

// modules names the modules of collectors and judges.
func (a *Auditor) modules() []string {
	want := a.needs()
	names := make([]string, len(want))
	for i := range want {
		names[i] = want[i].Module
	}
	return names
}

// replace makes files the current modules, or rejects them all.
func (a *Auditor) replace(ctx context.Context, files map[string][]byte) error {
	if err := a.host.keepModules(files); err != nil {
		return err
	}
	return a.host.registry.Install(ctx, files, a.needs(), nil)
}
