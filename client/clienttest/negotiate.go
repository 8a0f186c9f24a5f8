package clienttest

import (
	"cmp"
	"compress/gzip"
	"io"
	"maps"
	"mime"
	"net/http"
	"net/url"
	"slices"
	"strconv"
	"strings"

	"github.com/bowline-go/bowline/client/clienttest/internal/jsontree"
	"github.com/bowline-go/bowline/client/clienttest/internal/protobuf"
	"github.com/bowline-go/bowline/client/clienttest/internal/status"
	"github.com/bowline-go/bowline/client/meta"
)

const (
	mediaJSON = "application/json"
	mediaYAML = "application/yaml"
	metaGroup = "meta.k8s.io"
)

// form is the form of objects that a client asks for.
type form int

const (
	asObject form = iota
	asMetadata
	asTable
)

// wish is one form of answer that a client accepts, from its Accept header.
type wish struct {
	media   string // mediaJSON or mediaYAML
	form    form
	list    bool   // of metadata: as a list
	version string // of the group of the form
}

// wishes returns the forms in the Accept header that the server supports, in the client's order of preference. known says whether
// the header names a media type that a real server has for the compiled-in kinds, in any form.
func wishes(r *http.Request) (_ []wish, known bool) {
	accept := strings.Join(r.Header["Accept"], ",")
	if accept == "" {
		return []wish{{media: mediaJSON}}, true
	}
	var all []wish
	for _, part := range acceptable(accept) {
		known = known || part.media != "application/*"
		w, params := wish{media: part.media, version: part.params["v"]}, part.params
		served := params["g"] == metaGroup && (w.version == "v1" || w.version == "v1beta1")
		switch params["as"] {
		case "":
			served = params["g"] == "" && params["v"] == ""
		case "Table":
			w.form = asTable
		case "PartialObjectMetadata":
			w.form = asMetadata
		case "PartialObjectMetadataList":
			w.form, w.list = asMetadata, true
		default:
			served = false
		}
		if strings.HasSuffix(w.media, "*") {
			w.media = mediaJSON
		}
		if served && w.media != protobuf.MediaType {
			all = append(all, w)
		}
	}
	return all, known
}

// alternative is one part of an Accept header.
type alternative struct {
	media   string
	params  map[string]string
	quality float64
}

// acceptable returns the parts of an Accept header that name a media type of a real server, in the order of their qualities. Of
// the same quality, a named type comes before a wildcard.
func acceptable(header string) []alternative {
	var parts []alternative
	for text := range strings.SplitSeq(header, ",") {
		media, params, err := mime.ParseMediaType(text)
		if err != nil || !slices.Contains([]string{mediaJSON, mediaYAML, protobuf.MediaType, "application/*", "*/*"}, media) {
			continue
		}
		quality, err := strconv.ParseFloat(params["q"], 64)
		if err != nil {
			quality = 1
		}
		parts = append(parts, alternative{media, params, quality})
	}
	slices.SortStableFunc(parts, func(a, b alternative) int {
		return cmp.Or(cmp.Compare(b.quality, a.quality), cmp.Compare(strings.Count(a.media, "*"), strings.Count(b.media, "*")))
	})
	return parts
}

// wantsYAML reports whether the answer to a request must be YAML.
func wantsYAML(r *http.Request) bool {
	all, _ := wishes(r)
	return len(all) > 0 && all[0].media == mediaYAML
}

// formOf picks the first form in the Accept header that the server supports. Metadata alone must be requested as a list if the
// answer is a list, and as an object otherwise.
func (c *call) formOf(list bool) (form, error) {
	all, known := wishes(c.r)
	if len(all) == 0 || !known && c.res.Builtin {
		return asObject, c.notAcceptable(known)
	}
	w := all[0]
	if w.media == mediaYAML && c.Verb == "watch" {
		return asObject, status.Failure(http.StatusNotAcceptable, "NotAcceptable", "only the following media types are accepted: %s", streamed)
	}
	c.formVersion = w.version
	if w.form == asMetadata && w.list != list && c.Verb != "watch" {
		as, what := "PartialObjectMetadata", "a list"
		if w.list {
			as, what = "PartialObjectMetadataList", "not a list"
		}
		return asObject, status.Failure(http.StatusNotAcceptable, "NotAcceptable", "you requested %s, but the requested object is %s", as, what)
	}
	return w.form, nil
}

// notAcceptable returns the error for an Accept header without a supported form. A real server uses other words if it does not
// know the media type at all and the kind is compiled in.
func (c *call) notAcceptable(known bool) error {
	media := strings.Join([]string{mediaJSON, mediaYAML, protobuf.MediaType}, ", ")
	switch {
	case !known && c.res.Builtin:
		if c.Verb == "list" || c.Verb == "watch" {
			media += ", " + streamed
		}
		return status.Failure(http.StatusNotAcceptable, "NotAcceptable", "406: Not Acceptable\n\nAvailable representations: %s", media).
			With(meta.StatusDetails{})
	case c.res.Builtin && strings.Contains(strings.Join(c.r.Header["Accept"], ","), protobuf.MediaType):
		return status.Failure(http.StatusNotAcceptable, "NotAcceptable", "only the following media types are accepted: %s, %s (%s)",
			mediaJSON, mediaYAML, "clienttest does not answer in protobuf; "+setJSON)
	}
	return status.Failure(http.StatusNotAcceptable, "NotAcceptable", "only the following media types are accepted: %s", media)
}

