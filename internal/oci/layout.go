package oci

import (
	"bytes"
	"cmp"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"slices"
	"strings"

	"github.com/opencontainers/image-spec/specs-go"
	v1 "github.com/opencontainers/image-spec/specs-go/v1"

	"github.com/shadowcourt/shadowcourt/abi"
	"github.com/shadowcourt/shadowcourt/internal/disk"
)

// layout is a folder with an OCI image layout. What is in it may be of others: it is read within the folder alone, whatever its links say, up to
// the limits. The library's own store reads it without limits, follows links, and does not write whole files.
type layout struct {
	root *os.Root
	path string
}

const blobFolder = "blobs/sha256"

var layoutFile = []byte(`{"imageLayoutVersion":"` + v1.ImageLayoutVersion + `"}`)

// openLayout opens a layout; create makes it, unless it is there.
func openLayout(path string, create bool) (*layout, error) {
	if create {
		if err := disk.MakeFolder(path, 0o777); err != nil {
			return nil, err
		}
	}
	root, err := os.OpenRoot(path)
	if errors.Is(err, fs.ErrNotExist) {
		err = ErrNotFound
	}
	if err != nil {
		return nil, err
	}
	l := &layout{root, path}
	if create {
		err = l.create()
	}
	if err == nil {
		err = l.check()
	}
	if err != nil {
		l.close()
		return nil, err
	}
	return l, nil
}

func (l *layout) close() { _ = l.root.Close() }

// create makes what a layout needs.
func (l *layout) create() error {
	if err := l.root.MkdirAll(blobFolder, 0o777); err != nil { // also where one is a link that leads out: files are written by their path
		return err
	}
	if _, err := l.root.Lstat(v1.ImageLayoutFile); !errors.Is(err, fs.ErrNotExist) {
		return err
	}
	entries, err := os.ReadDir(l.path)
	if err != nil || slices.ContainsFunc(entries, func(e fs.DirEntry) bool {
		return e.Name() != "blobs" && !strings.Contains(e.Name(), v1.ImageLayoutFile)
	}) {
		return errors.Join(err, errors.New("the folder has other files: use an empty one, or one with a layout"))
	}
	err = disk.CreateNew(filepath.Join(l.path, v1.ImageLayoutFile), layoutFile, 0o666)
	if errors.Is(err, fs.ErrExist) {
		return nil
	}
	return err
}

func (l *layout) check() error {
	data, err := l.read(v1.ImageLayoutFile, 1<<10)
	var is v1.ImageLayout
	if err == nil {
		err = json.Unmarshal(data, &is)
	}
	if err == nil && is.Version != v1.ImageLayoutVersion {
		err = fmt.Errorf("the layout has version %s, %s is expected", quoted(is.Version), v1.ImageLayoutVersion)
	}
	if errors.Is(err, fs.ErrNotExist) {
		err = errors.New("the folder has no file oci-layout: it is not an OCI image layout")
	}
	return err
}

// read reads a regular file of at most so many bytes.
func (l *layout) read(name string, most int64) ([]byte, error) {
	info, err := l.root.Stat(name) // before it is opened: a pipe would block
	if err != nil {
		return nil, err
	}
	if !info.Mode().IsRegular() || info.Size() > most {
		return nil, fmt.Errorf("%s in the layout has %d bytes, or is not a regular file; at most %d bytes are taken", name, info.Size(), most)
	}
	f, err := l.root.Open(name)
	if err != nil {
		return nil, err
	}
	return readAll(f, v1.Descriptor{Size: info.Size()}, most)
}

func (l *layout) index() (v1.Index, error) {
	data, err := l.read(v1.ImageIndexFile, maxManifest)
	if errors.Is(err, fs.ErrNotExist) {
		return v1.Index{Versioned: specs.Versioned{SchemaVersion: 2}, MediaType: v1.MediaTypeImageIndex}, nil
	}
	if err != nil {
		return v1.Index{}, err
	}
	index, err := parseIndex(data)
	if err != nil {
		err = fmt.Errorf("index.json: %w", err)
	}
	return index, err
}

