package bench

import (
	"github.com/shadowcourt/shadowcourt/abi"
	"github.com/shadowcourt/shadowcourt/plugins/internal/grounds"
	"github.com/shadowcourt/shadowcourt/plugins/internal/weigh"
)

// Contest contests the items that fall to the bench's element: what is
// flawed, and what names a label but neither quotes nor gives a reason, unless a profile knows its source.
func Contest(r *abi.ContestRequest) ([]abi.Challenge, *abi.Failure) {
	items := grounds.Contested(r.Items)
	challenges := grounds.Of(items, r.Labels, r.Profile, func(*weigh.Testimony) bool { return true })
	return append(challenges, grounds.Unraised(grounds.Vague(items, r.Profile), challenges)...), nil
}
