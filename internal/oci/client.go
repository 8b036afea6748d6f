// Package oci moves modules between registries of OCI artifacts, folders with an OCI image layout, and this machine. It knows OCI and nothing of
// courts.
//
// A module is an image manifest with the config of CNCF's layout for WebAssembly and one layer application/wasm. What is said about it (signatures,
// results of tests, a bill of materials) is attached as referrers of OCI 1.1, by the referrers tag where a registry has no list of referrers;
// signatures of cosign's older form are found by their tag.
//
// Registries, proxies and layouts are not trusted: what they give is bounded in size, number and time, and compared with its digest, also
// where it comes from a layout or from the cache. Digests are those of sha256. Credentials come from Docker's configuration; where they go is
// said at the type guard.
package oci

import (
	"cmp"
	"context"
	"crypto/sha256"
	"encoding/hex"
	"encoding/json"
	"errors"
	"fmt"
	"maps"
	"net/http"
	"slices"
	"sync"
	"time"

	"github.com/opencontainers/image-spec/specs-go"
	v1 "github.com/opencontainers/image-spec/specs-go/v1"
	"oras.land/oras-go/v2/registry/remote/auth"

	"github.com/shadowcourt/shadowcourt/abi"
	"github.com/shadowcourt/shadowcourt/internal/disk"
	"github.com/shadowcourt/shadowcourt/internal/moduleref"
)

// Config is how a client works. Zero fields have the defaults that are named.
type Config struct {
	// Cache is a folder that is made where it is missing, for what comes from registries; empty: none. Nobody else may write to it.
	Cache      string
	CacheBytes int64 // that the cache may have; 1 GiB
	// DockerConfig is a config.json; empty: the one of $DOCKER_CONFIG or ~/.docker.
	DockerConfig string
	// Transport sends requests, after the rules for where they may go; nil: one that also looks at the addresses that are really dialled.
	Transport http.RoundTripper
	Clock     func() time.Time // must be set
	Request   time.Duration    // for a request with its retries and its answer: 5 min
	Whole     time.Duration    // for a call of a method: 10 min
	Retries   int              // of a request, after network errors and the status 408, 429 and 5xx: 3; less than 0: none
	RetryWait time.Duration    // at most, whatever Retry-After says: 20 s
}

// Client speaks to registries and reads and writes layouts. It is safe for concurrent use.
type Client struct {
	config  Config
	cache   disk.Cache
	secrets secrets

	mu           sync.Mutex
	clients      map[string]*auth.Client
	repositories map[string]*remoteStore
}

// New makes a client. It sends no request. An error is one of the cache: others can write to it.
func New(config Config) (*Client, error) {
	if config.Clock == nil {
		return nil, errors.New("no clock")
	}
	set(&config.CacheBytes, 1<<30)
	set(&config.Request, 5*time.Minute)
	set(&config.Whole, 10*time.Minute)
	set(&config.Retries, 3)
	set(&config.RetryWait, 20*time.Second)
	cache, err := disk.OpenCache(config.Cache, disk.CacheLimits{Files: 8192, Bytes: abi.DefaultModuleBytes, Total: config.CacheBytes})
	if err != nil {
		return nil, err
	}
	return &Client{config: config, cache: cache, clients: map[string]*auth.Client{}, repositories: map[string]*remoteStore{}}, nil
}

func set[T comparable](field *T, value T) {
	var zero T
	if *field == zero {
		*field = value
	}
}

// at runs a function on the place of a reference, within the time of a call; write makes a layout, unless it is there. what is for errors.
func (c *Client) at(ctx context.Context, what string, r moduleref.Ref, write bool, do func(context.Context, store) error) error {
	ctx, cancel := context.WithTimeout(ctx, c.config.Whole)
	defer cancel()
	err := errors.New("the reference is empty")
	switch {
	case r.Path() == "":
	case r.IsLayout():
		var l *layout
		if l, err = openLayout(r.Path(), write); err == nil {
			defer l.close()
			err = do(ctx, l)
		}
	default:
		err = do(ctx, c.remote(r))
	}
	if err != nil {
		return c.fail(what, r, err)
	}
	return nil
}

// fetchManifest gives a manifest of a tag or a digest, which matches what the registry or the layout says of it.
func fetchManifest(ctx context.Context, s store, name string) (v1.Descriptor, []byte, error) {
	d, data, err := s.manifest(ctx, name)
	if err != nil {
		return d, nil, err
	}
	if d.MediaType != v1.MediaTypeImageManifest {
		return d, nil, found("a document of the type " + quoted(d.MediaType))
	}
	return describe(v1.MediaTypeImageManifest, data), data, verify(d, data)
}

// Kinds of entries in the cache. Manifests and lists are those of a repository, so that a repository is never taken to have what another has.
const (
	cachedManifest    = "manifest"
	cachedAttachments = "attachments"
)

func cacheKey(kind string, r moduleref.Ref, digest string) string {
	sum := sha256.Sum256([]byte(kind + "\n" + r.Repository() + "@" + digest))
	return hex.EncodeToString(sum[:])
}

// kept gives what the cache has under a key, if it has the digest, or else gets it, and keeps it. Without a store there is only the cache.
func (c *Client) kept(s store, r moduleref.Ref, key, digest string, get func() ([]byte, error)) ([]byte, error) {
	if data, ok := c.cached(r, key); ok && digestOf(data) == digest {
		return data, nil
	}
	if s == nil {
		return nil, ErrNotFound
	}
	data, err := get()
	if err != nil {
		return nil, err
	}
	c.keep(r, key, data)
	return data, nil
}