func (l *layout) manifest(ctx context.Context, name string) (v1.Descriptor, []byte, error) {
	index, err := l.index()
	if err != nil {
		return v1.Descriptor{}, nil, err
	}
	for _, d := range index.Manifests {
		if d.Digest.String() == name || d.Annotations[v1.AnnotationRefName] == name {
			if d.Size > maxManifest {
				return d, nil, fmt.Errorf("the manifest %s has %d bytes, at most %d are taken", d.Digest, d.Size, maxManifest)
			}
			data, err := l.blob(ctx, d)
			return d, data, err
		}
	}
	return v1.Descriptor{}, nil, fmt.Errorf("%s: %w", quoted(name), ErrNotFound)
}

func (l *layout) blob(ctx context.Context, d v1.Descriptor) ([]byte, error) {
	if err := cmp.Or(ctx.Err(), checkDescriptor(d, abi.DefaultModuleBytes)); err != nil {
		return nil, err
	}
	data, err := l.read(blobFolder+"/"+d.Digest.Encoded(), d.Size)
	if errors.Is(err, fs.ErrNotExist) {
		err = fmt.Errorf("%s: %w", d.Digest, ErrNotFound)
	}
	return data, err
}

func (l *layout) referrers(ctx context.Context, subject v1.Descriptor) ([]v1.Descriptor, error) {
	index, err := l.index()
	if err != nil {
		return nil, err
	}
	var all []v1.Descriptor
	for _, d := range index.Manifests {
		if d.MediaType != v1.MediaTypeImageManifest || d.Digest == subject.Digest || d.Size > maxManifest {
			continue
		}
		data, err := l.blob(ctx, d)
		if err == nil {
			err = verify(d, data)
		}
		if ctx.Err() != nil {
			return nil, ctx.Err()
		}
		if err != nil {
			continue // others are good
		}
		if m, err := parseManifest(data); err == nil && m.Subject != nil && m.Subject.Digest == subject.Digest {
			d.ArtifactType = cmp.Or(m.ArtifactType, m.Config.MediaType)
			if !slices.ContainsFunc(all, func(o v1.Descriptor) bool { return o.Digest == d.Digest }) {
				all = append(all, d)
			}
		}
	}
	return all, nil
}

func (l *layout) pushBlob(ctx context.Context, d v1.Descriptor, data []byte) error {
	if there, err := l.blob(ctx, d); err == nil && bytes.Equal(there, data) {
		return nil
	}
	return disk.Place(filepath.Join(l.path, filepath.FromSlash(blobFolder), d.Digest.Encoded()), data, 0o644)
}

// pushManifest keeps index.json in order, so that the same content gives the same bytes, whatever came first.
func (l *layout) pushManifest(ctx context.Context, d v1.Descriptor, data []byte, tag string) error {
	if err := l.pushBlob(ctx, d, data); err != nil {
		return err
	}
	lock, err := l.root.OpenFile(v1.ImageLayoutFile, os.O_RDWR, 0)
	if err != nil {
		return err
	}
	defer func() { _ = disk.Release(lock) }()
	if err := disk.Lock(lock); err != nil {
		return err
	}
	index, err := l.index()
	if err != nil {
		return err
	}
	if tag != "" {
		d.Annotations = map[string]string{v1.AnnotationRefName: tag}
	}
	listed := false
	for i := range index.Manifests {
		switch o := &index.Manifests[i]; {
		case o.Digest == d.Digest && o.Annotations[v1.AnnotationRefName] == tag:
			listed = true
		case tag != "" && o.Annotations[v1.AnnotationRefName] == tag: // what had the tag stays, by its digest
			delete(o.Annotations, v1.AnnotationRefName)
		}
	}
	if !listed {
		index.Manifests = append(index.Manifests, d)
	}
	name := func(d v1.Descriptor) string { return d.Annotations[v1.AnnotationRefName] }
	slices.SortStableFunc(index.Manifests, func(a, b v1.Descriptor) int {
		return cmp.Or(cmp.Compare(a.Digest, b.Digest), cmp.Compare(name(b), name(a))) // those with a tag first
	})
	var last v1.Descriptor
	index.Manifests = slices.DeleteFunc(index.Manifests, func(d v1.Descriptor) bool { // an entry with a tag says all that one without says
		same := d.Digest == last.Digest && name(d) == ""
		last = d
		return same
	})
	text, err := json.Marshal(index)
	if err != nil {
		return err
	}
	if _, err := parseIndex(text); err != nil {
		return fmt.Errorf("the layout is full: %w", err)
	}
	return disk.Place(filepath.Join(l.path, v1.ImageIndexFile), append(text, '\n'), 0o644)
}
