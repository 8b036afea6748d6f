package fit

import (
	"fmt"
	"io"
	"strings"
)

// comment writes what was found out as the head of a profile.
func (r *Report) comment(w io.Writer) {
	say := func(format string, a ...any) { fmt.Fprintln(w, strings.TrimRight("# "+fmt.Sprintf(format, a...), " ")) }
	switch {
	case r.Learned:
		say("Learned by `shadowcourt fit` from %d cases with a known truth.", r.Cases)
	case r.Temperature != nil:
		say("`shadowcourt fit`: nothing learned of sources and texts, %d cases with a known truth. This profile changes only how sure the court is.", r.Cases)
	default:
		say("`shadowcourt fit`: nothing learned, %d cases with a known truth. This profile changes nothing.", r.Cases)
	}
	say("")
	say("For:   dockets of the same labels and sources as those cases.")
	say("Use:   shadowcourt try DOCKET --profile THIS_FILE")
	say("Model: %s.", r.Model)
	for _, warning := range r.Warnings {
		say("Warning: %s.", warning)
	}
	switch {
	case r.Groups == 1:
		say("       All cases are of one group, which is in all of %d parts: the figures hold for this group alone.", r.Parts)
	case r.Groups > 1:
		say("       %d groups; %d parts, no group in two.", r.Groups, r.Parts)
	default:
		say("       %d parts.", r.Parts)
	}
	if r.Repeated > 0 {
		say("       Near duplicates of other cases: %d; each is in one group with those.", r.Repeated)
	}
	if r.Relit {
		say("       Light was asked about the cases, each time told a profile that was fitted without their part.")
	}
	say("")
	say("How well profiles do that were fitted without the part of the cases that they are measured on:")
	say("%-36s %8s %9s", "", "accuracy", "log loss")
	for _, f := range r.Figures {
		say("%-36s %8.3f %9.3f", f.Name, f.Accuracy, f.LogLoss)
	}
	if t := r.TextTurns; t != nil && r.Signals > 0 {
		say("")
		say("A made-up text could turn about %.1f of 100 of these answers from right to wrong.", 100**t)
	}
	say("")
	say("Log loss is the mean of -ln P(right label): less is better. Weights are natural logarithms (nats): 0.7 doubles the")
	say("odds, 2.3 makes them tenfold. docs/fitting.md says how they were found.")
}
