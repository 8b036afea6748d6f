// Package trust decides which modules of a registry a court may run: it reads the trust policy, makes and verifies signatures, and names
// the line of the policy that decides. [Source] fetches modules that are named by references when the policy has accepted them: first the
// manifest, by its digest where one is pinned, then what is attached to it, then the policy decides, and only then comes the module, which
// has to be what the manifest says. [Lock] is the file in which the modules of a pipeline are pinned.
//
// Every rule needs a signature. There is no rule for unsigned modules: beside a rule with signers, anybody who removes a signature would
// come in by the weaker one. What nobody signs is run from a file.
package trust

import (
	"crypto"
	"crypto/ecdsa"
	"crypto/ed25519"
	"crypto/elliptic"
	"crypto/x509"
	"encoding/json"
	"encoding/pem"
	"errors"
	"fmt"
	"path"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"time"

	"github.com/shadowcourt/shadowcourt/abi"
	"github.com/shadowcourt/shadowcourt/host/pipeline"
	"github.com/shadowcourt/shadowcourt/host/record"
	"github.com/shadowcourt/shadowcourt/internal/moduleref"
	"github.com/shadowcourt/shadowcourt/internal/strictyaml"
)

// The most bytes that are read of a policy and of a file that it names, and the most keys and rules of a policy.
const (
	MaxFileBytes = 1 << 20
	MaxKeys      = 100
	MaxRules     = 1000
)

// The roles of modules that are no personas of a pipeline; those of personas are [pipeline.Roles].
const (
	RoleEdge      = "edge"      // evaluates edges
	RoleCriterion = "criterion" // judges criteria of the audit
)

// The codes of faults of a policy, and of rejections by one.
const (
	CodeBadKey      abi.Code = "bad_key"
	CodeBadDate     abi.Code = "bad_date"
	CodeBadPattern  abi.Code = "bad_pattern"
	CodeDuplicate   abi.Code = "duplicate_name"
	CodeUnknownName abi.Code = "unknown_name"
	CodeTooMany     abi.Code = "too_many"

	CodeNoPolicy   abi.Code = "no_policy"      // there is no policy, and the module comes from a registry
	CodeRepository abi.Code = "repository"     // no rule allows the repository
	CodeName       abi.Code = "name"           // the rule does not allow the name
	CodeRole       abi.Code = "role"           // the rule does not allow a role
	CodeCapability abi.Code = "capability"     // the rule does not allow a capability
	CodeUnsigned   abi.Code = "unsigned"       // no signature by a key of the rule
	CodeExpired    abi.Code = "key_expired"    // signed by a key of the rule, which has expired
	CodeRevoked    abi.Code = "key_revoked"    // signed by a key of the rule, which was revoked
	CodeLocal      abi.Code = "local"          // a module of a file or folder, which the policy rejects
	CodeManifest   abi.Code = "other_manifest" // the signature tells another name or other capabilities
)

// Policy says whose modules may do what. A nil Policy allows only modules that are embedded or local. It may be used concurrently.
type Policy struct {
	file, digest string
	places       strictyaml.Places
	keys         []key
	rules        []rule
	local        bool
}

// rule allows modules that fit all of it.
type rule struct {
	From         []string         `yaml:"from"`
	Names        []string         `yaml:"names"`
	Roles        []string         `yaml:"roles"`
	SignedBy     []string         `yaml:"signed_by"`
	Signatures   int              `yaml:"signatures"`
	Capabilities []abi.Capability `yaml:"capabilities"`
}

// Load reads the policy at path, and the keys and trusted roots beside it. Its error is a [strictyaml.Errors] with every fault.
func Load(path string) (*Policy, error) {
	data, err := strictyaml.ReadFile(path, MaxFileBytes, strictyaml.Open)
	if err != nil {
		return nil, err
	}
	return Parse(path, data, func(name string) ([]byte, error) {
		if !filepath.IsAbs(name) {
			name = filepath.Join(filepath.Dir(path), name)
		}
		return strictyaml.ReadFile(name, MaxFileBytes, strictyaml.Open)
	})
}

