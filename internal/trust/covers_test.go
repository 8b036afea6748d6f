package trust_test

import (
	"crypto/rand"
	"strings"
	"testing"

	"github.com/shadowcourt/shadowcourt/host/record"
	"github.com/shadowcourt/shadowcourt/internal/trust"
)

func TestARepositoryIsCoveredByARuleForItOrAbove(t *testing.T) {
	t.Parallel()
	key, err := record.NewKey(rand.Reader)
	if err != nil {
		t.Fatal(err)
	}
	public, err := key.PublicPEM()
	if err != nil {
		t.Fatal(err)
	}
	p, err := trust.Parse("trust.yaml", []byte("keys: [{name: acme, key: acme.pub}]\nallow: [{from: [registry.example/judges], names: [\"*\"], roles: [edge], signed_by: [acme]}]\n"),
		func(string) ([]byte, error) { return public, nil })
	if err != nil {
		t.Fatal(err)
	}
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
