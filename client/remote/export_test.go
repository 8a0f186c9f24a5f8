package remote

// MaxLine is maxLine.
const MaxLine = maxLine

// SetBuffer bounds how many bytes of each output of a command are held.
func SetBuffer(c *Cmd, bytes int) { c.buffer = bytes }

// WithBuffer returns the options with another bound of the bytes that are held for each container.
func WithBuffer(o TailOptions, bytes int) TailOptions {
	o.buffer = bytes
	return o
}
