package kubeconfig

import (
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"strings"

	"go.yaml.in/yaml/v3"

	"github.com/bowline-go/bowline/internal/directive"
)

// Each file is first parsed into a separate merged value, which has YAML nodes by name. Their content is read when a
// context is picked. The nodes are not decoded into Go values, because the decoder's messages quote the file, which may
// contain a secret.

const (
	byteOrderMark = "\ufeff"

	// maxSize bounds a file, in bytes.
	maxSize = 16 << 20

	// maxMarks bounds the characters of a file that can begin a value. The parser needs about 250 bytes of memory for a
	// value, even if that is one byte long, and builds all of them before they can be counted; the size limit alone
	// would allow gigabytes. An entry with certificates has about 80 marks in 6 kB, so a file of the maximum size has
	// enough.
	maxMarks = 1 << 18

	// maxValues bounds the values of a file, with each alias counted as its whole target. A long text counts as one
	// value more for each textWeight bytes, because each alias of it is processed as a whole.
	maxValues  = 1 << 19
	textWeight = 64
)

// The lists of a kubeconfig, and the field of their entries that holds the body.
var (
	contexts = list{plural: "contexts", body: "context", known: []string{"cluster", "user", "namespace", "extensions"}}
	clusters = list{plural: "clusters", body: "cluster", known: []string{
		"server", "certificate-authority", "certificate-authority-data", "insecure-skip-tls-verify", "tls-server-name",
		"proxy-url", "disable-compression", "extensions",
	}}
	users = list{plural: "users", body: "user", known: []string{
		"client-certificate", "client-certificate-data", "client-key", "client-key-data", "token", "tokenFile",
		"exec", "auth-provider", "username", "password", "as", "as-uid", "as-groups", "as-user-extra", "extensions",
	}}
)

// list is one of the lists of a kubeconfig.
type list struct {
	plural string
	body   string
	known  []string // the known fields of the body
}

// parse returns the configuration in data, which may be empty.
func parse(src *source, data []byte) (*merged, error) {
	docs, _, err := documents(src, data)
	if err != nil {
		return nil, err
	}
	return unify(src, docs)
}

// unify merges the documents of one file.
func unify(src *source, docs []*yaml.Node) (*merged, error) {
	m := &merged{sources: []*source{src}}
	for _, doc := range docs {
		if err := m.document(src, doc.Content[0]); err != nil {
			return nil, m.explain(err)
		}
	}
	return m, nil
}

// documents returns the documents in data, and whether it is JSON, which is always one document.
func documents(src *source, data []byte) (docs []*yaml.Node, isJSON bool, err error) {
	bad := func(err error) ([]*yaml.Node, bool, error) { return nil, false, &FieldError{file: src.name, err: err} }
	if len(data) > maxSize {
		return bad(errTooLarge)
	}
	if tooManyMarks(data) {
		return bad(errTooMany)
	}
	if text := bytes.TrimPrefix(data, []byte(byteOrderMark)); json.Valid(text) {
		doc, err := decodeJSON(text)
		if err != nil {
			return bad(err)
		}
		return []*yaml.Node{{Kind: yaml.DocumentNode, Content: []*yaml.Node{doc}}}, true, nil
	}
	if err := directive.Check(data); err != nil {
		return bad(fmt.Errorf("cannot be read: %w", err))
	}
	budget := maxValues
	for d := yaml.NewDecoder(bytes.NewReader(data)); ; {
		doc := new(yaml.Node)
		err := decode(d, doc)
		if errors.Is(err, io.EOF) {
			break
		}
		if err != nil {
			return bad(err)
		}
		if budget -= weigh(doc, map[*yaml.Node]int{}); budget < 0 {
			return bad(errTooMany)
		}
		docs = append(docs, doc)
	}
	return docs, false, nil
}

var (
	errTooLarge = fmt.Errorf("is larger than %d MiB", maxSize>>20)
	errTooMany  = errors.New("has too many values in it, or aliases that expand to too many")
)

// tooManyMarks reports whether data may have more values than a parser should be given. Each value but the outermost
// begins after one of these characters, and at most two values begin after one character.
func tooManyMarks(data []byte) bool {
	marks := 0
	for _, c := range data {
		switch c {
		case ':', '-', ',', '?', '[', '{':
			marks++
		}
	}
	return marks > maxMarks
}

