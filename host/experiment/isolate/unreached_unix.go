//go:build linux || darwin

package isolate

import (
	"os"
	"strings"
)

// unreached says whether something in this process's network namespace tried to connect to what is not there: by the kernel's counters of
// failed connections, of packets without a route, and of datagrams to ports without a listener.
func unreached() bool {
	data, err := os.ReadFile("/proc/self/net/snmp")
	if err != nil {
		return false
	}
	var heads []string
	for line := range strings.Lines(string(data)) {
		fields := strings.Fields(line)
		if len(heads) == 0 || len(fields) != len(heads) || fields[0] != heads[0] {
			heads = fields
			continue
		}
		for i, name := range heads {
			switch name {
			case "AttemptFails", "OutNoRoutes", "NoPorts":
				if fields[i] != "0" {
					return true
				}
			}
		}
		heads = nil
	}
	return false
}
