package host

// Arranged has the branches of every audit merged in an order of the test's own.
func Arranged(config AuditConfig, arrange func(n int) []int) AuditConfig {
	config.arrange = arrange
	return config
}

// Loaded says how many modules a Replayer has loaded, of courts and of audits.
func Loaded(r *Replayer) (courts, audits int) {
	r.mu.Lock()
	defer r.mu.Unlock()
	if r.courts != nil {
		courts = r.courts.host.engine.Loaded()
	}
	if r.judges != nil {
		audits = r.judges.host.engine.Loaded()
	}
	return courts, audits
}
