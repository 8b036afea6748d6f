package oci

import (
	"cmp"
	"context"
	"encoding/json"
	"fmt"
	"maps"
	"slices"

	"github.com/opencontainers/image-spec/specs-go"
	v1 "github.com/opencontainers/image-spec/specs-go/v1"

	"github.com/shadowcourt/shadowcourt/internal/moduleref"
)

// Attachments are the documents about a module whose layers have one of the types, those first that a list names as such; no types: all. Those that
// can't be read, or are more than the limits allow, are left out: who may attach junk must not be able to hide what is good. The registry is asked
// each time, since new signatures must be found. If it can't be reached, or can't answer, the cache gives what it has of an earlier call.
func (c *Client) Attachments(ctx context.Context, a *Artifact, types ...string) (found []Attachment, err error) {
	err = c.at(ctx, "read the attachments of", a.Ref, false, func(ctx context.Context, s store) error {
		list, err := c.listAttachments(ctx, s, a)
		if err == nil {
			found, err = c.ofTypes(ctx, s, a, list, types)
		}
		if err != nil && unreachable(err) {
			if kept, ok := c.Cached(ctx, a, types...); ok {
				found, err = kept, nil
			}
		}
		return err
	})
	if err != nil {
		return nil, err
	}
	return found, nil
}

// Cached is [Client.Attachments] from the cache alone, without a request: those that it has. ok is false if it has no list of them. A caller whom
// these satisfy need not ask the registry.
func (c *Client) Cached(ctx context.Context, a *Artifact, types ...string) (found []Attachment, ok bool) {
	data, ok := c.cached(a.Ref, cacheKey(cachedAttachments, a.Ref, a.Digest))
	if !ok {
		return nil, false
	}
	list, err := parseIndex(data)
	if err != nil {
		return nil, false
	}
	found, err = c.ofTypes(ctx, nil, a, list.Manifests, types)
	return found, err == nil
}

// listAttachments gives the manifests of attachments. The one of cosign's tag is last.
func (c *Client) listAttachments(ctx context.Context, s store, a *Artifact) ([]v1.Descriptor, error) {
	all, err := s.referrers(ctx, a.descriptor())
	if err != nil {
		return nil, err
	}
	list := make([]v1.Descriptor, 0, len(all)+1)
	for _, d := range all {
		if checkDescriptor(d, maxManifest) == nil && d.MediaType == v1.MediaTypeImageManifest {
			list = append(list, v1.Descriptor{MediaType: d.MediaType, Digest: d.Digest, Size: d.Size, ArtifactType: d.ArtifactType})
		}
	}
	d, data, err := fetchManifest(ctx, s, cosignTag(a.Digest))
	switch {
	case err == nil:
		c.keep(a.Ref, cacheKey(cachedManifest, a.Ref, d.Digest.String()), data)
		d.Annotations = map[string]string{cosignMark: "tag"}
		list = append(list, d)
	case !skippable(ctx, err):
		return nil, err
	}
	index, err := json.Marshal(v1.Index{Versioned: specs.Versioned{SchemaVersion: 2}, Manifests: list})
	if err == nil {
		c.keep(a.Ref, cacheKey(cachedAttachments, a.Ref, a.Digest), index)
	}
	return list, err
}

const (
	// cosignMark is the annotation, in lists of this package alone, of a manifest that was found by cosign's tag.
	cosignMark = "dev.shadowcourt.found"
	// cosignReferrer is the artifact type of signatures of the older form that are referrers.
	cosignReferrer = "application/vnd.dev.cosign.artifact.sig.v1+json"
)

func byTag(d v1.Descriptor) bool { return d.Annotations[cosignMark] != "" }

// skippable says whether an error is of one attachment alone, so that others can be read.
func skippable(ctx context.Context, err error) bool { return ctx.Err() == nil && !unreachable(err) }

// attached is an attachment with those of its blobs that are wanted.
type attached struct {
	of    v1.Descriptor
	raw   []byte // the manifest
	in    v1.Manifest
	blobs []v1.Descriptor
	size  int64 // of the blobs
	data  [][]byte
}

// rank orders attachments of some types: those whose list names one of them, those whose list does not name a type, and the others.
func rank(d v1.Descriptor, types []string) int {
	kind := d.ArtifactType
	if byTag(d) || kind == cosignReferrer {
		kind = TypeCosign
	}
	switch {
	case slices.Contains(types, kind):
		return 0
	case kind == "" || kind == v1.MediaTypeEmptyJSON: // some registries have the config's type in place of the manifest's own
		return 1
	}
	return 2
}