// streamed are the media types in which a real server sends the events of a watch.
const streamed = mediaJSON + ";stream=watch, " + protobuf.MediaType + ";stream=watch"

// setJSON tells the author of a test whose client has the defaults of client-go what to do.
const setJSON = `set ContentType: "application/json" in the rest.Config of client-go, whose default is protobuf`

// metaVersion returns the group and version of metadata alone, or of a Table.
func (c *call) metaVersion() string { return metaGroup + "/" + cmp.Or(c.formVersion, "v1") }

// partialStart returns the start of an object that has only metadata.
func (c *call) partialStart() string {
	return `{"kind":"PartialObjectMetadata","apiVersion":"` + c.metaVersion() + `","metadata":`
}

// payload is the body of a request.
type payload struct {
	media string
	sent  []byte   // as it came
	json  []byte   // the same as JSON, unless it is wrong
	twice []string // members that YAML has more than once
	wrong error    // why it does not match its media type; JSON is not checked
}

// payload reads the body of a request, which is JSON or YAML or, if its fields are known, protobuf. As on a real server, no type
// means JSON.
func (c *call) payload(fields protobuf.Message) (*payload, error) {
	p := &payload{media: mediaJSON}
	if header := c.r.Header.Get("Content-Type"); header != "" && c.r.ContentLength != 0 {
		p.media, _, _ = mime.ParseMediaType(header)
	}
	switch {
	case p.media == mediaJSON, p.media == mediaYAML, p.media == protobuf.MediaType && fields != nil:
	case p.media == protobuf.MediaType:
		return nil, status.Failure(http.StatusUnsupportedMediaType, "UnsupportedMediaType",
			"clienttest cannot read the protobuf body of this request: %s - accepted media types include: %s, %s", setJSON, mediaJSON, mediaYAML)
	default:
		return nil, status.UnsupportedMediaType(mediaJSON, mediaYAML, protobuf.MediaType)
	}
	var err error
	if p.sent, err = bodyOf(c.r); err != nil {
		return nil, err
	}
	switch {
	case p.media == mediaJSON || len(p.sent) == 0:
		p.json = p.sent
	case p.media == protobuf.MediaType:
		p.json, p.wrong = protobuf.ToJSON(p.sent, fields)
	default:
		var v any
		if v, p.twice, p.wrong = jsontree.ParseYAML(p.sent); p.wrong == nil {
			p.json = jsontree.Append(nil, v)
		}
	}
	return p, nil
}

// bodyOf reads a request's body, whatever its type.
func bodyOf(r *http.Request) ([]byte, error) {
	b, err := io.ReadAll(http.MaxBytesReader(nil, r.Body, maxBody))
	if err != nil {
		return nil, status.Failure(http.StatusRequestEntityTooLarge, "RequestEntityTooLarge",
			"Request entity too large: limit is %d", maxBody)
	}
	return b, nil
}

// maxBody is the maximum size of a request's body.
const maxBody = 3 << 20

// intParam reads an integer parameter; an absent or empty one is 0.
func intParam(query url.Values, name string) (int64, error) {
	s := query.Get(name)
	if s == "" {
		return 0, nil
	}
	n, err := strconv.ParseInt(s, 10, 64)
	if err != nil {
		return 0, status.BadRequest("%v", err)
	}
	return n, nil
}

// gzipFrom is the minimum size of a body that is compressed for clients that allow it.
const gzipFrom = 128 << 10

// compressed returns w, or a writer to it that compresses if the client allows it and size bytes are worth it. The caller must
// call finish at the end.
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
		_ = z.Close() // ignored: the client may have gone
		s.gzips.Put(z)
	}
}

// answerYAML answers a request in YAML. The server makes every answer as JSON; a client that asks for YAML gets the same members,
// sorted. An answer that is not JSON, such as the "ok" of /healthz, stays as it is.
func (s *Server) answerYAML(w http.ResponseWriter, r *http.Request, p *Replica) {
	plain := r.Clone(r.Context())
	plain.Header.Del("Accept-Encoding")
	rec := &recorder{header: http.Header{}, code: http.StatusOK}
	s.answerJSON(rec, plain, p)
	body := rec.body.Bytes()
	if rec.header.Get("Content-Type") == mediaJSON {
		if v, err := jsontree.Parse(body); err == nil {
			body = jsontree.FormatYAML(v)
			rec.header.Set("Content-Type", mediaYAML)
		}
	}
	maps.Copy(w.Header(), rec.header)
	w.Header().Set("Content-Length", strconv.Itoa(len(body)))
	w.WriteHeader(rec.code)
	_, _ = w.Write(body) // ignored: the client may have gone
}
