package codec

import (
	"bytes"
	"cmp"
	"io"
	"slices"

	"github.com/go-json-experiment/json/jsontext"
)

// span is a part of a document.
type span struct{ from, to int }

// scope is an open object. Its members are known from the start of their name to the start of the next one's: a member
// that a later one replaces is never the last, so the comma behind it goes with it.
type scope struct {
	members map[string]span
	name    string // the member that is open
	start   int
}

// lastOfEach returns raw without the members that a later one of the same name, in the same object, replaces. It takes
// one pass, however deep the objects nest. Names are compared as they read, not as they are spelt.
//
// It returns raw itself if there is none, and a *jsontext.SyntacticError for what is not JSON.
func lastOfEach(raw []byte) ([]byte, error) {
	d := jsontext.NewDecoder(bytes.NewBuffer(raw), jsontext.AllowDuplicateNames(true), jsontext.AllowInvalidUTF8(true))
	var scopes []*scope // nil for an array
	var cuts []span
	for {
		kind := d.PeekKind()
		if within, tokens := d.StackIndex(d.StackDepth()); within == '{' && tokens%2 == 0 && kind == '"' {
			quoted, err := d.ReadValue()
			if err != nil {
				return nil, err
			}
			// Text that is not Unicode is replaced, which is the only error that is possible here.
			name, _ := jsontext.AppendUnquote(nil, quoted)
			cuts = scopes[len(scopes)-1].enter(string(name), int(d.InputOffset())-len(quoted), cuts)
			continue
		}
		if _, err := d.ReadToken(); err == io.EOF {
			return without(raw, cuts), nil
		} else if err != nil {
			return nil, err
		}
		switch kind {
		case '{':
			scopes = append(scopes, &scope{start: -1})
		case '[':
			scopes = append(scopes, nil)
		case '}', ']':
			scopes = scopes[:len(scopes)-1]
		}
	}
}

// enter notes that a member starts, and adds to the cuts the one that it replaces.
func (s *scope) enter(name string, start int, cuts []span) []span {
	if s.start >= 0 {
		if s.members == nil {
			s.members = map[string]span{}
		}
		s.members[s.name] = span{s.start, start}
	}
	if replaced, ok := s.members[name]; ok {
		cuts = append(cuts, replaced)
	}
	s.name, s.start = name, start
	return cuts
}

// without returns raw without the cuts, of which some may lie inside of others.
func without(raw []byte, cuts []span) []byte {
	if len(cuts) == 0 {
		return raw
	}
	slices.SortFunc(cuts, func(a, b span) int { return cmp.Compare(a.from, b.from) })
	kept, at := make([]byte, 0, len(raw)), 0
	for _, c := range cuts {
		if c.from >= at {
			kept = append(kept, raw[at:c.from]...)
			at = c.to
		}
	}
	return append(kept, raw[at:]...)
}
