package oci

import (
	"cmp"
	"context"
	"fmt"

	v1 "github.com/opencontainers/image-spec/specs-go/v1"
)

// Copy copies a module with all of its attachments, whose number and size are bounded as those of [Client.Attachments], between registries and layouts.
// All that is copied is verified. The tag is that of to, or else of from; it is set last, so that a copy that fails leaves the tag as it was.
// With no tag in either the copy has its digest alone.
func (c *Client) Copy(ctx context.Context, from, to Ref) (a *Artifact, err error) {
	to.tag = cmp.Or(to.tag, from.tag)
	err = c.at(ctx, "copy from", from, false, func(ctx context.Context, source store) (err error) {
		if a, err = c.resolve(ctx, source, from); err != nil {
			return err
		}
		list, err := c.listAttachments(ctx, source, a)
		if err != nil {
			return err
		}
		return c.at(ctx, "copy to", to, true, func(ctx context.Context, target store) error {
			if to.hex != "" && to.hex != a.Digest {
				return fmt.Errorf("%w: it has %s", ErrMismatch, a.Digest)
			}
			err := c.move(ctx, source, target, a, a.descriptor(), a.raw, "", []v1.Descriptor{a.layer(), a.config})
			if err == nil {
				err = c.moveAttachments(ctx, source, target, a, list)
			}
			if err == nil && to.tag != "" {
				err = target.pushManifest(ctx, a.descriptor(), a.raw, to.tag)
			}
			return err
		})
	})
	if err != nil {
		return nil, err
	}
	a.Ref = to
	return a, nil
}

// move copies blobs, and then the manifest that names them.
func (c *Client) move(ctx context.Context, source, target store, a *Artifact, d v1.Descriptor, manifest []byte, tag string, blobs []v1.Descriptor) error {
	for _, blob := range blobs {
		data, err := c.blobOf(ctx, source, a.Ref, blob)
		if err == nil {
			err = target.pushBlob(ctx, blob, data)
		}
		if err != nil {
			return err
		}
	}
	return target.pushManifest(ctx, d, manifest, tag)
}

func (c *Client) moveAttachments(ctx context.Context, source, target store, a *Artifact, list []v1.Descriptor) error {
	layers := 0
	for _, d := range list {
		raw, m, err := c.attachment(ctx, source, a, d)
		if err != nil {
			return err
		}
		if layers += len(m.Layers); layers > maxAttachments {
			return errTooMany
		}
		blobs := append([]v1.Descriptor{m.Config}, m.Layers...)
		for _, blob := range blobs {
			if err := checkDescriptor(blob, maxAttachment); err != nil {
				return err
			}
		}
		tag := ""
		if byTag(d) {
			tag = cosignTag(a.Digest)
		}
		if err := c.move(ctx, source, target, a, describe(v1.MediaTypeImageManifest, raw), raw, tag, blobs); err != nil {
			return err
		}
	}
	return nil
}
