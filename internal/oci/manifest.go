package oci

import (
	"bytes"
	"cmp"
	"crypto/sha256"
	"encoding/hex"
	"encoding/json"
	"errors"
	"fmt"
	"strings"
	"time"

	"github.com/opencontainers/go-digest"
	"github.com/opencontainers/image-spec/specs-go"
	v1 "github.com/opencontainers/image-spec/specs-go/v1"

	"github.com/shadowcourt/shadowcourt/abi"
	"github.com/shadowcourt/shadowcourt/internal/moduleref"
	"github.com/shadowcourt/shadowcourt/internal/sanitize"
)

// Media types of a module: the layout for WebAssembly of CNCF's TAG Runtime.
const (
	TypeModule = "application/wasm"
	TypeConfig = "application/vnd.wasm.config.v0+json"
	// TypeCosign is the older form of cosign's signatures, which a tag sha256-HEX.sig holds instead of a referrer.
	TypeCosign = "application/vnd.dev.cosign.simplesigning.v1+json"
)

// Limits of what registries and layouts say.
const (
	maxManifest    = 1 << 20 // bytes, also of lists of manifests and of an index.json
	maxConfig      = 1 << 20
	maxAttachments = 256
	maxTried       = 512 // manifests of attachments, and their layers
	maxAttachment  = 1 << 20
	maxAttached    = 32 << 20 // bytes of all attachments
	maxAnnotations = 64
	maxKey         = 256
	maxValue       = 8 << 10
	maxType        = 128
	maxQuoted      = 300
)

// Errors that callers tell apart.
var (
	// ErrNotFound: the registry or the layout has nothing of this name or digest.
	ErrNotFound = errors.New("not found")
	// ErrMismatch: bytes are others than their digest and size say.
	ErrMismatch = errors.New("the content does not match its digest")
	// ErrNotModule: the manifest is none of a module.
	ErrNotModule = errors.New("not a module")
)

// Layer is where the wasm of a module is.
type Layer struct {
	Digest string // sha256:HEX
	Size   int64  // bytes
}

// Artifact is a module by its manifest, without the wasm. [Client.Resolve], [Client.Push] and [Client.Copy] make artifacts.
type Artifact struct {
	Ref         moduleref.Ref // as it was asked for; Digest says what was found
	Digest      string        // of the manifest
	Annotations map[string]string
	Layer       Layer

	config v1.Descriptor
	raw    []byte // the manifest
}

// Pinned is the reference with the digest that was found.
func (a *Artifact) Pinned() moduleref.Ref { return a.Ref.WithDigest(a.Digest) }

func (a *Artifact) descriptor() v1.Descriptor { return describe(v1.MediaTypeImageManifest, a.raw) }

func (a *Artifact) layer() v1.Descriptor {
	return v1.Descriptor{MediaType: TypeModule, Digest: digest.Digest(a.Layer.Digest), Size: a.Layer.Size}
}

func digestOf(data []byte) string {
	sum := sha256.Sum256(data)
	return "sha256:" + hex.EncodeToString(sum[:])
}

func describe(kind string, data []byte) v1.Descriptor {
	return v1.Descriptor{MediaType: kind, Digest: digest.Digest(digestOf(data)), Size: int64(len(data))}
}

// verify compares bytes with the digest and the size that a descriptor states.
func verify(d v1.Descriptor, data []byte) error {
	if got := digestOf(data); int64(len(data)) != d.Size || got != d.Digest.String() {
		return fmt.Errorf("%w: %s with %d bytes was expected, %s with %d bytes came", ErrMismatch, d.Digest, d.Size, got, len(data))
	}
	return nil
}

// checkDescriptor bounds what a manifest or an index says of a blob.
func checkDescriptor(d v1.Descriptor, most int64) error {
	switch {
	case !moduleref.IsDigest(d.Digest.String()):
		return fmt.Errorf("the digest %s is not one of sha256", quoted(d.Digest.String()))
	case d.Size < 0 || d.Size > most:
		return fmt.Errorf("%s has %d bytes, at most %d are taken", d.Digest, d.Size, most)
	case len(d.MediaType) > maxType || len(d.ArtifactType) > maxType:
		return fmt.Errorf("the media type of %s is too long", d.Digest)
	}
	return checkAnnotations(d.Annotations)
}

