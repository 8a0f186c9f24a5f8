package main

import (
	"context"
	"crypto/sha256"
	"encoding/hex"
	"encoding/json"
	"errors"
	"fmt"
	"maps"
	"slices"
	"strings"

	"github.com/bowline-go/bowline/client"
	"github.com/bowline-go/bowline/client/meta"
	apierrors "github.com/bowline-go/bowline/errors"
	"github.com/bowline-go/bowline/informer"
	"github.com/bowline-go/bowline/informer/controller"
)

const (
	mirrorLabel    = "bowline.dev/mirror" // "true" on a ConfigMap that wants a mirror
	hashAnnotation = "bowline.dev/source-hash"
	mirrorSuffix   = "-mirror"
)

// Mirrors keeps, for every ConfigMap labelled bowline.dev/mirror=true, a ConfigMap NAME-mirror with the same data. It
// is the example itself; the other files make trouble for it.
type Mirrors struct {
	configMaps client.Resource[*ConfigMap]
	informer   *informer.Informer[*ConfigMap]
	controller *controller.Controller[meta.Key]
}

// NewMirrors returns the controller, whose cache has the options o. The controller calls o.OnError with every error, and
// tries again.
func NewMirrors(c *client.Client, workers int, o informer.Options) *Mirrors {
	configMaps := client.For(c, ConfigMaps).With(client.WriteOptions{FieldManager: "quickstart"})
	m := &Mirrors{
		configMaps: configMaps,
		informer:   informer.New(configMaps, o),
	}
	m.controller = controller.New("mirror", controller.Options{Workers: workers, OnError: o.OnError}, m.reconcile,
		controller.Map(m.informer, sourceKeys),
		controller.Owns(m.informer, ConfigMaps))
	return m
}

// Run runs the informer and the controller until ctx ends.
func (m *Mirrors) Run(ctx context.Context) error { return informer.Run(ctx, m.controller) }

// sourceKeys returns the keys of the sources to reconcile when c changes: c itself if it is a source, and the source
// whose mirror has c's name. It is called with the states before and after a change, so the removal of a label counts
// too. Usually a mirror's owner reference names its source, and controller.Owns finds it. The name finds the source
// even if somebody removes that reference before the cache has seen it.
func sourceKeys(c *ConfigMap) []meta.Key {
	var keys []meta.Key
	if c.Labels[mirrorLabel] == "true" {
		keys = append(keys, c.Key())
	}
	if source, ok := strings.CutSuffix(c.Name, mirrorSuffix); ok {
		keys = append(keys, meta.Key{Namespace: c.Namespace, Name: source})
	}
	return keys
}

// reconcile makes the mirror of one source what it must be. It does not know what has changed, and looks only at the
// present state.
func (m *Mirrors) reconcile(ctx context.Context, key meta.Key) (controller.Result, error) {
	var done controller.Result
	cached, at := m.informer.Reader(), mirrorKey(key)
	mirror, exists := cached.Get(at)
	source, wanted := cached.Get(key)
	switch wanted = wanted && source.Labels[mirrorLabel] == "true"; {
	case wanted && exists && isMirrorOf(mirror, source):
		return done, nil
	case !wanted && exists && isMirror(mirror):
		err := m.configMaps.Delete(ctx, at, client.DeleteOptions{UID: mirror.UID, ResourceVersion: mirror.ResourceVersion})
		return done, apierrors.Ignore(err, apierrors.NotFound) // after a Conflict the controller tries again, with the present state
	case !wanted:
		return done, nil
	case !exists:
		fresh := &ConfigMap{ObjectMeta: at.ObjectMeta()}
		if err := makeMirrorOf(fresh, source); err != nil {
			return done, err
		}
		if _, err := m.configMaps.Create(ctx, fresh); !errors.Is(err, apierrors.AlreadyExists) {
			return done, err
		}
	}
	// Modify reads the live object, so it does not matter how old the cache is, and writes again after a conflict.
	_, err := m.configMaps.Modify(ctx, at, func(live *ConfigMap) error {
		if live.Labels[mirrorLabel] == "true" {
			return controller.Terminal(fmt.Errorf("%s is a source itself and cannot be the mirror of %s", at, key))
		}
		return makeMirrorOf(live, source)
	})
	return done, apierrors.Ignore(err, apierrors.NotFound) // it has just been deleted: that event leads here again
}

func mirrorKey(source meta.Key) meta.Key {
	return meta.Key{Namespace: source.Namespace, Name: source.Name + mirrorSuffix}
}

// makeMirrorOf gives mirror the data and the owner reference of source. It replaces the reference to an earlier source
// of the same name, and fails if somebody else controls the object.
func makeMirrorOf(mirror, source *ConfigMap) error {
	mirror.Data = maps.Clone(source.Data)
	mirror.Annotations = map[string]string{hashAnnotation: hash(source.Data)}
	mirror.OwnerReferences = slices.DeleteFunc(mirror.OwnerReferences, func(o meta.OwnerReference) bool {
		return isSource(o, source.Name) && o.UID != source.UID
	})
	return client.SetController(mirror, client.OwnerOf(ConfigMaps, source))
}

func isMirrorOf(mirror, source *ConfigMap) bool {
	owner, _ := meta.ControllerOf(mirror)
	return maps.Equal(mirror.Data, source.Data) && mirror.Annotations[hashAnnotation] == hash(source.Data) && owner.UID == source.UID
}

// isMirror reports whether this program made c, so that c is not somebody else's object with such a name.
func isMirror(c *ConfigMap) bool {
	owner, _ := meta.ControllerOf(c)
	return c.Annotations[hashAnnotation] != "" || isSource(owner, strings.TrimSuffix(c.Name, mirrorSuffix))
}

func isSource(o meta.OwnerReference, name string) bool {
	return o.APIVersion == "v1" && o.Kind == "ConfigMap" && o.Name == name
}

// hash identifies data: encoding/json sorts the members of a map.
func hash(data map[string]string) string {
	b, _ := json.Marshal(data) // a map of strings always encodes
	sum := sha256.Sum256(b)
	return hex.EncodeToString(sum[:8])
}
