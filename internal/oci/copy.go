package oci

import (
	"cmp"
	"context"
	"fmt"
	"slices"

	v1 "github.com/opencontainers/image-spec/specs-go/v1"

	"github.com/shadowcourt/shadowcourt/internal/moduleref"
)

// Copy copies a module with its attachments between registries and layouts. Attachments are bounded and left out as those of [Client.Attachments];
// those of the types are first. All that is copied is verified. The tag is that of to, or else of from; it is set last, so that a copy that fails leaves
// the tag as it was. With no tag in either the copy has its digest alone.
func (c *Client) Copy(ctx context.Context, from, to moduleref.Ref, types ...string) (a *Artifact, err error) {
	to = to.WithTag(cmp.Or(to.Tag(), from.Tag())).WithDigest(to.Digest())
	err = c.at(ctx, "copy from", from, false, func(ctx context.Context, source store) (err error) {
		if a, err = c.resolve(ctx, source, from); err != nil {
			return err
		}
		list, err := c.listAttachments(ctx, source, a)
		if err != nil {
			return err
		}
		return c.at(ctx, "copy to", to, true, func(ctx context.Context, target store) error {
			if to.Digest() != "" && to.Digest() != a.Digest {
				return fmt.Errorf("%w: it has %s", ErrMismatch, a.Digest)
			}
			wasm, err := c.blobOf(ctx, source, a.Ref, a.layer())
			if err != nil {
				return err
			}
			config, err := c.blobOf(ctx, source, a.Ref, a.config)
			if err == nil {
				err = push(ctx, target, a.descriptor(), a.raw, "", [][]byte{wasm, config})
			}
			if err == nil {
				err = c.moveAttachments(ctx, source, target, a, list, types)
			}
			if err == nil && to.Tag() != "" {
				err = target.pushManifest(ctx, a.descriptor(), a.raw, to.Tag())
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

// moveAttachments copies attachments within the limits: those of the types first.
func (c *Client) moveAttachments(ctx context.Context, source, target store, a *Artifact, list []v1.Descriptor, types []string) error {
	first, unnamed, others := order(list, types)
	list = slices.Concat(first, unnamed, others)
	room := int64(maxAttached)
	for _, d := range list[:min(len(list), maxAttachments)] {
		if room < d.Size {
			break
		}
		raw, m, err := c.attachment(ctx, source, a, d)
		room -= int64(len(raw))
		var blobs [][]byte
		for _, blob := range append([]v1.Descriptor{m.Config}, m.Layers...) {
			var data []byte
			if err == nil {
				err = checkDescriptor(blob, min(room, maxAttachment))
			}
			if err == nil {
				data, err = c.blobOf(ctx, source, a.Ref, blob)
			}
			room -= int64(len(data))
			blobs = append(blobs, data)
		}
		if err != nil {
			if skippable(ctx, err) {
				continue
			}
			return err
		}
		tag := ""
		if byTag(d) {
			tag = cosignTag(a.Digest)
		}
		if err := push(ctx, target, describe(v1.MediaTypeImageManifest, raw), raw, tag, blobs); err != nil {
			return err
		}
	}
	return nil
}
