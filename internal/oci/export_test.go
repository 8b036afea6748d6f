package oci

import (
	"context"
	"net"
)

// Dial connects as requests to a registry on loopback, or elsewhere, do.
func Dial(ctx context.Context, local bool, address string) (net.Conn, error) {
	return newTransport(local).DialContext(ctx, "tcp", address)
}