// Parse is [Load] for a policy whose bytes were read already. read gives the files that it names.
func Parse(file string, data []byte, read func(name string) ([]byte, error)) (*Policy, error) {
	r := &strictyaml.Reader{File: file}
	p := &Policy{file: file, digest: string(record.DigestOf(data)), local: true}
	if root := r.Document(data, MaxFileBytes); root != nil {
		r.Struct(root, "", &struct{}{}, map[string]strictyaml.Setter{"keys": r.Into(&p.keys), "allow": r.Into(&p.rules), "local": r.Into(&p.local)})
		p.places = r.Places
		p.check(r, read)
	}
	if err := r.Err(); err != nil {
		return nil, err
	}
	return p, nil
}

// Digest is that of the policy's file, "sha256:" and 64 hex digits; empty without a policy. It ends [Decision.Policy].
func (p *Policy) Digest() string {
	if p == nil {
		return ""
	}
	return p.digest
}

// OfKey is a policy that knows one key, and allows what it has signed in a repository; without one, nothing. text is a public key in PEM.
func OfKey(name string, text []byte, repository ...string) (*Policy, error) {
	k := key{Name: name}
	err := k.parse(text)
	all := rule{From: repository, Names: []string{"*"}, Roles: knownRoles(), SignedBy: []string{name}, Signatures: 1, Capabilities: pipeline.Capabilities()}
	return &Policy{keys: []key{k}, rules: []rule{all}}, err
}

func (p *Policy) check(r *strictyaml.Reader, read func(string) ([]byte, error)) {
	tooMany := func(path string, n, most int) bool {
		if n > most {
			r.FailAt(path, CodeTooMany, "at most %d are allowed, not %d", most, n)
		}
		return n > most
	}
	if tooMany("keys", len(p.keys), MaxKeys) || tooMany("allow", len(p.rules), MaxRules) {
		return
	}
	for i := range p.keys {
		at := strictyaml.IndexPath("keys", i)
		k := &p.keys[i]
		k.check(r, at, read)
		for j := range p.keys[:i] {
			switch other := &p.keys[j]; {
			case k.Name == other.Name:
				r.FailAt(at+".name", CodeDuplicate, "%q is the name of keys[%d] already", r.Word(k.Name), j)
			case k.Identity != "" && k.Identity == other.Identity && k.Issuer == other.Issuer:
				r.FailAt(at+".identity", CodeDuplicate, "is the identity of keys[%d] already", j)
			case k.IdentityRegexp != "" && k.IdentityRegexp == other.IdentityRegexp && k.Issuer == other.Issuer:
				r.FailAt(at+".identity_regexp", CodeDuplicate, "is the pattern of keys[%d] already", j)
			case k.id != "" && k.id == other.id: // else a revoked key would count by its other name
				r.FailAt(at+".key", CodeDuplicate, "is the key of keys[%d] already", j)
			}
		}
	}
	for i := range p.rules {
		p.rules[i].check(r, strictyaml.IndexPath("allow", i), p.keys)
		p.rules[i].locate(filepath.Dir(p.file))
	}
}

func (w *rule) check(r *strictyaml.Reader, at string, keys []key) {
	each := func(field string, list []string, fault func(string) (abi.Code, string)) {
		if len(list) == 0 {
			r.FailAt(at+"."+field, strictyaml.CodeMissing, "is missing or empty")
		}
		for i, one := range list {
			if code, message := fault(one); message != "" {
				r.FailAt(strictyaml.IndexPath(at+"."+field, i), code, "%q %s", r.Word(one), message)
			}
		}
	}
	each("from", w.From, func(from string) (abi.Code, string) { return CodeBadPattern, badFrom(from) })
	each("names", w.Names, func(name string) (abi.Code, string) {
		if _, err := path.Match(name, ""); err != nil || name == "" {
			return CodeBadPattern, "is no pattern of names; * stands for any characters but /"
		}
		return "", ""
	})
	roles := knownRoles()
	each("roles", w.Roles, func(role string) (abi.Code, string) {
		if !slices.Contains(roles, role) {
			return CodeUnknownName, "is no role; known are " + strings.Join(roles, ", ")
		}
		return "", ""
	})
	seen := make(map[string]bool)
	each("signed_by", w.SignedBy, func(name string) (abi.Code, string) {
		if seen[name] {
			return CodeDuplicate, "is given twice"
		}
		if seen[name] = true; !slices.ContainsFunc(keys, func(k key) bool { return k.Name == name }) {
			return CodeUnknownName, "is no name of a key"
		}
		return "", ""
	})
	if _, given := r.Places[at+".signatures"]; !given {
		w.Signatures = 1
	}
	if w.Signatures < 1 || w.Signatures > len(w.SignedBy) {
		r.FailAt(at+".signatures", strictyaml.CodeOutOfRange, "must be 1 to the number of keys in signed_by")
	}
	for i, c := range w.Capabilities {
		if !slices.Contains(pipeline.Capabilities(), c) {
			r.FailAt(strictyaml.IndexPath(at+".capabilities", i), CodeUnknownName, "%q is no capability", r.Word(string(c)))
		}
	}
}

