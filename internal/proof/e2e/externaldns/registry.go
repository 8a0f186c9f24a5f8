package externaldns

import (
	"context"
	"fmt"
	"strings"
)

// Provider has records. Apply does all of the changes or none.
type Provider interface {
	Records(ctx context.Context) ([]*Endpoint, error)
	Apply(ctx context.Context, c Changes) error
}

// registry keeps the owner of each record in a TXT record beside it. The name of the TXT record is the type and the
// name of the record: a-web.example.com for the A record of web.example.com.
type registry struct {
	provider Provider
	owner    string
}

const heritage = "heritage=external-dns"

// records returns the records of the provider. Those that have a TXT record get their owner and object from it.
func (r *registry) records(ctx context.Context) ([]*Endpoint, error) {
	all, err := r.provider.Records(ctx)
	if err != nil {
		return nil, err
	}
	texts := make(map[string]map[string]string) // by the name of the TXT record
	for _, e := range all {
		if e.Type != TXT {
			continue
		}
		for _, target := range e.Targets {
			if labels := parse(target); labels != nil {
				texts[e.Name] = labels
			}
		}
	}
	var records []*Endpoint
	for _, e := range all {
		if e.Type == TXT && texts[e.Name] != nil {
			continue // it belongs to another record
		}
		one := *e
		labels := texts[textName(e)]
		one.Owner, one.Resource = labels["owner"], labels["resource"]
		records = append(records, &one)
	}
	return records, nil
}

// apply makes the changes, and those of the TXT records.
func (r *registry) apply(ctx context.Context, c Changes) error {
	with := func(records []*Endpoint) (all []*Endpoint) {
		for _, e := range records {
			all = append(all, e, r.text(e))
		}
		return all
	}
	return r.provider.Apply(ctx, Changes{Create: with(c.Create), Old: with(c.Old), New: with(c.New), Delete: with(c.Delete)})
}

func (r *registry) text(e *Endpoint) *Endpoint {
	target := fmt.Sprintf("%q", fmt.Sprintf("%s,external-dns/owner=%s,external-dns/resource=%s", heritage, r.owner, e.Resource))
	return &Endpoint{Name: textName(e), Type: TXT, Targets: []string{target}}
}

// textName returns the name of the TXT record. It has the word any in the place of a wildcard, because a wildcard may
// only be the first label.
func textName(e *Endpoint) string {
	name := strings.ToLower(e.Type) + "-" + e.Name
	if rest, found := strings.CutPrefix(e.Name, "*."); found {
		name = strings.ToLower(e.Type) + "-any." + rest
	}
	return name
}

// parse returns the labels in the text of a TXT record that a registry made; nil for any other text.
func parse(target string) map[string]string {
	rest, found := strings.CutPrefix(strings.Trim(target, `"`), heritage+",")
	if !found {
		return nil
	}
	labels := make(map[string]string)
	for pair := range strings.SplitSeq(rest, ",") {
		if key, value, found := strings.Cut(strings.TrimPrefix(pair, "external-dns/"), "="); found {
			labels[key] = value
		}
	}
	return labels
}
