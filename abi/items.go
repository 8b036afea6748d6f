package abi

import "slices"

// FindEvidence returns the first item with a source and a content, or nil. Two items with the same source and content count as one, whatever
// their confidences, labels and elements.
func FindEvidence(list []Evidence, sourceRef, content string) *Evidence {
	for i := range list {
		if list[i].SourceRef == sourceRef && list[i].Content == content {
			return &list[i]
		}
	}
	return nil
}

// HasItem says whether an item of a source with that content is in a list.
func HasItem(list []IndictmentItem, sourceRef, content string) bool {
	return slices.ContainsFunc(list, func(old IndictmentItem) bool { return old.SourceRef == sourceRef && old.Content == content })
}

// IsOfCase says whether an item is in the evidence with the same label and element.
func (v *IndictmentItem) IsOfCase(evidence []Evidence) bool {
	return slices.ContainsFunc(evidence, func(e Evidence) bool {
		return e.SourceRef == v.SourceRef && e.Content == v.Content && e.Supports == v.Supports && e.Element == v.Element
	})
}