// locate makes relative folders absolute: they are relative to that of the policy.
func (w *rule) locate(dir string) {
	for i, from := range w.From {
		folder, layout := strings.CutPrefix(from, moduleref.Layout)
		if !layout || filepath.IsAbs(folder) {
			continue
		}
		if at, err := filepath.Abs(dir); err == nil { // else it covers nothing
			w.From[i] = moduleref.Layout + at + string(filepath.Separator) + folder
		}
	}
}

func knownRoles() []string {
	roles := []string{RoleEdge, RoleCriterion}
	for _, role := range pipeline.Roles() {
		roles = append(roles, string(role))
	}
	slices.Sort(roles)
	return roles
}

// badFrom says why a text is no prefix of repositories.
func badFrom(from string) string {
	folder, layout := strings.CutPrefix(from, moduleref.Layout)
	switch {
	case from == "*":
		return ""
	case layout && folder == "":
		return "must name a folder after " + moduleref.Layout
	case layout:
		return ""
	case from != strings.ToLower(from):
		return "must be in lower case, as hosts and repositories are"
	case !clean(from) || strings.ContainsAny(from, "*@ \t"):
		return "is neither a host nor a repository: HOST[:PORT][/REPOSITORY], without a scheme; * alone is every registry"
	}
	return ""
}

// clean says whether no part of a path is empty, "." or "..".
func clean(p string) bool {
	return p != "" && p != "." && p != ".." && p[0] != '/' && !strings.HasPrefix(p, "../") && path.Clean(p) == p
}

// day ends at midnight UTC after it.
type day struct{ time.Time }

// ReadYAML takes a date, quoted or not.
func (d *day) ReadYAML(r *strictyaml.Reader, v *strictyaml.Node, path string) {
	at, err := time.Parse(time.DateOnly, v.Value)
	if err != nil {
		r.Fail(v, path, CodeBadDate, "want a date such as 2026-12-31, not %q", strictyaml.Clip(v.Value))
	}
	d.Time = at
}

// over says whether a day has passed.
func (d day) over(now time.Time) bool { return !d.IsZero() && !now.Before(d.AddDate(0, 0, 1)) }

// fault gives the rejection by what stands at a path of the policy.
func (p *Policy) fault(path string, code abi.Code, format string, args ...any) *strictyaml.Error {
	at := p.places.At(path)
	return &strictyaml.Error{File: p.file, Line: at.Line, Column: at.Column, Path: path, Code: code, Message: fmt.Sprintf(format, args...)}
}

// AllowsLocal gives nil if modules of files and folders may run, and else the line of the policy that rejects them.
func (p *Policy) AllowsLocal() error {
	if p == nil || p.local {
		return nil
	}
	return p.fault("local", CodeLocal, "modules of files and folders are rejected; name one of a registry, or set local: true")
}

var errNotPublic = errors.New("want one public key in PEM: Ed25519, or ECDSA P-256 as cosign generates it")

// wholly makes a regular expression that only matches whole texts.
func wholly(pattern string) (*regexp.Regexp, error) {
	if _, err := regexp.Compile(pattern); err != nil { // alone, so that it can't close the group
		return nil, err
	}
	return regexp.Compile(`\A(?:` + pattern + `)\z`)
}

// reason is the message of an error of a file, without its name.
func reason(err error) string {
	if fault, ok := errors.AsType[*strictyaml.Error](err); ok {
		return fault.Message
	}
	return err.Error()
}

// key is one that signs: a public key, or who signs without one of their own, by the certificates of an identity.
type key struct {
	Name           string `yaml:"name"`
	Key            string `yaml:"key"`
	Issuer         string `yaml:"issuer"`
	Identity       string `yaml:"identity"`
	IdentityRegexp string `yaml:"identity_regexp"`
	TrustedRoot    string `yaml:"trusted_root"`
	Expires        day    `yaml:"expires"`
	Revoked        string `yaml:"revoked"`

	id       string           // of a public key
	public   crypto.PublicKey // nil for an identity
	record   *record.Key      // of Ed25519
	identity *regexp.Regexp
	root     json.RawMessage // of an identity
}

