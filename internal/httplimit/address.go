package httplimit

import (
	"context"
	"errors"
	"fmt"
	"net/netip"
	"slices"
	"syscall"
)

// ErrBlocked: the address that was to be dialled is not allowed.
var ErrBlocked = errors.New("is blocked")

func prefixes(list ...string) []netip.Prefix {
	out := make([]netip.Prefix, len(list))
	for i, text := range list {
		out[i] = netip.MustParsePrefix(text)
	}
	return out
}

// Addresses of no public service. The first are blocked always: link-local ones and others at which clouds tell machines their credentials,
// multicast, and what is reserved. The second are those of a machine itself and of private networks.
var (
	never = prefixes("0.0.0.0/8", "169.254.0.0/16", "168.63.129.16/32", "100.100.100.200/32", "192.0.0.192/32", "224.0.0.0/4", "240.0.0.0/4",
		"::/128", "fd20:ce::254/128", "::ffff:0:0:0/96", "fe80::/10", "fec0::/10", "fd00:ec2::254/128", "ff00::/8")
	private = prefixes("127.0.0.0/8", "10.0.0.0/8", "172.16.0.0/12", "192.168.0.0/16", "100.64.0.0/10", "192.0.0.0/24", "198.18.0.0/15", "::1/128", "fc00::/7")
)

// Prefixes of IPv6 that a gateway translates to the IPv4 address in them: NAT64 (the last 32 bits) and 6to4 (behind the first 16). Teredo and
// IPv4-compatible addresses are in nobody's use.
var (
	nat64     = netip.MustParsePrefix("64:ff9b::/96")
	sixToFour = netip.MustParsePrefix("2002::/16")
	obsolete  = prefixes("2001::/32", "::/96", "64:ff9b:1::/48")
)

// AllowedAddress says whether a client that goes where others say may connect to an address: never to link-local ones and others at which clouds
// tell machines their credentials; to those of this machine and of private networks if allowPrivate.
func AllowedAddress(a netip.Addr, allowPrivate bool) bool {
	a = a.Unmap().WithZone("")
	in := func(list []netip.Prefix) bool {
		return slices.ContainsFunc(list, func(p netip.Prefix) bool { return p.Contains(a) })
	}
	if a.Is6() {
		b := a.As16()
		switch {
		case nat64.Contains(a):
			return AllowedAddress(netip.AddrFrom4([4]byte(b[12:])), allowPrivate)
		case sixToFour.Contains(a):
			return AllowedAddress(netip.AddrFrom4([4]byte(b[2:6])), allowPrivate)
		case in(obsolete) && !a.IsLoopback():
			return false
		}
	}
	return a.IsValid() && !in(never) && (allowPrivate || !in(private))
}

// Control is that of a net.Dialer which connects to allowed addresses alone. It sees the address that is really dialled, whatever a name
// resolved to before. Its error wraps [ErrBlocked].
func Control(allowed func(netip.Addr) bool) func(context.Context, string, string, syscall.RawConn) error {
	return func(_ context.Context, _, address string, _ syscall.RawConn) error {
		to, err := netip.ParseAddrPort(address)
		if err == nil && !allowed(to.Addr()) {
			err = fmt.Errorf("%s %w", to.Addr(), ErrBlocked)
		}
		return err
	}
}
