package oci

import (
	"context"
	"net"

	"github.com/shadowcourt/shadowcourt/internal/moduleref"
)

// Dial connects as requests to a registry on loopback, or elsewhere, do.
func Dial(ctx context.Context, local bool, address string) (net.Conn, error) {
	return newTransport(local).DialContext(ctx, "tcp", address)
}

// Tags are the tags of a repository or a layout, in order, without those that only hold attachments. The reference's own tag does not count.
func (c *Client) Tags(ctx context.Context, r moduleref.Ref) (all []string, err error) {
	err = c.at(ctx, "list the tags of", r.WithTag(""), false, func(ctx context.Context, s store) (err error) {
		all, err = s.tags(ctx)
		return err
	})
	if err != nil {
		return nil, err
	}
	return realTags(all), nil
}