func (k *key) check(r *strictyaml.Reader, at string, read func(string) ([]byte, error)) {
	r.Required(at+".name", k.Name)
	if _, given := r.Places[at+".revoked"]; given {
		r.Required(at+".revoked", k.Revoked) // an empty reason must not leave the key in force
	}
	load := func(field, name string, parse func([]byte) error) {
		data, err := read(name)
		if err == nil {
			err = parse(data)
		}
		if err != nil {
			r.FailAt(at+"."+field, CodeBadKey, "%s: %s", r.Word(name), reason(err))
		}
	}
	keyless := k.Issuer + k.Identity + k.IdentityRegexp + k.TrustedRoot
	switch {
	case k.Key != "" && keyless != "":
		r.FailAt(at, CodeBadKey, "has either a key, or issuer, identity and trusted_root")
	case k.Key != "":
		load("key", k.Key, k.parse)
	case keyless == "":
		r.FailAt(at, strictyaml.CodeMissing, "a key is missing: key with the name of a file, or issuer, identity and trusted_root")
	default:
		r.Required(at+".issuer", k.Issuer)
		if (k.Identity == "") == (k.IdentityRegexp == "") {
			r.FailAt(at, strictyaml.CodeMissing, "needs either identity, which is compared exactly, or identity_regexp, which matches a whole identity")
		}
		var err error
		if k.identity, err = wholly(k.IdentityRegexp); err != nil {
			r.FailAt(at+".identity_regexp", CodeBadPattern, "%v", err)
		}
		if r.Required(at+".trusted_root", k.TrustedRoot); k.TrustedRoot != "" {
			load("trusted_root", k.TrustedRoot, k.parseRoot)
		}
	}
}

// parse reads a public key.
func (k *key) parse(text []byte) error {
	block, rest := pem.Decode(text)
	if block != nil && strings.HasSuffix(block.Type, "PRIVATE KEY") {
		return errors.New("is a secret key: name the file of the public one, which ends in .pub")
	}
	if block == nil || block.Type != "PUBLIC KEY" || strings.Contains(string(rest), "-----BEGIN") {
		return errNotPublic
	}
	public, err := x509.ParsePKIXPublicKey(block.Bytes)
	if err != nil {
		return errNotPublic
	}
	switch public := public.(type) {
	case ed25519.PublicKey:
		if k.record, err = record.ParseKey(text); err != nil {
			return err
		}
		k.id, k.public = k.record.ID(), public
	case *ecdsa.PublicKey:
		der, err := x509.MarshalPKIXPublicKey(public)
		if err != nil || public.Curve != elliptic.P256() {
			return errNotPublic
		}
		k.id, k.public = "ecdsa-p256:"+record.DigestOf(der).Hex(), public
	default:
		return errNotPublic
	}
	return nil
}

// parseRoot keeps a trusted root. Only the program for keyless signatures reads all of it.
func (k *key) parseRoot(data []byte) error {
	var root struct {
		MediaType string `json:"mediaType"`
	}
	if err := json.Unmarshal(data, &root); err != nil {
		return err
	}
	if !strings.HasPrefix(root.MediaType, "application/vnd.dev.sigstore.trustedroot") {
		return errors.New("it is no trusted root of sigstore, of which cosign trusted-root create writes one")
	}
	k.root = data
	return nil
}

// why says why signatures of a key do not count, and names the field of the policy that decides; empty if they do.
func (k *key) why(now time.Time) (field, reason string) {
	switch {
	case k.Revoked != "":
		return "revoked", "the key " + k.Name + " was revoked: " + k.Revoked
	case k.Expires.over(now):
		return "expires", "the key " + k.Name + " expired after " + k.Expires.Format(time.DateOnly)
	}
	return "", ""
}

// rank orders keys that have the same identity: a revoked one decides whatever the others say, and an expired one only where no other has it.
func (k *key) rank(now time.Time) int {
	switch field, _ := k.why(now); field {
	case "revoked":
		return 0
	case "":
		return 1
	}
	return 2
}
