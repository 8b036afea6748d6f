package abitest

import (
	"slices"

	"github.com/shadowcourt/shadowcourt/abi"
	"github.com/shadowcourt/shadowcourt/abi/codec"
	"github.com/shadowcourt/shadowcourt/abi/internal/msgtree"
)

// absent puts plain cases to every role from which one optional field was
// taken, or one list emptied: each field and each list by itself.
func (k *kit) absent() error {
	sent := map[string]bool{}
	return k.each("fields left out", plainCases, plain, func(_ int, r *Request) error {
		list, err := k.afterAnswer(r)
		for _, r := range list {
			if err == nil && !k.spent() {
				err = k.absentFrom(r, sent)
			}
		}
		return err
	})
}

// absentFrom sends the variants of a request that were not sent to its role yet.
func (k *kit) absentFrom(r *Request, sent map[string]bool) error {
	role := string(r.Call())
	if r.Node != nil {
		role = string(r.Node.Family)
	}
	for _, v := range variants(r) {
		if sent[role+v.what] {
			continue
		}
		sent[role+v.what] = true
		if err := k.sendVariant(r, &v); err != nil || k.spent() {
			return err
		}
	}
	return nil
}

// variant is a request with something taken from it.
type variant struct {
	what    string
	message []byte
}

// variants gives what is left of a request without each field, with each list
// empty, and with one label, as far as it is a request then.
func variants(r *Request) []variant {
	whole := r.Bytes()
	t, _ := codec.Lookup(typeName(r.Call(), "request"))
	var list []variant
	for _, v := range leftOut(whole) {
		canonical, err := t.Canonical(v.message, 0)
		if err == nil && !slices.ContainsFunc(list, func(o variant) bool { return string(o.message) == string(canonical) }) {
			list = append(list, variant{v.what, canonical})
		}
	}
	if r.Node != nil && r.Node.Indictment != nil {
		n, one := *r.Node, *r
		n.Case.Labels, one.Node = []string{n.Indictment.ChargedDefectType}, &n
		list = append(list, variant{"no label but the charge", one.Bytes()})
	}
	return list
}

// sendVariant sends one. Where an index points at what was taken, a module may
// trap over it.
func (k *kit) sendVariant(r *Request, v *variant) error {
	fits := true
	if r.Node != nil {
		n, err := codec.DecodeNodeRequest(v.message, len(v.message))
		fits = err == nil && inItems(&n)
	}
	return k.sendForm(r.Call(), r.Name+", "+v.what, v.message, fits)
}

// inItems says whether all indexes of a request point at items of the indictment.
func inItems(r *abi.NodeRequest) bool {
	items := 0
	if r.Indictment != nil {
		items = len(r.Indictment.Evidence)
	}
	var indexes []int
	for i := range r.Exhibits {
		indexes = append(indexes, r.Exhibits[i].EvidenceIndex)
	}
	challenged := slices.Clone(r.Contested)
	if r.DefenseBrief != nil {
		challenged = append(challenged, r.DefenseBrief.Challenges...)
		if a := r.DefenseBrief.AlternativeHypothesis; a != nil {
			indexes = append(indexes, a.Support...)
		}
	}
	if r.Hearing != nil {
		for i := range r.Hearing.Rounds {
			challenged = append(challenged, r.Hearing.Rounds[i].NewChallenges...)
		}
	}
	if r.Turn != nil {
		challenged = append(challenged, r.Turn.NewChallenges...)
	}
	for i := range challenged {
		indexes = append(indexes, challenged[i].EvidenceIndex)
	}
	return !slices.ContainsFunc(indexes, func(i int) bool { return i >= items })
}

// leftOut gives a message without each entry of each of its maps, and with each of its lists
// empty; of the elements of a list the first alone is looked into.
func leftOut(message []byte) []variant {
	root, err := msgtree.Parse(message)
	if err != nil {
		return nil
	}
	var list []variant
	var visit func(n *msgtree.Node, path string)
	visit = func(n *msgtree.Node, path string) {
		if len(n.Items) > 0 {
			visit(&n.Items[0], path+"[0]")
		}
		if path != "" && n.Kind == msgtree.Map {
			path += "."
		}
		entries := n.Entries
		for i := range entries {
			value := &entries[i].Value
			at := path + entries[i].Key.Text
			n.Entries = slices.Concat(entries[:i], entries[i+1:])
			list = append(list, variant{"without " + at, root.Bytes()})
			n.Entries = entries
			if items := value.Items; len(items) > 0 {
				value.Items = nil
				list = append(list, variant{"with an empty " + at, root.Bytes()})
				value.Items = items
			}
			visit(value, at)
		}
	}
	visit(&root, "")
	return list
}