// decode parses the next document of YAML. Its errors quote nothing of the document.
func decode(d *yaml.Decoder, doc *yaml.Node) (err error) {
	defer func() {
		// The parser panics in states that it considers impossible.
		if recover() != nil {
			err = errors.New("is not YAML that can be parsed")
		}
	}()
	err = d.Decode(doc)
	switch {
	case err == nil || errors.Is(err, io.EOF):
		return err
	case strings.Contains(err.Error(), "unknown anchor"):
		// The alias may be a token that begins with * and is not quoted.
		return errors.New("is not YAML: an alias (*) refers to no anchor")
	}
	return fmt.Errorf("is not YAML: %s", strings.TrimPrefix(err.Error(), "yaml: "))
}

// weigh counts the values of n, as maxValues says, in time proportional to the existing nodes. A value that contains
// itself weighs more than the budget. known has the weights of anchors.
func weigh(n *yaml.Node, known map[*yaml.Node]int) int {
	const tooMuch = maxValues + 1
	if n.Anchor != "" {
		if weight, ok := known[n]; ok {
			return weight
		}
		known[n] = tooMuch // for aliases within n
	}
	weight := min(1+len(n.Value)/textWeight, tooMuch)
	if n.Kind == yaml.AliasNode { // n.Value is the name of the anchor
		weight = weigh(n.Alias, known)
	}
	for _, child := range n.Content {
		weight = min(weight+weigh(child, known), tooMuch)
	}
	if n.Anchor != "" {
		known[n] = weight
	}
	return weight
}

// document adds one document to m.
func (m *merged) document(src *source, doc *yaml.Node) error {
	if isNull(doc) {
		return nil
	}
	top := &stanza{src: src}
	top.read(doc, "apiVersion", "kind", "current-context", contexts.plural, clusters.plural, users.plural,
		"preferences", "extensions")
	if len(m.ignored) < maxOther {
		m.ignored = append(m.ignored, top.ignored()...)
	}
	if kind := top.text("kind"); kind != "" && kind != "Config" {
		top.fail("kind", fmt.Errorf("must be Config, got %q", kind))
	}
	if version := top.text("apiVersion"); version != "" && version != "v1" {
		top.fail("apiVersion", fmt.Errorf("must be v1, got %q", version))
	}
	if current := top.text("current-context"); m.current == "" {
		m.current, m.currentSource = current, src
	}
	m.entries(top, contexts, &m.contexts)
	m.entries(top, clusters, &m.clusters)
	m.entries(top, users, &m.users)
	return top.err
}

// unusable notes an entry without a name. Nothing can refer to it, so it is not an error.
func (m *merged) unusable(entry, named *stanza) {
	if len(m.lost) == maxOther {
		return
	}
	err := entry.err
	if named.err != nil {
		err = named.err
	}
	m.lost = append(m.lost, err.Error()+", and was ignored")
}

// entries adds the entries of one list of top to those of the file. An entry with a name but another error fails only
// when it is used.
func (m *merged) entries(top *stanza, l list, to *map[string]*stanza) {
	n := top.value(l.plural)
	if n == nil {
		return
	}
	if n.Kind != yaml.SequenceNode {
		top.fail(l.plural, errors.New("must be a list"))
		return
	}
	for i, item := range n.Content {
		item = follow(item)
		if isNull(item) {
			continue
		}
		entry := &stanza{src: top.src, path: fmt.Sprintf("%s[%d]", l.plural, i)}
		entry.read(item, "name", l.body)
		named := entry.clone()
		named.err = nil // so that the error of a wrong entry can have its name
		name := named.text("name")
		switch {
		case name == "":
			entry.fail("name", errors.New("is not set"))
			m.unusable(entry, named)
			continue
		case (*to)[name] != nil:
			entry.err = nil
			entry.fail("name", fmt.Errorf("%q is used twice", name))
			top.err = entry.err
			return
		}
		body := &stanza{src: top.src, path: fmt.Sprintf("%s[%q]", l.plural, name), place: len(*to), err: entry.err}
		if n := entry.value(l.body); n != nil {
			body.read(n, l.known...)
		}
		body.other = append(entry.other, body.other...)
		if *to == nil {
			*to = map[string]*stanza{}
		}
		(*to)[name] = body
	}
}
