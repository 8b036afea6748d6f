package trust_test

import (
	"crypto/rand"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/shadowcourt/shadowcourt/host/record"
	"github.com/shadowcourt/shadowcourt/internal/moduleref"
	"github.com/shadowcourt/shadowcourt/internal/trust"
)

func TestARepositoryIsCoveredByARuleForItOrAbove(t *testing.T) {
	t.Parallel()
	key, err := record.NewKey(rand.Reader)
	must(t, err)
	public, err := key.PublicPEM()
	must(t, err)
	p, err := trust.Parse("trust.yaml", []byte("keys: [{name: acme, key: acme.pub}]\nallow: [{from: [registry.example/judges], names: [\"*\"], roles: [edge], signed_by: [acme]}]\n"),
		func(string) ([]byte, error) { return public, nil })
	must(t, err)
	for repository, want := range map[string]string{
		"registry.example/judges/reader":       "",
		"registry.example/judges":              "",
		"registry.example/judgesx":             "no rule allows the repository registry.example/judgesx",
		"registry.example/other":               "trust.yaml:2",
		"registry.example:5000/judges/reader":  "no rule allows",
		"169.254.169.254/latest":               "no rule allows",
		"registry.example/judges/../../secret": "no rule allows",
	} {
		err := p.Covers(trust.Subject{Repository: repository}, trust.Use{})
		if (err == nil) != (want == "") || err != nil && !strings.Contains(err.Error(), want) {
			t.Errorf("%s: %v", repository, err)
		}
	}
	p = nil
	if err := p.Covers(trust.Subject{Repository: "registry.example/judges/reader"}, trust.Use{Roles: []string{"edge"}}); err == nil || !strings.Contains(err.Error(), "--trust") {
		t.Errorf("without a policy: %v", err)
	}
}

// A path below a folder by its text may lead elsewhere by a link, and a folder in "from" may be relative to the policy.
func TestAccept_DI3_LayoutsAreTheFoldersThatAreOpened(t *testing.T) {
	t.Parallel()
	dir := t.TempDir()
	for _, folder := range []string{"modules/reader", "elsewhere/deep", "elsewhere/evil"} {
		must(t, os.MkdirAll(filepath.Join(dir, folder), 0o700))
	}
	for link, to := range map[string]string{"modules/current": "elsewhere/deep", "usb": "modules"} {
		must(t, os.Symlink(filepath.Join(dir, to), filepath.Join(dir, link)))
	}
	_, public := newKey(t, 1)
	for _, from := range []string{"modules", "./usb", dir + "/usb"} {
		p, err := trust.Parse(filepath.Join(dir, "trust.yaml"), []byte("keys: [{name: acme, key: a.pub}]\nallow: [{from: ['oci-layout:"+from+
			"'], names: ['*'], roles: [edge], signed_by: [acme]}]\n"), func(string) ([]byte, error) { return []byte(public), nil })
		must(t, err)
		for folder, want := range map[string]bool{
			"modules": true, "modules/reader": true, "usb/reader": true, "modules/../modules/reader": true,
			"modules/current": false, "modules/current/../evil": false, "elsewhere": false, "modules/../elsewhere": false,
		} {
			err := p.Covers(trust.Subject{Repository: moduleref.Layout + dir + "/" + folder}, trust.Use{})
			if (err == nil) != want {
				t.Errorf("from %s, %s: %v", from, folder, err)
			}
		}
	}
}
