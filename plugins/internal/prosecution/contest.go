package prosecution

import (
	"github.com/shadowcourt/shadowcourt/abi"
	"github.com/shadowcourt/shadowcourt/plugins/internal/grounds"
)

// Contest contests the items that fall to the prosecution's element,
// as far as they speak against its charge.
func Contest(r *abi.ContestRequest) ([]abi.Challenge, *abi.Failure) {
	return grounds.Of(grounds.Contested(r.Items), r.Labels, r.Profile, speaksAgainst(r.ChargedDefectType)), nil
}