// attachments reads attachments within the limits: those of the types first, and of each rank small ones first. pick says which blobs of a manifest
// are read: together, or each on its own. What can't be read is left out.
func (c *Client) attachments(ctx context.Context, s store, a *Artifact, list []v1.Descriptor, types []string, pick func(v1.Manifest) [][]v1.Descriptor) (all []attached, err error) {
	list = slices.Clone(list)
	slices.SortStableFunc(list, func(a, b v1.Descriptor) int {
		return cmp.Or(rank(a, types)-rank(b, types), cmp.Compare(a.Size, b.Size))
	})
	var parts []attached
	room := int64(maxAttached)
	for _, d := range list[:min(len(list), maxTried)] {
		if room < d.Size {
			break
		}
		raw, err := c.manifestOf(ctx, s, a.Ref, d.Digest.String())
		if err != nil && !skippable(ctx, err) {
			return nil, err
		}
		room -= int64(len(raw))
		m, bad := parseAttachment(raw, a.Digest, byTag(d))
		if err != nil || bad != nil {
			continue
		}
		for _, blobs := range pick(m) {
			size, fits := int64(0), true
			for _, b := range blobs {
				size, fits = size+b.Size, fits && checkDescriptor(b, maxAttachment) == nil
			}
			if fits {
				parts = append(parts, attached{d, raw, m, blobs, size, nil})
			}
		}
	}
	slices.SortStableFunc(parts, func(a, b attached) int {
		return cmp.Or(rank(a.of, types)-rank(b.of, types), cmp.Compare(a.size, b.size))
	})
	for _, p := range parts[:min(len(parts), maxTried)] {
		if room -= p.size; room < 0 || len(all) == maxAttachments {
			break
		}
		var err error
		for i := 0; i < len(p.blobs) && err == nil; i++ {
			var data []byte
			data, err = c.blobOf(ctx, s, a.Ref, p.blobs[i])
			p.data = append(p.data, data)
		}
		if err == nil {
			all = append(all, p)
		} else if !skippable(ctx, err) {
			return nil, err
		}
	}
	return all, nil
}

// ofTypes gives the layers that have one of the types; no types: all.
func (c *Client) ofTypes(ctx context.Context, s store, a *Artifact, list []v1.Descriptor, types []string) (found []Attachment, err error) {
	if len(types) > 0 {
		list = slices.DeleteFunc(slices.Clone(list), func(d v1.Descriptor) bool { return rank(d, types) == 2 })
	}
	all, err := c.attachments(ctx, s, a, list, types, func(m v1.Manifest) (each [][]v1.Descriptor) {
		for _, layer := range m.Layers {
			if len(types) == 0 || slices.Contains(types, layer.MediaType) {
				each = append(each, []v1.Descriptor{layer})
			}
		}
		return each
	})
	for _, p := range all {
		annotations := map[string]string{}
		maps.Copy(annotations, p.in.Annotations)
		maps.Copy(annotations, p.blobs[0].Annotations)
		found = append(found, Attachment{p.blobs[0].MediaType, p.of.Digest.String(), annotations, p.data[0]})
	}
	return found, err
}

// Copy copies a module with its attachments between registries and layouts. Attachments are bounded and left out as those of [Client.Attachments];
// those of the types are first. All that is copied is verified. The tag is that of to, or else of from; it is set last, so that a copy that fails leaves
// the tag as it was. With no tag in either the copy has its digest alone.
func (c *Client) Copy(ctx context.Context, from, to moduleref.Ref, types ...string) (a *Artifact, err error) {
	to = to.WithTag(cmp.Or(to.Tag(), from.Tag())).WithDigest(to.Digest())
	var blobs [][]byte
	var about []attached
	err = c.at(ctx, "copy from", from, false, func(ctx context.Context, s store) (err error) {
		if a, err = c.resolve(ctx, s, from); err != nil {
			return err
		}
		for _, d := range []v1.Descriptor{a.layer(), a.config} {
			data, err := c.blobOf(ctx, s, from, d)
			if err != nil {
				return err
			}
			blobs = append(blobs, data)
		}
		list, err := c.listAttachments(ctx, s, a)
		if err == nil {
			about, err = c.attachments(ctx, s, a, list, types, func(m v1.Manifest) [][]v1.Descriptor {
				return [][]v1.Descriptor{append([]v1.Descriptor{m.Config}, m.Layers...)}
			})
		}
		return err
	})
	if err != nil {
		return nil, err
	}
	err = c.at(ctx, "copy to", to, true, func(ctx context.Context, s store) error {
		if to.Digest() != "" && to.Digest() != a.Digest {
			return fmt.Errorf("%w: it has %s", ErrMismatch, a.Digest)
		}
		return pushAll(ctx, s, a, blobs, about, to.Tag())
	})
	if err != nil {
		return nil, err
	}
	a.Ref = to
	return a, nil
}