// manifestOf gives a manifest of a repository by its digest.
func (c *Client) manifestOf(ctx context.Context, s store, r moduleref.Ref, digest string) ([]byte, error) {
	if !moduleref.IsDigest(digest) {
		return nil, fmt.Errorf("%s is not a digest of sha256", quoted(digest))
	}
	return c.kept(s, r, cacheKey(cachedManifest, r, digest), digest, func() ([]byte, error) {
		d, data, err := fetchManifest(ctx, s, digest)
		if err == nil && d.Digest.String() != digest {
			err = fmt.Errorf("%w: %s was asked for, %s came", ErrMismatch, digest, d.Digest)
		}
		return data, err
	})
}

// blobOf gives a blob of a repository.
func (c *Client) blobOf(ctx context.Context, s store, r moduleref.Ref, d v1.Descriptor) ([]byte, error) {
	if err := checkDescriptor(d, abi.DefaultModuleBytes); err != nil {
		return nil, err
	}
	return c.kept(s, r, d.Digest.Encoded(), d.Digest.String(), func() ([]byte, error) {
		data, err := s.blob(ctx, d)
		if err == nil {
			err = verify(d, data)
		}
		return data, err
	})
}

func (c *Client) cached(r moduleref.Ref, key string) ([]byte, bool) {
	if r.IsLayout() {
		return nil, false
	}
	return c.cache.Get(key, c.config.Clock())
}

func (c *Client) keep(r moduleref.Ref, key string, data []byte) {
	if !r.IsLayout() {
		c.cache.Put(key, data)
	}
}

// Resolve finds the manifest of a module, and downloads nothing else. A reference with a digest whose manifest the cache has needs no request.
func (c *Client) Resolve(ctx context.Context, r moduleref.Ref) (a *Artifact, err error) {
	err = c.at(ctx, "resolve", r, false, func(ctx context.Context, s store) (err error) {
		a, err = c.resolve(ctx, s, r)
		return err
	})
	return a, err
}

func (c *Client) resolve(ctx context.Context, s store, r moduleref.Ref) (*Artifact, error) {
	var data []byte
	var err error
	if r.Digest() != "" {
		data, err = c.manifestOf(ctx, s, r, r.Digest())
	} else {
		var d v1.Descriptor
		if d, data, err = fetchManifest(ctx, s, nameOf(r)); err == nil {
			c.keep(r, cacheKey(cachedManifest, r, d.Digest.String()), data)
		}
	}
	if err != nil {
		return nil, err
	}
	a, err := parseModule(data)
	if err != nil {
		return nil, err
	}
	a.Ref = r
	return a, nil
}

// Module gives the wasm, which matches the digest and the size that the manifest states. If the cache has it, there is no request.
func (c *Client) Module(ctx context.Context, a *Artifact) (wasm []byte, err error) {
	err = c.at(ctx, "download", a.Ref, false, func(ctx context.Context, s store) (err error) {
		wasm, err = c.blobOf(ctx, s, a.Ref, a.layer())
		return err
	})
	return wasm, err
}

// Push adds a module with what is said about it to a repository or a layout, under the tag of the reference, which is "latest" where it has neither
// tag nor digest. The tag is set last. The same module with the same annotations gives the same digest, and pushing it again changes nothing. A digest
// in the reference must be that one.
func (c *Client) Push(ctx context.Context, r moduleref.Ref, wasm []byte, annotations map[string]string, about ...Attachment) (*Artifact, error) {
	config, a, err := buildModule(wasm, annotations)
	if err == nil && r.Digest() != "" && r.Digest() != a.Digest {
		err = fmt.Errorf("%w: the module's manifest has %s", ErrMismatch, a.Digest)
	}
	list := make([]attached, len(about))
	for i := 0; i < len(about) && err == nil; i++ {
		list[i], err = buildAttachment(a, about[i])
	}
	if err != nil {
		return nil, c.fail("push", r, err)
	}
	a.Ref = r
	tag := r.Tag()
	if r.Digest() == "" {
		tag = nameOf(r)
	}
	return a, c.at(ctx, "push", r, true, func(ctx context.Context, s store) error {
		return pushAll(ctx, s, a, [][]byte{wasm, config}, list, tag)
	})
}

// pushAll adds a module, its attachments, and then the tag, unless that is empty.
func pushAll(ctx context.Context, s store, a *Artifact, blobs [][]byte, about []attached, tag string) error {
	early := tag
	if len(about) > 0 {
		early = ""
	}
	err := push(ctx, s, a.raw, early, blobs)
	for i := 0; i < len(about) && err == nil; i++ {
		own := ""
		if byTag(about[i].of) {
			own = cosignTag(a.Digest)
		}
		err = push(ctx, s, about[i].raw, own, about[i].data)
	}
	if err == nil && early != tag {
		err = s.pushManifest(ctx, a.descriptor(), a.raw, tag)
	}
	return err
}

// push adds blobs, and then the manifest that names them.
func push(ctx context.Context, s store, manifest []byte, tag string, blobs [][]byte) error {
	for _, data := range blobs {
		if err := s.pushBlob(ctx, describe("application/octet-stream", data), data); err != nil {
			return err
		}
	}
	return s.pushManifest(ctx, describe(v1.MediaTypeImageManifest, manifest), manifest, tag)
}

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
