package trial

// Comparison says how the answers of a trial relate, without naming them: redaction may make different labels equal.
type Comparison struct {
	// Known: the right classification is known.
	Known bool
	// LightRight: Light's first answer is right; CourtRight: the final one is.
	LightRight, CourtRight bool
	// Flipped: the court named another label than Light's first answer.
	Flipped bool
	// BesideFlips: the candidate court, where one took part, ended the case with another status or another label.
	// BesideRight: its label is right.
	BesideFlips, BesideRight bool
}

// Compare relates the answers of a trial.
func (t *Trial) Compare() Comparison {
	if t.Compared != nil {
		return *t.Compared
	}
	r := &t.Result
	var c Comparison
	final := r.Final.Classification
	c.Flipped = r.Activated && r.Light != nil && final != "" && final != r.Light.Classification
	if t.Truth != nil && t.Truth.Classification != "" {
		c.Known = true
		c.LightRight = r.Light != nil && r.Light.Classification == t.Truth.Classification
		c.CourtRight = final == t.Truth.Classification
		c.BesideRight = t.Beside != nil && t.Beside.Result.Final.Classification == t.Truth.Classification
	}
	if t.Beside != nil {
		other := t.Beside.Result.Final
		c.BesideFlips = other.Status != r.Final.Status || other.Classification != final
	}
	return c
}
