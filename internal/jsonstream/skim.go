package jsonstream

import "github.com/bowline-go/bowline/internal/jsonlex"

// An object that is too large or too deep is skipped, so that it does not affect its neighbours. When the scanner
// notices this, the beginning of the object is in hand. The skimmer reads this beginning again. It releases each byte
// of the object that it has read, including those that arrive later. Only the identity, whether it ends a streaming
// list, and the open brackets are kept.

const (
	// skimTimes and minSkim bound how much is skipped, so that an endless object becomes an error. skimTimes is in
	// multiples of MaxObject, minSkim in bytes, and the larger bound counts.
	skimTimes = 16
	minSkim   = 32 << 20
	// maxText bounds what is kept of the identity; a longer name or version counts as absent.
	maxText = 4 << 10
	// maxSkimDepth bounds the brackets that are open.
	maxSkimDepth = 1 << 16
)

// item reads the object that opens at pos, as object does. One that exceeds a limit is skipped, and item.Limit says
// so.
func (s *scanner) item(item *Item) error {
	err := s.object(item)
	limit, ok := err.(*LimitError)
	if !ok {
		return err
	}
	s.pos = s.start
	most := max(minSkim, skimTimes*int64(s.maxObject))
	k := skimmer{s: s, limit: limit, end: s.base + int64(s.start) + most}
	err = k.object()
	k.item.InitialEventsEnd = s.findSyncEnd && k.mark == "true"
	*item = k.item // a pointer to item in k would cost every object an allocation
	if key := item.Key(); key.Name != "" {
		limit.Key = key
	}
	if err != nil {
		return err
	}
	s.release()
	s.raw = span{}
	item.Limit = limit
	return nil
}

// skimmer skips one object, and reads its kind and its identity.
type skimmer struct {
	s     *scanner
	item  Item
	limit *LimitError // the limit that the object exceeds
	end   int64       // the position in the stream where reading gives up

	open       []byte // the closing brackets that are expected
	member     string // the name of the member whose value comes, if it may be part of the identity
	inMetadata bool   // inside the object's metadata
	inMarks    bool   // inside the object's annotations
	mark       string // the annotation that ends a streaming list's initial events
}

// token is the kind of the next token.
type token int

const (
	aValue     token = iota
	firstValue       // or the end of the array
	aName
	firstName // or the end of the object
	behind    // after a value: a comma, or the end
)

// object skips the object that opens at pos.
func (k *skimmer) object() error {
	for next := aValue; ; {
		c, err := k.peek()
		if err != nil {
			return err
		}
		if next != aValue && next != aName && c == k.closing() {
			k.s.pos++
			k.open = k.open[:len(k.open)-1]
			switch len(k.open) {
			case 0:
				return nil
			case 1:
				k.inMetadata = false
			case 2:
				k.inMarks = false
			}
			next = behind
			continue
		}
		switch next {
		case behind:
			if c != ',' {
				return k.s.unexpected(c, "a comma or '"+string(rune(k.closing()))+"'")
			}
			k.s.pos++
			next = aValue
			if k.closing() == '}' {
				next = aName
			}
		case aName, firstName:
			err = k.name(c)
			next = aValue
		case aValue, firstValue:
			next, err = k.value(c)
		}
		if err != nil {
			return err
		}
	}
}

func (k *skimmer) closing() byte { return k.open[len(k.open)-1] }

// fill releases the bytes that have been skipped, and reads on.
func (k *skimmer) fill() error {
	s := k.s
	s.release()
	if s.base+int64(s.pos) >= k.end {
		return k.limit
	}
	if err := s.fill(); err != nil {
		return s.readError(err)
	}
	return nil
}

// peek moves past white space and returns the byte after it.
func (k *skimmer) peek() (byte, error) {
	s := k.s
	for {
		for s.pos < s.end {
			switch c := s.buf[s.pos]; c {
			case ' ', '\n', '\r', '\t':
				s.pos++
			default:
				return c, nil
			}
		}
		if err := k.fill(); err != nil {
			return 0, err
		}
	}
}

