package kubeconfig

import (
	"encoding/json"
	"errors"
	"fmt"
	"math"

	"go.yaml.in/yaml/v3"
)

// execInfo is the environment variable with the request to a plugin.
const execInfo = "KUBERNETES_EXEC_INFO"

// request is the content of execInfo.
type request struct {
	APIVersion string      `json:"apiVersion"`
	Kind       string      `json:"kind"`
	Spec       requestSpec `json:"spec"`
}

type requestSpec struct {
	Cluster     *clusterInfo `json:"cluster,omitempty"`
	Interactive bool         `json:"interactive"`
}

// clusterInfo is the cluster of a credential, as the kubeconfig describes it.
type clusterInfo struct {
	Server             string          `json:"server"`
	ServerName         string          `json:"tls-server-name,omitempty"`
	Insecure           bool            `json:"insecure-skip-tls-verify,omitempty"`
	CA                 []byte          `json:"certificate-authority-data,omitempty"`
	Proxy              string          `json:"proxy-url,omitempty"`
	DisableCompression bool            `json:"disable-compression,omitempty"`
	Config             json.RawMessage `json:"config,omitempty"`
}

// tell sets the cluster that the plugin receives. Errors are recorded in the stanza cluster.
func (p *plugin) tell(cluster *stanza, ca []byte, caFile string) {
	*p.cluster = clusterInfo{
		Server: cluster.text("server"), ServerName: cluster.text("tls-server-name"),
		Insecure: cluster.flag("insecure-skip-tls-verify"), CA: ca,
		Proxy: cluster.text("proxy-url"), DisableCompression: cluster.flag("disable-compression"),
		Config: cluster.extension(execConfig),
	}
	p.caFile = caFile
}

// info returns the value of execInfo. It reads a CA file each time, because it may have changed.
func (p *plugin) info(interactive bool) (string, error) {
	r := request{APIVersion: p.version, Kind: "ExecCredential", Spec: requestSpec{Interactive: interactive}}
	if p.cluster != nil {
		cluster := *p.cluster
		if p.caFile != "" {
			ca, _, err := readAll(p.caFile)
			if err == nil && len(ca) > maxSize {
				err = errTooLarge
			}
			if err != nil {
				return "", fmt.Errorf("read certificate-authority %q: %w", p.caFile, withoutPath(err))
			}
			cluster.CA = ca
		}
		r.Spec.Cluster = &cluster
	}
	b, err := json.Marshal(r)
	return string(b), err
}

// extension returns the extension of this name as JSON; nil if there is none.
func (s *stanza) extension(name string) json.RawMessage {
	var found *yaml.Node
	for i, n := range s.sequence("extensions") {
		entry := &stanza{src: s.src, path: fmt.Sprintf("%s.extensions[%d]", s.path, i)}
		entry.read(follow(n), "name", "extension")
		switch {
		case entry.text("name") != name:
		case found != nil:
			entry.fail("name", fmt.Errorf("%q is used twice", name))
		default:
			found = entry.value("extension")
		}
		if entry.err != nil {
			s.err = entry.err
			return nil
		}
	}
	if found == nil {
		return nil
	}
	budget := maxExtension
	value, err := plain(found, &budget)
	if err != nil {
		s.fail(fmt.Sprintf("extensions[%q]", name), err)
		return nil
	}
	b, err := json.Marshal(value)
	if err != nil {
		s.fail(fmt.Sprintf("extensions[%q]", name), errNoJSON)
		return nil
	}
	return b
}

// maxExtension bounds an extension, in bytes. An environment variable has 128 KiB on Linux.
const maxExtension = 64 << 10

var errNoJSON = errors.New("has a value that JSON cannot express")

// plain converts a node for encoding/json. budget bounds its size, because aliases may expand.
func plain(n *yaml.Node, budget *int) (any, error) {
	n = follow(n)
	if *budget -= len(n.Value) + 1; *budget < 0 {
		return nil, fmt.Errorf("is larger than %d KiB", maxExtension>>10)
	}
	switch n.Kind {
	case yaml.SequenceNode:
		values := make([]any, 0, len(n.Content))
		for _, item := range n.Content {
			value, err := plain(item, budget)
			if err != nil {
				return nil, err
			}
			values = append(values, value)
		}
		return values, nil
	case yaml.MappingNode:
		members := map[string]any{}
		return members, plainMembers(n, members, budget)
	}
	switch n.Tag {
	case "!!null":
		return nil, nil
	case "!!bool":
		var b bool
		if n.Decode(&b) != nil {
			return nil, errNoJSON
		}
		return b, nil
	case "!!int", "!!float":
		if json.Valid([]byte(n.Value)) {
			return json.Number(n.Value), nil
		}
		var number any
		if n.Decode(&number) != nil {
			return nil, errNoJSON
		}
		if f, ok := number.(float64); ok && (math.IsNaN(f) || math.IsInf(f, 0)) {
			return nil, errNoJSON
		}
		return number, nil
	}
	return n.Value, nil
}

// plainMembers adds the members of a mapping that are not present yet: first its own, then those of its merge keys.
func plainMembers(n *yaml.Node, members map[string]any, budget *int) error {
	own := map[string]bool{}
	var others []*yaml.Node
	for i := 0; i+1 < len(n.Content); i += 2 {
		key, value := follow(n.Content[i]), follow(n.Content[i+1])
		switch {
		case key.Tag == "!!merge" && value.Kind == yaml.SequenceNode:
			others = append(others, value.Content...)
			continue
		case key.Tag == "!!merge":
			others = append(others, value)
			continue
		case key.Kind != yaml.ScalarNode:
			return errNoJSON
		case own[key.Value]:
			return errors.New("sets a key twice")
		}
		own[key.Value] = true
		if *budget -= len(key.Value); *budget < 0 {
			return fmt.Errorf("is larger than %d KiB", maxExtension>>10)
		}
		if _, there := members[key.Value]; there {
			continue
		}
		v, err := plain(value, budget)
		if err != nil {
			return err
		}
		members[key.Value] = v
	}
	for _, other := range others {
		if other = follow(other); other.Kind != yaml.MappingNode {
			return errors.New("must have mappings only under the merge key (<<)")
		}
		if err := plainMembers(other, members, budget); err != nil {
			return err
		}
	}
	return nil
}
