package defense

import (
	"github.com/shadowcourt/shadowcourt/abi"
	"github.com/shadowcourt/shadowcourt/plugins/internal/grounds"
	"github.com/shadowcourt/shadowcourt/plugins/internal/weigh"
)

// Contest contests the items that fall to the defense's element, whatever
// label they speak for: an item that is flawed serves neither side.
func Contest(r *abi.ContestRequest) ([]abi.Challenge, *abi.Failure) {
	return grounds.Of(grounds.Contested(r.Items), r.Labels, r.Profile, func(*weigh.Testimony) bool { return true }), nil
}
