package strategy

import (
	"strconv"
	"strings"
)

// A share is a number or a percentage, an IntOrString such as the maxUnavailable of a Deployment.

// percent returns the number of a percentage, and whether the value is one.
func (v value) percent() (int64, bool) {
	text, found := strings.CutSuffix(v.text(), "%")
	if !found || text == "" || strings.Trim(text, digits) != "" {
		return 0, false
	}
	n, _ := strconv.ParseInt(text, 10, 64) // the highest number if it is out of range
	return n, true
}

// share reports a value that is neither a percentage nor a number of zero or more. limited says that 100% is the limit.
func (v value) share(limited bool) {
	n, isPercent := v.percent()
	switch {
	case !v.isText():
		v.natural()
	case !isPercent:
		v.invalid("a valid percent string must be a numeric string followed by an ending '%%'")
	case limited && n > 100:
		v.invalid("must not be greater than 100%%")
	}
}

// shareNumber returns the number of a share, or the number of its percentage.
func (v value) shareNumber() int64 {
	if n, isPercent := v.percent(); isPercent {
		return n
	}
	if v.isText() {
		n, _ := strconv.ParseInt(v.text(), 10, 32)
		return n
	}
	return v.number()
}
