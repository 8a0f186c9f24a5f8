package discovery

import (
	"context"
	"encoding/json"
	"errors"
	"net/url"
	"strings"
	"time"

	"github.com/bowline-go/bowline/client/meta"
	apierrors "github.com/bowline-go/bowline/errors"
)

const openAPIPath = "/openapi/v3"

// hashIn returns the hash in a URL of the index.
func hashIn(serverRelativeURL string) string {
	u, err := url.Parse(serverRelativeURL)
	if err != nil {
		return ""
	}
	return u.Query().Get("hash")
}

// OpenAPI returns the OpenAPI v3 document of a group version, as the server wrote it. It downloads each document once:
// the server's index, which is requested again after Options.TTL, has a hash of each, and only a document with another
// hash is fetched again. The bytes are shared and must not be changed. OpenAPI ignores the Kind of gv, so gv may be the
// kind that the caller also passes to patch.SchemaFromOpenAPI. The error is a [*NoMatchError] if there is no document.
func (c *Catalog) OpenAPI(ctx context.Context, gv meta.GVK) (json.RawMessage, error) {
	key := strings.TrimPrefix(pathOf(gv), "/")
	for _, maxAge := range []time.Duration{c.maxAge(), c.missAge()} {
		x, err := c.index(ctx, maxAge)
		if errors.Is(err, apierrors.NotFound) {
			return nil, noDocument(gv, err)
		}
		if err != nil {
			return nil, err
		}
		hash, ok := x[key]
		if !ok {
			continue
		}
		p := page{path: openAPIPath + "/" + key, parse: parseJSON, hash: hash}
		if hash != "" {
			p.query = url.Values{"hash": {hash}}
		}
		doc, err := c.load(ctx, p, func(d *document) bool {
			return d.err == nil && hash != "" && d.hash == hash || c.fresh(d, maxAge)
		})
		if errors.Is(err, apierrors.NotFound) {
			return nil, noDocument(gv, err)
		}
		if err != nil {
			return nil, err
		}
		return doc.value.(json.RawMessage), nil
	}
	return nil, noDocument(gv, nil)
}

func (c *Catalog) index(ctx context.Context, maxAge time.Duration) (index, error) {
	if err := c.usable(); err != nil {
		return nil, err
	}
	doc, err := c.load(ctx, page{path: openAPIPath, parse: parseIndex}, func(d *document) bool { return c.fresh(d, maxAge) })
	if err != nil {
		return nil, err
	}
	return doc.value.(index), nil
}

func parseJSON(_ string, body []byte) (any, error) {
	if !json.Valid(body) {
		return nil, errors.New("it is not JSON")
	}
	return json.RawMessage(body), nil
}
