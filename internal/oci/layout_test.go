package oci_test

import (
	"cmp"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/shadowcourt/shadowcourt/internal/oci"
)

// tree gives the files of a folder.
func tree(t *testing.T, dir string) map[string]string {
	t.Helper()
	all := map[string]string{}
	err := filepath.WalkDir(dir, func(path string, e os.DirEntry, err error) error {
		if err != nil || e.IsDir() {
			return err
		}
		data, err := os.ReadFile(path)
		all[strings.TrimPrefix(path, dir)] = string(data)
		return err
	})
	must(t, err)
	return all
}

// Layouts with the same content have the same bytes, whatever was added first.
func TestAccept_DI1_LayoutsAreReproducible(t *testing.T) {
	t.Parallel()
	var trees []map[string]string
	for _, order := range [][]string{{"a", "b", "c"}, {"c", "a", "b", "a"}} {
		site := filepath.Join(t.TempDir(), "site")
		c := client(t, oci.Config{})
		for _, tag := range order {
			a, err := c.Push(t.Context(), ref(t, "oci-layout:"+site+":"+tag), []byte(tag), nil)
			must(t, err)
			attach(t, c, a, "about "+tag)
		}
		trees = append(trees, tree(t, site))
	}
	same(t, trees[1], trees[0])
	if len(trees[0]) != 2+3*(3+2)+1 {
		t.Errorf("there are %d files", len(trees[0]))
	}
}

// What a layout says leads nowhere else, and is bounded.
func TestAccept_DI3_HostileLayouts(t *testing.T) {
	t.Parallel()
	outside := filepath.Join(t.TempDir(), "outside")
	must(t, os.WriteFile(outside, wasm, 0o600))
	write := func(text string) func(string) error {
		return func(file string) error { return os.WriteFile(file, []byte(text), 0o600) }
	}
	link := func(to string) func(string) error {
		return func(file string) error { return errors.Join(os.RemoveAll(file), os.Symlink(to, file)) }
	}
	folder := func(file string) error { return errors.Join(os.Remove(file), os.Mkdir(file, 0o700)) }
	entry := func(digest string, size int64) func(string) error {
		return write(fmt.Sprintf(`{"schemaVersion":2,"manifests":[{"mediaType":%q,"digest":%q,"size":%d,"annotations":{"org.opencontainers.image.ref.name":"v1"}}]}`, manifestType, digest, size))
	}
	for name, attack := range map[string]struct {
		file  string // empty: the layer
		spoil func(file string) error
		words string
	}{
		"tampered layer":       {"", write("\x00asm\x02\x00\x00\x00"), "does not match its digest"},
		"longer layer":         {"", write(string(wasm) + " "), "at most 8"},
		"no layer":             {"", os.Remove, "not found"},
		"a folder as blob":     {"", folder, "not a regular file"},
		"a link out":           {"", link(outside), "escapes"},
		"a relative link out":  {"", link("../../../../../../../../../.." + outside), "escapes"},
		"a folder that is one": {"blobs", link(filepath.Dir(outside)), "escapes"},
		"an index that is one": {"index.json", link(outside), "escapes"},
		"a path as digest":     {"index.json", entry("sha256:../../../outside", 8), "not one of sha256"},
		"an algorithm":         {"index.json", entry("../../x:"+oci3[7:], 8), "not one of sha256"},
		"a huge manifest":      {"index.json", entry(oci3, 1<<30), "at most 1048576"},
		"a negative size":      {"index.json", entry(oci3, -5), "bytes"},
		"10 MB of index":       {"index.json", write(`{"schemaVersion":2}` + strings.Repeat(" ", 10<<20)), "at most 1048576"},
		"many entries":         {"index.json", write(`{"schemaVersion":2,"manifests":[` + strings.Repeat("{},", 2000) + `{}]}`), "2001 manifests"},
		"no index at all":      {"index.json", write("[]"), "index.json"},
		"no layout":            {"oci-layout", os.Remove, "not an OCI image layout"},
		"a later version":      {"oci-layout", write(`{"imageLayoutVersion":"9.0.0"}`), "9.0.0"},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			dir := filepath.Join(t.TempDir(), "site")
			c := client(t, oci.Config{})
			a := push(t, c, ref(t, "oci-layout:"+dir+":v1"))
			must(t, attack.spoil(filepath.Join(dir, cmp.Or(attack.file, blob(a.Layer.Digest)))))
			rejected(t, c, a.Ref, attack.words)
		})
	}
}

// blob is the file of a blob in a layout.
func blob(digest string) string {
	return filepath.Join("blobs", "sha256", strings.TrimPrefix(digest, "sha256:"))
}

// A layout does not become one that can't be read.
func TestAccept_DI3_AFullLayout(t *testing.T) {
	t.Parallel()
	site := filepath.Join(t.TempDir(), "site")
	c := client(t, oci.Config{})
	a := push(t, c, ref(t, "oci-layout:"+site+":v1"))
	entries := make([]string, 1023)
	for i := range entries {
		entries[i] = fmt.Sprintf(`{"mediaType":"a/b","digest":"sha256:%064x","size":1}`, i)
	}
	index, err := os.ReadFile(filepath.Join(site, "index.json"))
	must(t, err)
	must(t, os.WriteFile(filepath.Join(site, "index.json"), []byte(strings.Replace(string(index), "[{", "["+strings.Join(entries, ",")+",{", 1)), 0o600))
	_, err = c.Push(t.Context(), ref(t, "oci-layout:"+site+":v2"), []byte("another"), nil)
	fails(t, err, "full")
	_, data := pull(t, c, a.Ref)
	same(t, data, wasm)
}

// Nothing is written outside of a layout, and no folder with other things becomes one.
func TestAccept_DI3_LayoutsAreWrittenWithin(t *testing.T) {
	t.Parallel()
	c := client(t, oci.Config{})
	other, site := t.TempDir(), t.TempDir()
	for _, folder := range []string{"blobs", "blobs/sha256"} {
		dir := t.TempDir()
		must(t, os.MkdirAll(filepath.Dir(filepath.Join(dir, folder)), 0o700))
		must(t, os.Symlink(other, filepath.Join(dir, folder)))
		_, err := c.Push(t.Context(), ref(t, "oci-layout:"+dir+":v1"), wasm, nil)
		fails(t, err)
		same(t, tree(t, other), map[string]string{})
	}

	full := t.TempDir()
	must(t, os.WriteFile(filepath.Join(full, "notes"), []byte("mine"), 0o600))
	_, err := c.Push(t.Context(), ref(t, "oci-layout:"+full+":v1"), wasm, nil)
	fails(t, err, "other files")
	same(t, tree(t, full), map[string]string{"/notes": "mine"})

	a := push(t, c, ref(t, "oci-layout:"+filepath.Join(site, "real")+":v1"))
	index := filepath.Join(site, "real", "index.json")
	must(t, os.Rename(index, filepath.Join(other, "index.json")))
	must(t, os.Symlink(filepath.Join(other, "index.json"), index))
	was := tree(t, other)
	_, err = c.Attach(t.Context(), a, oci.Attachment{Type: signature, Data: []byte("x")})
	fails(t, err, "escapes")
	same(t, tree(t, other), was)
}
