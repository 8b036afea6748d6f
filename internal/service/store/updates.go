package store

import (
	"context"
	"time"
)

// NewerVersion is what a look for newer versions found about one module of the generation in force.
type NewerVersion struct {
	Module     string `json:"module" doc:"Name of the module in the generation"`
	Update     Update `json:"update" enum:"manual,patch" doc:"Which newer versions are looked for"`
	Has        string `json:"has" doc:"Version that the generation has"`
	Version    string `json:"version,omitempty" doc:"Newest version that is looked for; absent: none"`
	Reference  string `json:"reference,omitempty" doc:"Reference to the newest version"`
	Generation int64  `json:"generation,omitempty" minimum:"1" doc:"Generation that has the newest version as a canary"`
	Fault      string `json:"fault,omitempty" doc:"Why nothing was found, or not taken: nothing changed"`
}

// Look is the last look for newer versions of all processes.
type Look struct {
	Ended time.Time      `json:"ended,omitzero" doc:"When; absent: never"`
	Found []NewerVersion `json:"found" doc:"What it found, by module; modules whose updates are pinned are not looked for"`
}

// BeginLook says whether a process is to look: the last look of any process began at least so long ago.
func (s *Store) BeginLook(ctx context.Context, every time.Duration) (begun bool, err error) {
	err = s.write(ctx, func(t *tx) error {
		now, err := s.clock(ctx, t)
		if err != nil {
			return err
		}
		// A clock that was set back must not stop it.
		n, err := t.exec(ctx, `INSERT INTO looks (name, began, ended, found) VALUES ('modules', $1, 0, '[]')
			ON CONFLICT (name) DO UPDATE SET began = excluded.began WHERE looks.began <= $2 OR looks.began > $1`, now, now-every.Microseconds())
		begun = n > 0
		return err
	})
	return begun, err
}

// EndLook keeps what a look found.
func (s *Store) EndLook(ctx context.Context, found []NewerVersion) error {
	return s.change(ctx, `UPDATE looks SET ended = $1, found = $2`, s.now(), object(found))
}

// LastLook reads what the last look found.
func (s *Store) LastLook(ctx context.Context) (Look, error) {
	l := Look{Found: []NewerVersion{}}
	err := one(ctx, s.db, `SELECT ended, found FROM looks`, nil, moment{&l.Ended}, encoded{&l.Found})
	if isNotFound(err) {
		err = nil
	}
	return l, err
}
