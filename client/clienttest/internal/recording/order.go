package recording

import (
	"cmp"
	"fmt"
	"io"
	"slices"
	"strconv"
)

// Plan has the changes that a server plays: those of a recording after its first lists, in their order.
type Plan struct {
	Header *Header
	// Version is the version of the first lists: that of the first stream. It is 0 if it is not a number.
	Version uint64
	Changes []Change
}

// Change is one change, and where its line is in the file.
type Change struct {
	Offset, Length int64
	At             Offset // when it is played
	// Version is the object's new version, or that of its removal. It is 0 if the version is not a number, or if it
	// comes from another counter than the versions of the first stream.
	Version uint64
	Gap     bool // it was found by a list after a gap
}

// Scan reads a whole file. It calls each with every line that has an object; first says whether the line belongs to the
// first lists. An error of each is returned with the number of the line.
func Scan(r io.Reader, each func(h *Header, l *Line, id Identity, first bool) error) (*Plan, error) {
	in, err := NewReader(r)
	if err == io.EOF {
		return nil, fmt.Errorf("it is empty")
	}
	if err != nil {
		return nil, err
	}
	s := &scan{Reader: in, plan: Plan{Header: in.Header}, streams: map[Stream]*progress{}, each: each, cut: -1}
	for _, stream := range in.Header.Streams() {
		s.streams[stream] = &progress{}
		s.waiting++
	}
	for {
		l, err := in.Read()
		if err == io.EOF {
			return s.end()
		}
		if err == nil {
			if err = s.line(l); err != nil {
				err = in.fail(err)
			}
		}
		if err != nil {
			return nil, err
		}
	}
}

// scan is one reading of a file.
type scan struct {
	*Reader
	plan    Plan
	streams map[Stream]*progress
	waiting int // the streams whose first list is not complete
	each    func(*Header, *Line, Identity, bool) error
	cut     int // where versions stop giving the order, because the server was set back; -1 if it was not
}

// progress is how far a stream has come.
type progress struct {
	begun   bool
	version uint64 // that of its last line; 0 if it is not a number
	shared  bool   // its versions come from the same counter as those of the first stream
	gap     int    // the number of changes before its last gap
}

func (s *scan) line(l *Line) error {
	if l.Resource == "" {
		return nil
	}
	stream := Stream{l.Resource, l.Namespace}
	if l.Type.HasObject() {
		stream = s.Header.StreamOf(s.Header.Resource(l.Resource), s.Identity.Namespace)
	}
	p := s.streams[stream]
	switch {
	case l.Type == Synced:
		s.synced(stream, p, Number(l.ResourceVersion))
	case l.Type == Gap:
		p.gap = len(s.plan.Changes)
	case l.Type.HasObject():
		if l.Type == Listed && s.waiting == 0 {
			return fmt.Errorf("type must not be LISTED after the first lists")
		}
		first := s.waiting > 0
		if !first {
			s.change(l, p)
		}
		return s.each(s.Header, l, s.Identity, first)
	}
	return nil
}

// synced records that a list of a stream is complete.
func (s *scan) synced(stream Stream, p *progress, version uint64) {
	if !p.begun {
		if stream == s.Header.Streams()[0] {
			s.plan.Version = version
		}
		p.begun, p.shared = true, version != 0 && version == s.plan.Version
		s.waiting--
	} else if version < p.version && s.cut < 0 {
		s.cut = p.gap
	}
	p.version = version
}

// change adds a change after the first lists to the plan.
func (s *scan) change(l *Line, p *progress) {
	version := Number(s.Identity.ResourceVersion)
	if l.Type == Deleted && l.Gap {
		version = Number(l.ResourceVersion)
	}
	if !l.Gap {
		p.version = version
	}
	if !p.shared {
		version = 0
	}
	s.plan.Changes = append(s.plan.Changes, Change{s.Offset, s.Next - s.Offset, l.At, version, l.Gap})
}

// end orders the changes. The versions of one counter are the order in which a server made the changes, and a recorder,
// which has a connection for each stream, sees them in nearly that order. So each change is played before every change
// with a greater version, and at the latest at the time of that change.
func (s *scan) end() (*Plan, error) {
	if s.waiting > 0 {
		return nil, fmt.Errorf("the recording ends before its first lists are complete")
	}
	if s.cut < 0 {
		s.cut = len(s.plan.Changes)
	}
	ordered := s.plan.Changes[:s.cut]
	var shared, others []Change
	for _, c := range ordered {
		if c.Version != 0 {
			shared = append(shared, c)
		} else {
			others = append(others, c)
		}
	}
	slices.SortStableFunc(shared, func(a, b Change) int { return cmp.Compare(a.Version, b.Version) })
	for i := len(shared) - 2; i >= 0; i-- {
		shared[i].At = min(shared[i].At, shared[i+1].At)
	}
	i, j := 0, 0
	for k := range ordered {
		if j == len(others) || i < len(shared) && shared[i].At <= others[j].At {
			ordered[k] = shared[i]
			i++
		} else {
			ordered[k] = others[j]
			j++
		}
	}
	return &s.plan, nil
}

// Number returns a version as a number, or 0.
func Number(version string) uint64 {
	n, err := strconv.ParseUint(version, 10, 63)
	if err != nil {
		return 0
	}
	return n
}

// ReadChange reads the line of a change. The error says that the file is no longer the one that [Scan] has read.
func ReadChange(file io.ReaderAt, c Change) (*Line, error) {
	text := make([]byte, c.Length)
	if _, err := file.ReadAt(text, c.Offset); err != nil {
		return nil, fmt.Errorf("the file has changed: %w", err)
	}
	l := &Line{}
	if err := decode(text, l); err != nil {
		return nil, fmt.Errorf("the file has changed: %w", err)
	}
	return l, nil
}
