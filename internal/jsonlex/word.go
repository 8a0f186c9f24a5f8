package jsonlex

// Strings are read eight bytes at a time, as one number. The functions of this file mark the bytes that they search
// for: they set the highest bit of each. A borrow may also set marks above the first match, so only the lowest mark
// counts.

const (
	ones = 0x0101010101010101
	tops = 0x8080808080808080
)

// specials marks quotes, backslashes and control characters. It also marks the places at which the highest bit of the
// byte in also is set. So specials(eight, eight) marks the bytes that are not ASCII, too.
func specials(eight, also uint64) uint64 {
	control := eight - ones*' '
	quote := (eight ^ ones*'"') - ones
	backslash := (eight ^ ones*'\\') - ones
	return ((control|quote|backslash)&^eight | also) & tops
}

// quotes marks quotes.
func quotes(eight uint64) uint64 {
	x := eight ^ ones*'"' // a quote becomes 0
	return (x - ones) &^ x & tops
}
