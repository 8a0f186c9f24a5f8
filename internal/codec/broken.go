package codec

// Decoding does not note where a document ceases to be JSON. This file looks for the place, once it is known that there is one.

// breach is why a document is not JSON.
type breach uint8

const (
	misplaced breach = iota // a byte that may not be there
	tooShort                // it ends too early
	tooDeep
)

// brokenAt returns the position of the byte that makes data something else than JSON.
func brokenAt(data []byte) (at int, why breach) {
	c := checker{data: data}
	i := c.value(afterSpace(data, 0), 0)
	if i >= 0 {
		c.stop(afterSpace(data, i))
	}
	return c.at, c.why
}

// checker passes over a document, byte by byte. Its methods return the position behind what they pass over, or broken.
type checker struct {
	data []byte
	at   int
	why  breach
}

// stop notes where the document is broken.
func (c *checker) stop(at int) int {
	c.at = min(at, len(c.data))
	if c.why == misplaced && at >= len(c.data) {
		c.why = tooShort
	}
	return broken
}

// peek returns the byte at i, or 0 behind the end.
func (c *checker) peek(i int) byte {
	if i < len(c.data) {
		return c.data[i]
	}
	return 0
}

func (c *checker) value(i, depth int) int {
	switch first := c.peek(i); first {
	case '"':
		return c.string(i + 1)
	case '{', '[':
		if depth++; depth > maxDepth {
			c.why = tooDeep
			return c.stop(i)
		}
		return c.composite(i+1, depth, first == '{', first+2)
	case 't':
		return c.literal(i, "true")
	case 'f':
		return c.literal(i, "false")
	case 'n':
		return c.literal(i, "null")
	}
	return c.number(i)
}

func (c *checker) composite(i, depth int, named bool, shut byte) int {
	if i = afterSpace(c.data, i); c.peek(i) == shut {
		return i + 1
	}
	for {
		if named {
			if c.peek(i) != '"' {
				return c.stop(i)
			}
			if i = c.string(i + 1); i < 0 {
				return broken
			}
			if i = afterSpace(c.data, i); c.peek(i) != ':' {
				return c.stop(i)
			}
			i = afterSpace(c.data, i+1)
		}
		if i = c.value(i, depth); i < 0 {
			return broken
		}
		switch i = afterSpace(c.data, i); c.peek(i) {
		case shut:
			return i + 1
		case ',':
			i = afterSpace(c.data, i+1)
		default:
			return c.stop(i)
		}
	}
}

func (c *checker) string(i int) int {
	for i < len(c.data) {
		switch b := c.data[i]; {
		case b == '"':
			return i + 1
		case b < ' ':
			return c.stop(i)
		case b == '\\':
			_, next := escape(c.data, i)
			if next < 0 {
				if i+1 == len(c.data) || c.data[i+1] == 'u' && i+6 > len(c.data) {
					return c.stop(len(c.data))
				}
				return c.stop(i)
			}
			i = next
		default:
			i++
		}
	}
	return c.stop(i)
}

func (c *checker) literal(i int, literal string) int {
	for n := range len(literal) {
		if c.peek(i+n) != literal[n] {
			return c.stop(i + n)
		}
	}
	return i + len(literal)
}

func (c *checker) number(i int) int {
	if c.peek(i) == '-' {
		i++
	}
	digits := func() bool {
		start := i
		i = digitsEnd(c.data, i)
		return i > start
	}
	if c.peek(i) == '0' {
		i++
	} else if !digits() {
		return c.stop(i)
	}
	if c.peek(i) == '.' {
		if i++; !digits() {
			return c.stop(i)
		}
	}
	if c.peek(i)|' ' == 'e' {
		if i++; c.peek(i) == '-' || c.peek(i) == '+' {
			i++
		}
		if !digits() {
			return c.stop(i)
		}
	}
	return i
}
