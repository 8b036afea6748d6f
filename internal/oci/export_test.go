package oci

import (
	"context"
	"net"
)

// Dial connects as requests to a registry on loopback, or elsewhere, do.
func Dial(ctx context.Context, local bool, address string) (net.Conn, error) {
	return newTransport(local).DialContext(ctx, "tcp", address)
}

// Attach adds a document about a module to where the module is, and gives the digest of the manifest that holds it.
func (c *Client) Attach(ctx context.Context, a *Artifact, what Attachment) (digest string, err error) {
	d, err := buildAttachment(a, what)
	if err != nil {
		return "", c.fail("attach to", a.Ref, err)
	}
	return d.of.Digest.String(), c.at(ctx, "attach to", a.Ref, true, func(ctx context.Context, s store) error {
		return push(ctx, s, d.raw, "", d.data)
	})
}
