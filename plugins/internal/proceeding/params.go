package proceeding

import (
	"slices"
	"strconv"
	"strings"

	"github.com/shadowcourt/shadowcourt/abi"
	"github.com/shadowcourt/shadowcourt/abi/guest"
)

// EnvironmentLabels are the labels, separated by commas, that say of a failure that its environment caused it.
const EnvironmentLabels = "environment_labels"

// GuardedLabels are the labels, separated by commas, that must not be denied by mistake.
const GuardedLabels = "guarded_labels"

// CheckParams rejects a parameter that is none of the known ones, of the wrong kind, or outside its range: a pipeline that misspells one must not
// silently run with the default, nor with one that can't be met. where names what has the parameters.
func CheckParams(where string, list []abi.Param, known ...string) *abi.Failure {
	for i := range list {
		p := &list[i]
		if !slices.Contains(known, p.Name) {
			return guest.Fail(guest.BadParameter, where+" has no parameter "+strconv.Quote(p.Name))
		}
		if p.Name == EnvironmentLabels || p.Name == GuardedLabels {
			if p.Text == nil {
				return guest.Fail(guest.BadParameter, "parameter "+p.Name+" of "+where+" is not a text")
			}
			continue
		}
		if p.Number == nil {
			return guest.Fail(guest.BadParameter, "parameter "+p.Name+" of "+where+" is not a number")
		}
		if v, most := *p.Number, mostOf(p.Name); !(v >= 0 && v <= most) { // NaN too
			return guest.Fail(guest.BadParameter, "parameter "+p.Name+" of "+where+" is outside [0, "+strconv.FormatFloat(most, 'g', -1, 64)+"]")
		}
	}
	return nil
}

// mostOf is the upper end of a parameter's range, which begins at 0. A name means the same in all modules: but for these, parameters are
// probabilities and differences of them.
func mostOf(name string) float64 {
	switch name {
	case "min_gain", "rival_ratio":
		return 1e6
	case "max_experiments":
		return 1e6
	}
	return 1
}

// NumberParam returns the number of that name, or fallback where the list has none.
func NumberParam(list []abi.Param, name string, fallback float64) float64 {
	for i := range list {
		if list[i].Name == name && list[i].Number != nil {
			return *list[i].Number
		}
	}
	return fallback
}

// TextParam returns the text of that name, or fallback where the list has none.
func TextParam(list []abi.Param, name, fallback string) string {
	for i := range list {
		if list[i].Name == name && list[i].Text != nil {
			return *list[i].Text
		}
	}
	return fallback
}

// ListParam returns the items of the text of that name, which commas separate; none where the list has no such text.
func ListParam(list []abi.Param, name string) []string {
	text := TextParam(list, name, "")
	if text == "" {
		return nil
	}
	items := strings.Split(text, ",")
	for i := range items {
		items[i] = strings.TrimSpace(items[i])
	}
	return slices.DeleteFunc(items, func(item string) bool { return item == "" })
}
