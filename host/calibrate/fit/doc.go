// Package fit learns a profile from labelled cases, or from how sources agree.
package fit
