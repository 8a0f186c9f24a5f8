package discovery

import (
	"context"
	"errors"
)

// ServerVersion is a server's description of its version.
type ServerVersion struct {
	// Major and Minor are digits. Some distributions append a plus sign, as in "27+".
	Major string `json:"major"`
	Minor string `json:"minor"`
	// GitVersion is the full version, such as "v1.36.3".
	GitVersion string `json:"gitVersion"`
	// Platform is the server's system and processor, such as "linux/amd64".
	Platform string `json:"platform"`
}

// AtLeast reports whether v is major.minor or later. It is false if the numbers cannot be parsed. Prefer Has and
// Resource.Can to find out what a server supports.
func (v ServerVersion) AtLeast(major, minor int) bool {
	ma, ok := leadingNumber(v.Major)
	mi, ok2 := leadingNumber(v.Minor)
	return ok && ok2 && (ma > major || ma == major && mi >= minor)
}

func leadingNumber(s string) (n int, ok bool) {
	for i := 0; i < len(s) && '0' <= s[i] && s[i] <= '9' && n < 1<<20; i++ {
		n, ok = 10*n+int(s[i]-'0'), true
	}
	return n, ok
}

// Version returns the server's version.
func (c *Catalog) Version(ctx context.Context) (ServerVersion, error) {
	if err := c.usable(); err != nil {
		return ServerVersion{}, err
	}
	parse := func(_ string, body []byte) (any, error) {
		var v ServerVersion
		err := decode(body, &v)
		if err == nil && v.GitVersion == "" {
			err = errors.New(`it has no "gitVersion"`)
		}
		return v, err
	}
	doc, err := c.load(ctx, page{path: "/version", parse: parse}, func(d *document) bool { return c.fresh(d, c.options.TTL) })
	if err != nil {
		return ServerVersion{}, err
	}
	return doc.value.(ServerVersion), nil
}
