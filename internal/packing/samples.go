package packing

import "slices"

const (
	// enoughTexts and enoughBytes say how many samples a dictionary is learnt from: whichever is reached first.
	enoughTexts = 512
	enoughBytes = 2 << 20
	// largestSample is how much of a long text becomes a sample.
	largestSample = 16 << 10
)

// samples are copies of texts.
type samples struct {
	wanted bool
	texts  [][]byte
	size   int
}

// add adds the beginning of a text. It returns all samples, and forgets them, when they are enough.
func (s *samples) add(text []byte) [][]byte {
	text = slices.Clone(text[:min(len(text), largestSample)])
	s.texts = append(s.texts, text)
	s.size += len(text)
	if len(s.texts) < enoughTexts && s.size < enoughBytes {
		return nil
	}
	taken := s.texts
	*s = samples{}
	return taken
}

// fit measures how well the dictionary fits the texts that are packed with it.
type fit struct {
	wait     int // texts to pass over, after learning did not help
	pause    int // the last wait
	texts    int // since the last measurement
	in, out  int // bytes of these texts
	first    float64
	hasFirst bool
}

const (
	// window is how many texts a measurement has.
	window = 1024
	// worseBy is how much larger packed texts must have become for a new dictionary to be tried.
	worseBy = 1.25
	// longestPause bounds how many texts pass between two tries that do not help.
	longestPause = 1 << 20
)

// worse notes a packed text, and reports whether it is time to learn again.
func (f *fit) worse(in, out int) bool {
	if f.wait > 0 {
		f.wait--
		return false
	}
	f.texts++
	f.in += in
	f.out += out
	if f.texts < window {
		return false
	}
	share := float64(f.out) / float64(max(f.in, 1))
	f.texts, f.in, f.out = 0, 0, 0
	if !f.hasFirst {
		f.first, f.hasFirst = share, true
		return false
	}
	return share > f.first*worseBy
}

// learnt notes the end of learning, and whether it has brought a better dictionary. If not, the texts themselves have
// become harder to pack, and another dictionary would not help. Measuring then begins again, after a pause that grows.
func (f *fit) learnt(better bool) {
	pause := 0
	if !better {
		pause = min(max(2*f.pause, 16*window), longestPause)
	}
	*f = fit{wait: pause, pause: pause}
}
