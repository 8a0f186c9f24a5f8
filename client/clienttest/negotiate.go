package clienttest

import (
	"compress/gzip"
	"io"
	"mime"
	"net/http"
	"net/url"
	"strconv"
	"strings"
)

const (
	mediaJSON = "application/json"
	metaGroup = "meta.k8s.io"
)

// form is the shape in which a client wants objects.
type form int

const (
	asObject form = iota
	asMetadata
	asTable
)

// formOf picks the first form in the Accept header that the server has. Quality values are ignored, as a real server
// does. Metadata alone must be asked for as a list where the answer is one, and not so elsewhere.
func formOf(r *http.Request, list bool) (form, error) {
	accept := strings.Join(r.Header["Accept"], ",")
	if accept == "" {
		return asObject, nil
	}
	for part := range strings.SplitSeq(accept, ",") {
		media, params, err := mime.ParseMediaType(part)
		if err != nil || media != mediaJSON && media != "application/*" && media != "*/*" {
			continue
		}
		switch as := params["as"]; {
		case as == "":
			return asObject, nil
		case params["g"] != metaGroup || params["v"] != "v1":
		case as == "Table":
			return asTable, nil
		case as == "PartialObjectMetadata", as == "PartialObjectMetadataList":
			if list != (as == "PartialObjectMetadataList") {
				what := map[bool]string{true: "a list", false: "not a list"}
				return asObject, failure(http.StatusNotAcceptable, "NotAcceptable",
					"you requested %s, but the requested object is %s", as, what[list])
			}
			return asMetadata, nil
		}
	}
	return asObject, notAcceptable()
}

// readBody reads a request's body, whose type must be one of those given. No type means the first, as a real server
// has it.
func readBody(r *http.Request, accepted ...string) ([]byte, string, error) {
	media := accepted[0]
	if header := r.Header.Get("Content-Type"); header != "" && r.ContentLength != 0 {
		media, _, _ = mime.ParseMediaType(header)
	}
	for _, a := range accepted {
		if a == media {
			b, err := bodyOf(r)
			return b, media, err
		}
	}
	return nil, "", unsupportedMediaType(accepted...)
}

// bodyOf reads a request's body, whatever its type.
func bodyOf(r *http.Request) ([]byte, error) {
	b, err := io.ReadAll(http.MaxBytesReader(nil, r.Body, maxBody))
	if err != nil {
		return nil, failure(http.StatusRequestEntityTooLarge, "RequestEntityTooLarge",
			"Request entity is too large: limit is %d", maxBody)
	}
	return b, nil
}

// maxBody is how large the body of a request may be.
const maxBody = 3 << 20

// intParam reads an integer parameter; an absent or empty one is 0.
func intParam(query url.Values, name string) (int64, error) {
	s := query.Get(name)
	if s == "" {
		return 0, nil
	}
	n, err := strconv.ParseInt(s, 10, 64)
	if err != nil {
		return 0, badRequest("%v", err)
	}
	return n, nil
}

// gzipFrom is the size from which on a body is compressed for clients that allow it.
const gzipFrom = 128 << 10

// compressed returns w, or a writer to it that compresses when the client allows it and size bytes are worth it.
// finish must be called at the end.
func (s *Server) compressed(w http.ResponseWriter, r *http.Request, size int) (_ io.Writer, finish func()) {
	h := w.Header()
	if size < gzipFrom || !strings.Contains(r.Header.Get("Accept-Encoding"), "gzip") {
		return w, func() {}
	}
	h.Set("Content-Encoding", "gzip")
	h.Add("Vary", "Accept-Encoding")
	z, ok := s.gzips.Get().(*gzip.Writer)
	if !ok {
		z, _ = gzip.NewWriterLevel(nil, gzip.BestSpeed)
	}
	z.Reset(w)
	return z, func() {
		_ = z.Close() // a client that has gone does not want an error
		s.gzips.Put(z)
	}
}
