package client

// OpenWith makes c open the files of its Config with a function, which stands for a file system that does not answer. It is
// to be called before c is used.
func (c *Client) OpenWith(open func(name string) ([]byte, error)) { c.transport.OpenWith(open) }

// Stall returns the error of a server that stalls.
func Stall() error { return stallError("no answer within 1m0s") }
