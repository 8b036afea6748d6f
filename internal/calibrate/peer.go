package calibrate

import "github.com/shadowcourt/shadowcourt/internal/calibrate/baseline"

// Peer is a way to answer the cases that was carried out beside the court, such as a language model that was asked without one.
type Peer struct {
	ID baseline.ID
	// Name for people.
	Name string
	// Answers are labels by the ids of cases. For the others Light's answer counts.
	Answers map[string]string
	Cost    PeerCost
}

// PeerCost is what a peer took.
type PeerCost struct {
	// Tokens of questions and answers.
	Tokens int `json:"tokens"`
	// Samples that were asked for, and Unanswered of them.
	Samples    int `json:"samples"`
	Unanswered int `json:"unanswered"`
}

// Peers are what language models took, with a court and without.
type Peers struct {
	// CourtTokens is what the court's personas used, Completions what they asked for and Unanswered of them.
	CourtTokens int `json:"court_tokens"`
	Completions int `json:"completions"`
	Unanswered  int `json:"unanswered"`
	// ByPeer says what each peer took, in the order of the baselines.
	ByPeer []PeerTook `json:"by_peer"`
}

// PeerTook is what one peer took.
type PeerTook struct {
	ID   baseline.ID `json:"id"`
	Name string      `json:"name"`
	PeerCost
}

// rivalsOf are peers as rivals of the court. None of them is chosen on a fitting half.
func rivalsOf(peers []Peer) []rival {
	list := make([]rival, len(peers))
	for i := range peers {
		p := &peers[i]
		list[i] = rival{method: baseline.Method{ID: p.ID, Name: p.Name}, rule: func(c *baseline.Case) string {
			if label, ok := p.Answers[c.ID]; ok {
				return label
			}
			return c.Light.Label
		}}
	}
	return list
}

// peersOf sums up what was taken; nil without peers.
func peersOf(tested []Observation, peers []Peer) *Peers {
	if len(peers) == 0 {
		return nil
	}
	p := &Peers{}
	for i := range tested {
		p.CourtTokens += tested[i].ModelTokens
		p.Completions += tested[i].Completions
		p.Unanswered += tested[i].Unanswered
	}
	for i := range peers {
		p.ByPeer = append(p.ByPeer, PeerTook{peers[i].ID, peers[i].Name, peers[i].Cost})
	}
	return p
}
