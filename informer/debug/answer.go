package debug

import (
	_ "embed"
	"encoding/json"
	"mime"
	"net/http"
	"strconv"
	"strings"
)

//go:embed page.css
var style string

//go:embed page.js
var script string

func (p *Page) serveAsset(w http.ResponseWriter, r *http.Request, name string) {
	switch name {
	case "page.css":
		write(w, r, http.StatusOK, "text/css; charset=utf-8", []byte(style))
	case "page.js":
		write(w, r, http.StatusOK, "text/javascript; charset=utf-8", []byte(script))
	default:
		p.refuse(w, r, http.StatusNotFound, errNotFound)
	}
}

// answer writes a view in the form that the request prefers. It builds the whole answer before it writes, so that a
// slow client blocks nothing else.
func (p *Page) answer(w http.ResponseWriter, r *http.Request, code int, v view) {
	if wantsJSON(r.Header.Values("Accept")) {
		body, err := json.MarshalIndent(v, "", "  ")
		if err != nil { // every view has only values that encode
			body, code = []byte(`{"error":"the view does not encode as JSON"}`), http.StatusInternalServerError
		}
		write(w, r, code, "application/json", append(body, '\n'))
		return
	}
	write(w, r, code, "text/html; charset=utf-8", p.document(v))
}

func write(w http.ResponseWriter, r *http.Request, code int, contentType string, body []byte) {
	w.Header().Set("Content-Type", contentType)
	w.Header().Set("Content-Length", strconv.Itoa(len(body)))
	w.WriteHeader(code)
	if r.Method != http.MethodHead {
		_, _ = w.Write(body)
	}
}

// refusal is the view of a refused request.
type refusal struct {
	Code int    `json:"code"`
	Err  string `json:"error"`
}

func (p *Page) refuse(w http.ResponseWriter, r *http.Request, code int, err error) {
	p.answer(w, r, code, refusal{code, clean(err.Error())})
}

func (v refusal) title() string { return http.StatusText(v.Code) }

func (v refusal) body(m *markup) {
	m.raw(`<section class="refusal"><p class="code">`).text(strconv.Itoa(v.Code)).raw(`</p><h1>`).text(http.StatusText(v.Code)).raw(`</h1><p>`)
	m.text(v.Err).raw(`</p></section>`)
}

// wantsJSON reports whether the Accept fields prefer JSON to HTML (RFC 9110, section 12.5.1). A client that accepts
// anything gets HTML.
func wantsJSON(fields []string) bool {
	html, asJSON := -1.0, -1.0
	for part := range strings.SplitSeq(strings.Join(fields, ","), ",") {
		kind, parameters, err := mime.ParseMediaType(strings.TrimSpace(part))
		if err != nil {
			continue
		}
		q := 1.0
		if text, ok := parameters["q"]; ok {
			if q, err = strconv.ParseFloat(text, 64); err != nil {
				continue
			}
		}
		switch kind {
		case "application/json":
			asJSON = max(asJSON, q)
		case "text/html", "application/xhtml+xml":
			html = max(html, q)
		}
	}
	return asJSON > 0 && asJSON > html
}