func checkAnnotations(all map[string]string) error {
	if len(all) > maxAnnotations {
		return fmt.Errorf("%d annotations, at most %d are taken", len(all), maxAnnotations)
	}
	for key, value := range all {
		if key == "" || len(key) > maxKey || len(value) > maxValue {
			return fmt.Errorf("the annotation %s has %d bytes; keys may have %d and values %d", quoted(key), len(value), maxKey, maxValue)
		}
	}
	return nil
}

// parseManifest reads an image manifest of OCI 1.0 or 1.1, and names other kinds of documents.
func parseManifest(data []byte) (v1.Manifest, error) {
	var m struct {
		v1.Manifest
		Manifests json.RawMessage `json:"manifests"`
		FSLayers  json.RawMessage `json:"fsLayers"`
	}
	if len(data) > maxManifest {
		return m.Manifest, fmt.Errorf("the manifest has %d bytes, at most %d are taken", len(data), maxManifest)
	}
	if err := json.Unmarshal(data, &m); err != nil {
		return m.Manifest, fmt.Errorf("the manifest is not valid JSON: %s", quoted(err.Error()))
	}
	switch {
	case m.FSLayers != nil || m.SchemaVersion == 1:
		return m.Manifest, found("a Docker manifest of schema 1")
	case m.Manifests != nil || m.MediaType == v1.MediaTypeImageIndex:
		return m.Manifest, found("an index of several manifests")
	case m.MediaType != "" && m.MediaType != v1.MediaTypeImageManifest:
		return m.Manifest, found("a manifest of the type " + quoted(m.MediaType))
	case m.SchemaVersion != 2:
		return m.Manifest, found(fmt.Sprintf("a document of schema version %d", m.SchemaVersion))
	}
	if err := checkDescriptor(m.Config, maxConfig); err != nil {
		return m.Manifest, fmt.Errorf("config: %w", err)
	}
	if len(m.ArtifactType) > maxType {
		return m.Manifest, errors.New("the artifact type is too long")
	}
	return m.Manifest, checkAnnotations(m.Annotations)
}

func found(what string) error {
	return fmt.Errorf("%w: found %s; an OCI image manifest (%s) with the config %s and one layer %s is expected",
		ErrNotModule, what, v1.MediaTypeImageManifest, TypeConfig, TypeModule)
}

// parseModule reads the manifest of a module.
func parseModule(data []byte) (*Artifact, error) {
	m, err := parseManifest(data)
	if err != nil {
		return nil, err
	}
	switch {
	case m.Config.MediaType != TypeConfig:
		return nil, found("an artifact of the type " + quoted(cmp.Or(m.ArtifactType, m.Config.MediaType)))
	case m.Subject != nil:
		return nil, found("an attachment of " + quoted(m.Subject.Digest.String()))
	case len(m.Layers) != 1:
		return nil, found(fmt.Sprintf("%d layers", len(m.Layers)))
	case m.Layers[0].MediaType != TypeModule:
		return nil, found("a layer of the type " + quoted(m.Layers[0].MediaType))
	case m.Layers[0].Size == 0:
		return nil, found("an empty layer")
	}
	if err := checkDescriptor(m.Layers[0], abi.DefaultModuleBytes); err != nil {
		return nil, fmt.Errorf("layer: %w", err)
	}
	return &Artifact{
		Digest: digestOf(data), Annotations: m.Annotations, Layer: Layer{m.Layers[0].Digest.String(), m.Layers[0].Size},
		config: m.Config, raw: data,
	}, nil
}

// Build is a module as [Client.Push] makes it, to know its digest before.
func Build(r moduleref.Ref, wasm []byte, annotations map[string]string) (*Artifact, error) {
	_, a, err := buildModule(wasm, annotations)
	if err == nil {
		a.Ref = r
	}
	return a, err
}

