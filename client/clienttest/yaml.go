package clienttest

import (
	"bytes"
	"encoding/json"
	"maps"
	"net/http"
	"slices"
	"strconv"

	"go.yaml.in/yaml/v3"
)

// Every answer is made as JSON. A client that asks for YAML gets the same members, sorted, as YAML.

// answerYAML answers a request in YAML. An answer that is not JSON, such as the "ok" of /healthz, stays as it is.
func (s *Server) answerYAML(w http.ResponseWriter, r *http.Request, p *Replica) {
	plain := r.Clone(r.Context())
	plain.Header.Del("Accept-Encoding")
	rec := &recorder{header: http.Header{}, code: http.StatusOK}
	s.answerJSON(rec, plain, p)
	body := rec.body.Bytes()
	if rec.header.Get("Content-Type") == mediaJSON {
		if v, err := parseJSON(body); err == nil {
			body = appendYAML(v)
			rec.header.Set("Content-Type", mediaYAML)
		}
	}
	maps.Copy(w.Header(), rec.header)
	w.Header().Set("Content-Length", strconv.Itoa(len(body)))
	w.WriteHeader(rec.code)
	_, _ = w.Write(body) // a client that has gone does not want an error
}

// appendYAML returns a decoded JSON value as YAML.
func appendYAML(v any) []byte {
	var b bytes.Buffer
	e := yaml.NewEncoder(&b)
	e.SetIndent(2)
	e.CompactSeqIndent()
	if err := e.Encode(yamlNode(v)); err != nil {
		panic(err) // a node of such values can be encoded
	}
	_ = e.Close()
	return b.Bytes()
}

func yamlNode(v any) *yaml.Node {
	scalar := func(tag, text string) *yaml.Node { return &yaml.Node{Kind: yaml.ScalarNode, Tag: tag, Value: text} }
	switch v := v.(type) {
	case members:
		n := &yaml.Node{Kind: yaml.MappingNode, Tag: "!!map"}
		for _, k := range slices.Sorted(maps.Keys(v)) {
			n.Content = append(n.Content, yamlText(k), yamlNode(v[k]))
		}
		return n
	case []any:
		n := &yaml.Node{Kind: yaml.SequenceNode, Tag: "!!seq"}
		for _, e := range v {
			n.Content = append(n.Content, yamlNode(e))
		}
		return n
	case string:
		return yamlText(v)
	case bool:
		return scalar("!!bool", strconv.FormatBool(v))
	case json.Number:
		if _, err := strconv.ParseInt(v.String(), 10, 64); err == nil {
			return scalar("!!int", v.String())
		}
		return scalar("!!float", v.String())
	}
	return scalar("!!null", "null")
}

// yamlText returns a text in quotes where it would be something else without them, also to a reader of YAML 1.1.
func yamlText(s string) *yaml.Node {
	var n yaml.Node
	if err := n.Encode(s); err != nil {
		panic(err) // a text can be encoded
	}
	return &n
}