// name moves past the name that starts with c at pos, and past its colon.
func (k *skimmer) name(c byte) error {
	s := k.s
	if c != '"' {
		return s.unexpected(c, "the name of a member")
	}
	k.member = ""
	if len(k.open) == 1 || k.inMetadata && len(k.open) == 2 || k.inMarks && len(k.open) == 3 {
		s.release()
		name, _, err := s.name(c)
		if _, large := err.(*LimitError); !large {
			k.member = string(name)
			return err
		}
		s.pos = s.start
	}
	if err := k.skipString(); err != nil {
		return err
	}
	c, err := k.peek()
	switch {
	case err != nil:
		return err
	case c != ':':
		return s.unexpected(c, "a colon")
	}
	s.pos++
	return nil
}

// value moves past the string or the scalar that starts with c at pos, or past the bracket, and returns the kind of
// the next token.
func (k *skimmer) value(c byte) (token, error) {
	s := k.s
	part := k.part()
	switch {
	case c == '"':
		if part != nil {
			s.release()
			text, err := s.text(c, 0, "")
			if _, large := err.(*LimitError); !large {
				if len(text) <= min(maxText, s.maxObject) {
					*part = text
				}
				return behind, err
			}
			s.pos = s.start
		}
		return behind, k.skipString()
	case c == '{' || c == '[':
		if len(k.open) >= maxSkimDepth {
			return 0, k.limit
		}
		k.inMetadata = k.inMetadata || c == '{' && k.member == "metadata" && len(k.open) == 1
		k.inMarks = k.inMarks || c == '{' && k.member == "annotations" && k.inMetadata && len(k.open) == 2
		k.open = append(k.open, c+2)
		s.pos++
		if c == '{' {
			return firstName, nil
		}
		return firstValue, nil
	case jsonlex.IsScalar(c):
		return behind, k.skipScalar()
	}
	return 0, s.unexpected(c, "a value")
}

// part returns where the next value belongs, and clears what an earlier member of the same name has left there,
// because the last one counts. It returns nil if the value is not part of the identity.
func (k *skimmer) part() *string {
	var part *string
	switch {
	case len(k.open) == 1:
		switch k.member {
		case "metadata":
			k.item.Identity, k.mark = Item{}.Identity, ""
		case "apiVersion":
			part = &k.item.APIVersion
		case "kind":
			part = &k.item.Kind
		}
	case k.inMetadata && len(k.open) == 2:
		switch k.member {
		case "name":
			part = &k.item.Name
		case "namespace":
			part = &k.item.Namespace
		case "uid":
			part = &k.item.UID
		case "resourceVersion":
			part = &k.item.ResourceVersion
		case "annotations":
			k.mark = ""
		}
	case k.inMarks && len(k.open) == 3 && k.member == SyncEnd:
		part = &k.mark
	}
	if part != nil {
		*part = ""
	}
	return part
}

// skipString moves past the string that starts at pos, however long it is.
func (k *skimmer) skipString() error {
	s := k.s
	s.pos++
	for {
		text := s.buf[s.pos:s.end]
		if n := jsonlex.ClosingQuote(text, 0); n >= 0 {
			s.pos += n + 1
			return nil
		}
		escaped := jsonlex.IsEscaped(text, len(text))
		s.pos = s.end
		if err := k.fill(); err != nil {
			return err
		}
		if escaped {
			s.pos++
		}
	}
}

// skipScalar moves past the number or literal at pos, however long it is.
func (k *skimmer) skipScalar() error {
	s := k.s
	for {
		for jsonlex.IsScalar(s.buf[s.pos]) {
			s.pos++
		}
		if s.pos < s.end {
			return nil
		}
		if err := k.fill(); err != nil {
			return err
		}
	}
}
