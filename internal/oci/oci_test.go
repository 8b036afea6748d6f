package oci

import (
	"context"
	"net"
	"testing"

	"github.com/shadowcourt/shadowcourt/abi"
	"github.com/shadowcourt/shadowcourt/internal/moduleref"
	"github.com/shadowcourt/shadowcourt/internal/testkit/must"
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

// FuzzManifest reads documents as manifests of modules and attachments, and as lists: whatever is taken is within the limits.
func FuzzManifest(f *testing.F) {
	_, a, err := buildModule([]byte("\x00asm"), map[string]string{"a": "b"})
	must.Do(f, err)
	attachment := must.Get(buildAttachment(a, Attachment{Type: "a/b", Data: []byte("x")}))(f)
	f.Add(a.raw)
	f.Add(attachment.raw)
	f.Add([]byte(`{"schemaVersion":2,"manifests":[{"mediaType":"a","digest":"sha256:x","size":-1}]}`))
	f.Add([]byte(`{"schemaVersion":1,"fsLayers":[{"blobSum":"sha256:x"}]}`))
	f.Fuzz(func(t *testing.T, data []byte) {
		if m, err := parseModule(data); err == nil {
			if m.Layer.Size < 1 || m.Layer.Size > abi.DefaultModuleBytes || !moduleref.IsDigest(m.Layer.Digest) || len(m.Annotations) > maxAnnotations {
				t.Errorf("taken: %+v", m)
			}
			if m.Digest != digestOf(data) {
				t.Errorf("the digest is %s", m.Digest)
			}
		}
		if m, err := parseAttachment(data, a.Digest, false); err == nil && (m.Subject == nil || len(m.Layers) > maxAttachments) {
			t.Errorf("taken: %+v", m)
		}
		if index, err := parseIndex(data); err == nil && len(index.Manifests) > maxListed {
			t.Errorf("%d manifests", len(index.Manifests))
		}
	})
}
