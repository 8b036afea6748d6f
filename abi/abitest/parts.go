package abitest

import (
	"slices"

	"github.com/shadowcourt/shadowcourt/abi/internal/msgtree"
)

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
