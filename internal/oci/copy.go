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
func (c *Client) Copy(ctx context.Context, from, to Ref) (*Artifact, error) {
	ctx, cancel := context.WithTimeout(ctx, c.config.Whole)
	defer cancel()
	source, done, err := c.open(from, false)
	if err != nil {
		return nil, err
	}
	defer done()
	a, err := c.resolve(ctx, source, from)
	if err != nil {
		return nil, err
	}
	if to.hex != "" && to.hex != a.Digest {
		return nil, c.fail("copy to", to, fmt.Errorf("%w: %s has %s", ErrMismatch, from, a.Digest))
	}
	list, err := c.listAttachments(ctx, source, a)
	if err != nil {
		return nil, c.fail("list the attachments of", from, err)
	}
	target, done, err := c.open(to, true)
	if err != nil {
		return nil, err
	}
	defer done()
	move := func(d v1.Descriptor) error {
		data, err := c.blobOf(ctx, source, from, d)
		if err != nil {
			return err
		}
		return target.pushBlob(ctx, d, data)
	}
	for _, d := range []v1.Descriptor{a.layer(), a.config} {
		if err := move(d); err != nil {
			return nil, c.fail("copy to", to, err)
		}
	}
	if err := target.pushManifest(ctx, a.descriptor(), a.raw, ""); err != nil {
		return nil, c.fail("copy to", to, err)
	}
	if err := c.copyAttachments(ctx, source, target, a, list, move); err != nil {
		return nil, c.fail("copy the attachments to", to, err)
	}
	if tag := cmp.Or(to.tag, from.tag); tag != "" {
		if err := target.pushManifest(ctx, a.descriptor(), a.raw, tag); err != nil {
			return nil, c.fail("copy to", to, err)
		}
	}
	a.Ref = to
	return a, nil
}

func (c *Client) copyAttachments(ctx context.Context, source, target store, a *Artifact, list []v1.Descriptor, move func(v1.Descriptor) error) error {
	layers := 0
	for _, d := range list {
		raw, err := c.manifestOf(ctx, source, a.Ref, d.Digest.String())
		if err != nil {
			return err
		}
		byTag := d.Annotations[cosignMark] != ""
		m, err := parseAttachment(raw, a.Digest, byTag)
		if err != nil {
			return fmt.Errorf("%s: %w", d.Digest, err)
		}
		if layers += len(m.Layers); layers > maxAttachments {
			return fmt.Errorf("there are more than %d, no more are taken", maxAttachments)
		}
		for _, blob := range append(m.Layers, m.Config) {
			if err := checkDescriptor(blob, maxAttachment); err != nil {
				return err
			}
			if err := move(blob); err != nil {
				return err
			}
		}
		tag := ""
		if byTag {
			tag = cosignTag(a.Digest)
		}
		if err := target.pushManifest(ctx, describe(v1.MediaTypeImageManifest, raw), raw, tag); err != nil {
			return err
		}
	}
	return nil
}
