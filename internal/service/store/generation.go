package store

import (
	"context"
	"fmt"
	"maps"
	"slices"
	"time"
)

// Parts are what a generation consists of: digests of blobs (see [Store.AddBlob]).
type Parts struct {
	// Modules are wasm files, without ".wasm".
	Modules map[string]string `json:"modules" doc:"SHA-256 of each module by its name"`
	// Canary are the modules that a candidate court has in place of these, by the persona (or the name of the module that
	// evaluates edges); empty for no candidate.
	Canary map[string]string `json:"canary,omitempty" doc:"SHA-256 of each module of the candidate court by what it is in place of"`
	// References say where modules came from that a registry has, by the names in Modules; CanaryReferences likewise of Canary.
	References       map[string]Reference `json:"references,omitempty" doc:"Where modules came from that a registry has, by name"`
	CanaryReferences map[string]Reference `json:"canary_references,omitempty" doc:"Where modules of the candidate court came from that a registry has, by what they are in place of"`
	// Files are named such as "pipeline", "light_path", "profile:go-test". What is not there is the one that this program has embedded.
	Files map[string]string `json:"files,omitempty" doc:"SHA-256 of pipelines, profiles and rubrics by what they are for"`
}

// Reference is where a module of a registry came from, and why it was accepted.
type Reference struct {
	Reference string `json:"reference" doc:"Reference that was given" example:"oci://registry.example/judges/reader:v1.2.3"`
	Manifest  string `json:"manifest" doc:"Digest of the OCI manifest that it stood for"`
	Name      string `json:"name" doc:"Name in the module's manifest"`
	Version   string `json:"version" doc:"Version in the module's manifest"`
	Signer    string `json:"signer" doc:"Names of the keys whose signatures counted"`
	Policy    string `json:"policy" doc:"Line of the trust policy that decided, and the digest of the policy" example:"trust.yaml:14 sha256:..."`
	// Roles and Grants are what it was accepted for.
	Roles  []string `json:"roles" doc:"Roles that it was accepted for"`
	Grants []string `json:"grants,omitempty" doc:"Capabilities that it was accepted for"`
}

// Digests lists all digests, sorted, each once.
func (p *Parts) Digests() []string {
	var list []string
	for _, m := range []map[string]string{p.Modules, p.Canary, p.Files} {
		list = slices.AppendSeq(list, maps.Values(m))
	}
	slices.Sort(list)
	return slices.Compact(list)
}

// Generation is a set of modules, pipelines and profiles that are in force together. But for Current it never changes.
type Generation struct {
	ID      int64 `json:"id" minimum:"1" doc:"ID of the generation"`
	Parent  int64 `json:"parent,omitempty" minimum:"1" doc:"Generation that it was made from"`
	Current bool  `json:"current" doc:"Whether it is in force"`
	Parts
	// Share is in (0, 1]; 0 without a canary.
	Share   float64   `json:"share,omitempty" minimum:"0" maximum:"1" doc:"Share of the trials that the candidate court tries, too"`
	Note    string    `json:"note,omitempty" doc:"What its author says of it"`
	Author  string    `json:"author" doc:"Who added it"`
	Created time.Time `json:"created" doc:"When"`
}

// AddBlob keeps a module, a pipeline, a profile or a rubric under its hexadecimal SHA-256.
func (s *Store) AddBlob(ctx context.Context, content []byte) (digest string, err error) {
	digest = digestOf(content)
	err = s.change(ctx, `INSERT INTO blobs (digest, size, body, created) VALUES ($1, $2, $3, $4) ON CONFLICT DO NOTHING`,
		digest, int64(len(content)), pack(content), s.now())
	return digest, err
}

// Blob reads what AddBlob kept.
func (s *Store) Blob(ctx context.Context, digest string) ([]byte, error) {
	var body []byte
	if err := one(ctx, s.db, `SELECT body FROM blobs WHERE digest = $1`, []any{text(digest, maxName)}, &body); err != nil {
		return nil, fmt.Errorf("module or file %q: %w", text(digest, 64), err)
	}
	content, err := unpack(body, "blob "+digest)
	if err == nil && digestOf(content) != digest {
		err = fmt.Errorf("the database is damaged: blob %s has other contents", digest)
	}
	return content, err
}

// AddGeneration adds a generation, which is not in force until it is activated. All its blobs must be there (else ErrNotFound).
// Its ID and time are set.
func (s *Store) AddGeneration(ctx context.Context, g Generation) (Generation, error) {
	err := s.write(ctx, func(t *tx) (err error) {
		g, err = t.addGeneration(ctx, g, s.now())
		return err
	})
	return g, err
}

