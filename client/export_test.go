package client

// OpenWith makes c open the files of its Config with a function, which stands for a file system that does not answer. It is
// to be called before c is used.
func (c *Client) OpenWith(open func(name string) ([]byte, error)) { c.transport.OpenWith(open) }
