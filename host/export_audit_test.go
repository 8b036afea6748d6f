package host

// Arranged has the branches of every audit merged in an order of the test's own.
func Arranged(config AuditConfig, arrange func(n int) []int) AuditConfig {
	config.arrange = arrange
	return config
}