// buildModule makes config and manifest of a module. They are the same for the same wasm and annotations: the time is that of the annotation
// org.opencontainers.image.created, or else 1970, since tools of others want one.
func buildModule(wasm []byte, annotations map[string]string) (config []byte, a *Artifact, err error) {
	created := time.Unix(0, 0).UTC()
	if at, ok := annotations[v1.AnnotationCreated]; ok {
		if created, err = time.Parse(time.RFC3339, at); err != nil {
			return nil, nil, fmt.Errorf("the annotation %s is not a time such as 2006-01-02T15:04:05Z", v1.AnnotationCreated)
		}
	}
	if len(wasm) == 0 || len(wasm) > abi.DefaultModuleBytes {
		return nil, nil, fmt.Errorf("the module has %d bytes, 1 to %d are taken", len(wasm), abi.DefaultModuleBytes)
	}
	layer := describe(TypeModule, wasm)
	config, err = json.Marshal(struct {
		Created      time.Time `json:"created"`
		Architecture string    `json:"architecture"`
		OS           string    `json:"os"`
		LayerDigests []string  `json:"layerDigests"`
	}{created, "wasm", "wasip1", []string{layer.Digest.String()}})
	if err != nil {
		return nil, nil, err
	}
	raw, err := json.Marshal(v1.Manifest{
		Versioned: specs.Versioned{SchemaVersion: 2}, MediaType: v1.MediaTypeImageManifest, Config: describe(TypeConfig, config),
		Layers: []v1.Descriptor{layer}, Annotations: annotations,
	})
	if err != nil {
		return nil, nil, err
	}
	a, err = parseModule(raw)
	return config, a, err
}

// Attachment is a document about a module.
type Attachment struct {
	Type string `json:"type"` // media type, at most 128 bytes
	// Digest is that of the attachment's manifest, under which the registry lists it.
	Digest      string            `json:"-"`
	Annotations map[string]string `json:"annotations,omitempty"` // of the manifest, and of the layer
	Data        []byte            `json:"data"`                  // at most 1 MiB
}

// parseAttachment reads the manifest of an attachment. cosign's signatures by tag have no subject, and a layer for each signature.
func parseAttachment(data []byte, subject string, byTag bool) (v1.Manifest, error) {
	m, err := parseManifest(data)
	switch {
	case err != nil:
		return m, err
	case len(m.Layers) > maxAttachments:
		return m, fmt.Errorf("%d layers, at most %d are taken", len(m.Layers), maxAttachments)
	case !byTag && (m.Subject == nil || m.Subject.Digest.String() != subject):
		return m, fmt.Errorf("it is listed as an attachment of %s, but is none", subject)
	}
	return m, nil
}

// buildAttachment makes the manifest of an attachment.
func buildAttachment(subject *Artifact, a Attachment) (attached, error) {
	if a.Type == "" || len(a.Data) > maxAttachment {
		return attached{}, fmt.Errorf("an attachment has a media type, and at most %d bytes; this one has %d", maxAttachment, len(a.Data))
	}
	about := subject.descriptor()
	raw, err := json.Marshal(v1.Manifest{
		Versioned: specs.Versioned{SchemaVersion: 2}, MediaType: v1.MediaTypeImageManifest, ArtifactType: a.Type, Config: v1.DescriptorEmptyJSON,
		Layers: []v1.Descriptor{describe(a.Type, a.Data)}, Subject: &about, Annotations: a.Annotations,
	})
	if err == nil {
		_, err = parseAttachment(raw, subject.Digest, false)
	}
	return attached{of: describe(v1.MediaTypeImageManifest, raw), raw: raw, data: [][]byte{a.Data, v1.DescriptorEmptyJSON.Data}}, err
}

// cosignTag is the tag under which cosign keeps signatures of a manifest.
func cosignTag(digest string) string { return strings.Replace(digest, ":", "-", 1) + ".sig" }

// quoted makes a text of others safe to print.
func quoted(text string) string {
	return fmt.Sprintf("%q", sanitize.Cut(sanitize.Line(strings.ToValidUTF8(text, "?")), maxQuoted))
}

// parseIndex reads a list of manifests: the index.json of a layout, and what the cache keeps of a registry's list.
func parseIndex(data []byte) (v1.Index, error) {
	var index v1.Index
	if len(data) > maxManifest {
		return index, fmt.Errorf("it has more than %d bytes", maxManifest)
	}
	if err := json.Unmarshal(bytes.TrimSpace(data), &index); err != nil {
		return index, fmt.Errorf("it is not valid JSON: %s", quoted(err.Error()))
	}
	if index.SchemaVersion != 2 || index.MediaType != "" && index.MediaType != v1.MediaTypeImageIndex {
		return index, fmt.Errorf("it is not an index of OCI manifests, but of the type %s and schema version %d", quoted(index.MediaType), index.SchemaVersion)
	}
	if len(index.Manifests) > maxListed {
		return index, fmt.Errorf("it lists %d manifests, at most %d are taken", len(index.Manifests), maxListed)
	}
	for _, d := range index.Manifests {
		if err := checkDescriptor(d, 1<<40); err != nil {
			return index, err
		}
	}
	return index, nil
}
