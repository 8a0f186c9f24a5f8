// Package packed describes the texts of objects in packed form: the JSON or the protobuf that the server sent, made
// smaller. Package packing packs; a program that does not import it links no compressor.
package packed

// Text is the packed text of one object. It never changes. The zero Text means that there is no text.
type Text struct {
	way   *Way
	bytes string
}

// Way unpacks what was packed in one way, such as with one dictionary. Texts refer to their Way, so it lives as long as
// one of them.
type Way struct {
	// Unpack appends the text to into. It returns an error if bytes are not those of a Text. It is safe for use by
	// several goroutines at once.
	Unpack func(into []byte, bytes string) (text []byte, mark byte, err error)
}

// Packer packs the texts of one collection.
type Packer interface {
	// Pack packs a text, which it does not keep. mark is a number below [Marks] that Unpack returns. It is safe for use
	// by several goroutines at once.
	Pack(text []byte, mark byte) Text
}

// Marks is how many marks there are.
const Marks = 64

// New returns the Text of bytes that were packed in a way.
func New(way *Way, bytes string) Text { return Text{way, bytes} }

// IsNone reports whether t is the zero Text.
func (t Text) IsNone() bool { return t.way == nil }

// Size returns how many bytes the packed form has.
func (t Text) Size() int { return len(t.bytes) }

// Unpack appends the text to into, and returns the mark that it was packed with. t must not be the zero Text.
func (t Text) Unpack(into []byte) (text []byte, mark byte, err error) {
	return t.way.Unpack(into, t.bytes)
}

// Carried is embedded in an item of a list or an event of a watch, and hides the packed text of its object from users.
type Carried struct{ text Text }

// Carry returns the Carried with t.
func Carry(t Text) Carried { return Carried{t} }

// Packed returns the text.
func (c Carried) Packed() Text { return c.text }