func (t *tx) addGeneration(ctx context.Context, g Generation, now int64) (Generation, error) {
	g.Note, g.Author, g.Created = text(g.Note, maxText), text(g.Author, maxName), at(now)
	for _, digest := range g.Digests() {
		var n int64
		if err := one(ctx, t, `SELECT count(*) FROM blobs WHERE digest = $1`, []any{digest}, &n); err != nil {
			return g, err
		}
		if n == 0 {
			return g, fmt.Errorf("module or file %q of the generation: %w", text(digest, 64), ErrNotFound)
		}
	}
	if g.Parent != 0 {
		if _, err := readGeneration(ctx, t, g.Parent); err != nil {
			return g, err
		}
	}
	if err := one(ctx, t, `INSERT INTO generations (parent, parts, share, note, author, created) VALUES ($1, $2, $3, $4, $5, $6) RETURNING id`,
		[]any{g.Parent, object(g.Parts), g.Share, g.Note, g.Author, now}, &g.ID); err != nil {
		return g, err
	}
	return g, t.notify(ctx, Event{EventGeneration, g.ID})
}

// BeginWith makes a generation the current one if there is none yet, and gives the current one. It is how a new store gets the
// modules of this program.
func (s *Store) BeginWith(ctx context.Context, g Generation) (current int64, err error) {
	err = s.write(ctx, func(t *tx) error {
		// The row is locked, so that of several programs one begins.
		if err := one(ctx, t, `UPDATE counters SET value = value WHERE name = 'generation' RETURNING value`, nil, &current); err != nil || current != 0 {
			return err
		}
		added, err := t.addGeneration(ctx, g, s.now())
		if err != nil {
			return err
		}
		current = added.ID
		t.run(ctx, `UPDATE counters SET value = $1 WHERE name = 'generation'`, current)
		return nil
	})
	return current, err
}

// Activate puts a generation in force, be it a new or an old one: the dockets that are received from now on are tried with it, and those that
// are queued keep theirs.
func (s *Store) Activate(ctx context.Context, author string, id int64) (g Generation, err error) {
	err = s.write(ctx, func(t *tx) error {
		t.run(ctx, `UPDATE counters SET value = $1 WHERE name = 'generation'`, id)
		if g, err = readGeneration(ctx, t, id); err != nil {
			return err
		}
		hooks, err := t.webhooks(ctx)
		if err == nil {
			err = t.post(ctx, hooks, nil, HookEvent{
				Time: at(s.now()), Generation: &HookGeneration{ID: id, Author: text(author, maxName), Note: text(g.Note, maxName)},
			}, GenerationActivated)
		}
		if err != nil {
			return err
		}
		return t.notify(ctx, Event{EventGeneration, id})
	})
	return g, err
}

const generationColumns = `id, parent, parts, share, note, author, created, id = (SELECT value FROM counters WHERE name = 'generation')`

func scanGeneration(scan scanner) (Generation, error) {
	g := Generation{Parts: Parts{Modules: map[string]string{}}}
	err := scan(&g.ID, &g.Parent, encoded{&g.Parts}, &g.Share, &g.Note, &g.Author, moment{&g.Created}, &g.Current)
	return g, err
}

func readGeneration(ctx context.Context, q querier, id int64) (Generation, error) {
	return rowOf(ctx, q, fmt.Sprintf("generation %d", id), `SELECT `+generationColumns+` FROM generations WHERE id = $1`, []any{id}, scanGeneration)
}

// Generation reads one.
func (s *Store) Generation(ctx context.Context, id int64) (Generation, error) {
	return readGeneration(ctx, s.db, id)
}

// Generations lists them, the latest first, from one on with a smaller id than before (0: all); at most limit, 0 for 100.
func (s *Store) Generations(ctx context.Context, before int64, limit int) ([]Generation, error) {
	var w where
	w.before(before)
	return rowsOf(ctx, s.db, `SELECT `+generationColumns+` FROM generations`+w.text()+` ORDER BY id DESC`+w.limit(limit, 100, 1000), w.args, scanGeneration)
}

// CurrentGeneration is the one in force; 0 for none.
func (s *Store) CurrentGeneration(ctx context.Context) (id int64, err error) {
	err = one(ctx, s.db, `SELECT value FROM counters WHERE name = 'generation'`, nil, &id)
	return id, err
}
