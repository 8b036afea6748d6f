package record

import (
	"bytes"
	"context"
	"crypto/ed25519"
	"crypto/x509"
	"encoding/pem"
	"errors"
	"fmt"
	"io"
)

// The types of PEM blocks that a key may be.
const (
	pemPrivate = "PRIVATE KEY" // PKCS#8
	pemPublic  = "PUBLIC KEY"  // PKIX
)

// Key signs records, or only verifies them. It may be used concurrently. It never shows its secret but by PEM: printed, it is its id.
type Key struct {
	id      string
	public  ed25519.PublicKey
	private ed25519.PrivateKey // nil for a key that only verifies
}

// NewKey makes an Ed25519 key from random bytes.
func NewKey(random io.Reader) (*Key, error) {
	seed := make([]byte, ed25519.SeedSize)
	if _, err := io.ReadFull(random, seed); err != nil {
		return nil, err
	}
	return privateKey(ed25519.NewKeyFromSeed(seed))
}

// ParseKey reads a key in PEM: a private key in PKCS#8, or a public one in PKIX. Its errors show nothing of the text.
func ParseKey(text []byte) (*Key, error) {
	block, rest := pem.Decode(text)
	switch {
	case block == nil:
		return nil, errors.New("there is no key in PEM")
	case len(block.Headers) > 0:
		return nil, errors.New("a key with headers, such as an encrypted one, can't be used")
	}
	if bytes.Contains(rest, []byte("-----BEGIN")) {
		return nil, errors.New("there is more than one key")
	}
	switch block.Type {
	case pemPrivate:
		parsed, err := x509.ParsePKCS8PrivateKey(block.Bytes)
		if err != nil {
			return nil, errors.New("the private key can't be read")
		}
		private, ok := parsed.(ed25519.PrivateKey)
		if !ok {
			return nil, errors.New("the private key is not one for Ed25519")
		}
		return privateKey(private)
	case pemPublic:
		parsed, err := x509.ParsePKIXPublicKey(block.Bytes)
		if err != nil {
			return nil, errors.New("the public key can't be read")
		}
		public, ok := parsed.(ed25519.PublicKey)
		if !ok {
			return nil, errors.New("the public key is not one for Ed25519")
		}
		return publicKey(public)
	}
	return nil, fmt.Errorf("a PEM block of the type %q is no key for records", block.Type)
}

func privateKey(private ed25519.PrivateKey) (*Key, error) {
	public, ok := private.Public().(ed25519.PublicKey)
	if !ok {
		return nil, errors.New("the private key has no public one")
	}
	k, err := publicKey(public)
	if err == nil {
		k.private = private
	}
	return k, err
}

func publicKey(public ed25519.PublicKey) (*Key, error) {
	der, err := x509.MarshalPKIXPublicKey(public)
	if err != nil {
		return nil, err
	}
	return &Key{id: "ed25519:" + DigestOf(der).Hex(), public: public}, nil
}

// ID names the key in signatures. It is no secret.
func (k *Key) ID() string { return k.id }

// String gives the id.
func (k *Key) String() string { return k.id }

// GoString gives the id.
func (k *Key) GoString() string { return "record.Key(" + k.id + ")" }

// Signs says whether the key can sign; a public one only verifies.
func (k *Key) Signs() bool { return k.private != nil }

// PEM gives the secret key as text, for its file.
func (k *Key) PEM() ([]byte, error) {
	if k.private == nil {
		return nil, errors.New("a public key has no secret")
	}
	der, err := x509.MarshalPKCS8PrivateKey(k.private)
	if err != nil {
		return nil, err
	}
	return pem.EncodeToMemory(&pem.Block{Type: pemPrivate, Bytes: der}), nil
}

// PublicPEM gives the public key as text.
func (k *Key) PublicPEM() ([]byte, error) {
	der, err := x509.MarshalPKIXPublicKey(k.public)
	if err != nil {
		return nil, err
	}
	return pem.EncodeToMemory(&pem.Block{Type: pemPublic, Bytes: der}), nil
}

// verifies says whether a signature over data is of the key.
func (k *Key) verifies(data, signature []byte) bool {
	return ed25519.Verify(k.public, data, signature)
}

var errSignature = errors.New("the signature is not of this key over these bytes")

// signer is a Key as the library wants it.
type signer struct{ *Key }

// Sign signs the bytes that an envelope stands for.
func (s signer) Sign(_ context.Context, data []byte) ([]byte, error) {
	if s.private == nil {
		return nil, errors.New("a public key can't sign")
	}
	return ed25519.Sign(s.private, data), nil
}

// KeyID gives the id.
func (s signer) KeyID() (string, error) { return s.id, nil }
