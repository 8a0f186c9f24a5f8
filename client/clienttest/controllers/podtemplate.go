package controllers

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"hash/fnv"
	"maps"
	"reflect"
	"slices"
	"strconv"

	"github.com/bowline-go/bowline/client"
	"github.com/bowline-go/bowline/client/meta"
	apierrors "github.com/bowline-go/bowline/errors"
)

// hashLabel tells the pods of the replica sets of one deployment apart.
const hashLabel = "pod-template-hash"

// prefix returns the generateName of the pods of an object.
func prefix(owner string) string { return owner + "-" }

// pod returns a pod as the template describes it.
func (t *template) pod(namespace, generateName string) *newPod {
	p := &newPod{Spec: t.Spec}
	p.Namespace, p.GenerateName = namespace, generateName
	p.Labels, p.Annotations = maps.Clone(t.Metadata.Labels), maps.Clone(t.Metadata.Annotations)
	p.Finalizers = slices.Clone(t.Metadata.Finalizers)
	return p
}

// createPod creates a pod that owner controls. It creates nothing, and returns nil, if the namespace is being deleted.
func createPod(ctx context.Context, pods client.Resource[*podObject], p *newPod, owner client.Owner) error {
	if len(p.Labels) == 0 {
		return errors.New("unable to create pods, no labels")
	}
	if err := client.SetController(p, owner); err != nil {
		return err
	}
	_, err := client.Retype[*newPod](pods).Create(ctx, p)
	return ignoreEnding(err)
}

// ignoreEnding returns err, or nil if the server refuses new objects because their namespace is being deleted.
func ignoreEnding(err error) error {
	if _, ending := apierrors.Cause(err, "NamespaceTerminating"); ending {
		return nil
	}
	return err
}

// equal reports whether two templates are the same, apart from the label of the hash.
func (t *template) equal(other *template) bool {
	return reflect.DeepEqual(t.comparable(), other.comparable())
}

// comparable returns the template as maps and lists, without the label of the hash.
func (t *template) comparable() any {
	c := *t
	c.Metadata.Labels = maps.Clone(c.Metadata.Labels)
	delete(c.Metadata.Labels, hashLabel)
	var v any
	text, err := json.Marshal(c)
	if err == nil {
		d := json.NewDecoder(bytes.NewReader(text))
		d.UseNumber()
		err = d.Decode(&v)
	}
	if err != nil { // the text came from a server and was valid JSON there
		return err
	}
	return v
}

// hash returns a text that differs for templates that differ, and for different numbers of collisions. It is the same
// after a restart, and has no vowels, so that it spells no word.
func (t *template) hash(collisions *int) (string, error) {
	text, err := json.Marshal(t.comparable()) // the members of maps are sorted
	if err != nil {
		return "", fmt.Errorf("hash the pod template: %w", err)
	}
	h := fnv.New32a()
	_, _ = h.Write(text)
	if collisions != nil {
		_, _ = h.Write([]byte(strconv.Itoa(*collisions)))
	}
	const letters = "bcdfghjklm" // one for each digit
	encoded := []byte(strconv.FormatUint(uint64(h.Sum32()), 10))
	for i, digit := range encoded {
		encoded[i] = letters[digit-'0']
	}
	return string(encoded), nil
}

// ownedObject is an object that another may control.
type ownedObject interface {
	meta.Object
	meta.Owned[meta.OwnerReference]
}

// ownedBy is the key of an index of objects by the uid of their controller, which is empty if they have none.
type ownedBy struct{ namespace, uid string }

func byController[T ownedObject](obj T) ownedBy {
	owner, _ := meta.ControllerOf(obj)
	return ownedBy{obj.GetNamespace(), owner.UID}
}
