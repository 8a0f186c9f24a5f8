package meta

import (
	"bytes"
	"cmp"
	"encoding/json"
	"errors"
	"fmt"
	"reflect"
)

// CloneTarget says where a copy of an object is created. The zero value is the object's own namespace in its cluster.
type CloneTarget struct {
	// Namespace is the namespace of the copy. Empty means that of the object.
	Namespace string
	// Name is the name of the copy. If it is empty, a copy in another namespace or cluster keeps the name of the
	// object, and the server makes the name of a copy in the same namespace: from the object's generateName, or from
	// its name and a dash.
	Name string
	// OtherCluster says that the copy is created in another cluster.
	OtherCluster bool
}

// CloneForCreate returns a copy of obj for a create, without the values that the server and the controllers of a
// cluster have set. kind is the object's kind, such as client.Type.GVK returns. obj does not change. These are left
// out:
//
//   - uid, resourceVersion, generation, the times, selfLink and managedFields;
//   - owners and finalizers, because they are about the original;
//   - status;
//   - annotations and labels that the controllers of Kubernetes and kubectl apply write, such as pod-template-hash;
//   - fields of the built-in kinds that the server, its admission plugins and the controllers fill, such as the node of
//     a pod, the addresses and node ports of a service, the volume of a claim, and the selector of a job. DESIGN.md has
//     the table.
//
// Defaults that the server gives to every object stay. In kinds that are not built in, everything but metadata and
// status stays. In another cluster, the IP families of a service are left to that cluster. Names of other objects stay,
// even if the other namespace or cluster lacks these objects. In a copy of an Event, the object that the Event is about
// gets the namespace of the copy.
//
// The copy is made through JSON: fields of T that are not in its JSON are zero. CloneForCreate returns an error if obj
// is nil, has no name, or cannot be encoded; if kind has no Kind; if the copy of a cluster-wide object would have a
// namespace; or if the server would have to make the name and T has no field for generateName.
func CloneForCreate[T Object](obj T, kind GVK, to CloneTarget) (T, error) {
	var out T
	err := checkClone(obj, kind, to)
	if err == nil {
		out, err = cloneForCreate(obj, kind, to)
	}
	if err != nil {
		var none T
		return none, fmt.Errorf("clone %s for a create: %w", cmp.Or(clip(kind.Kind), "an object"), err)
	}
	return out, nil
}

func checkClone(obj Object, kind GVK, to CloneTarget) error {
	switch {
	case isNil(obj):
		return errors.New("the object must not be nil")
	case kind.Kind == "":
		return errors.New("the kind must have a Kind")
	case obj.GetName() == "":
		return errors.New("the object must have a name")
	case to.Namespace != "" && obj.GetNamespace() == "":
		return fmt.Errorf("the namespace must be empty, since %q has none, got %q", clip(obj.GetName()), clip(to.Namespace))
	}
	return nil
}

func cloneForCreate[T Object](obj T, kind GVK, to CloneTarget) (out T, err error) {
	text, err := json.Marshal(obj)
	if err != nil {
		return out, err
	}
	d := json.NewDecoder(bytes.NewReader(text))
	d.UseNumber()
	var content map[string]any
	if err = d.Decode(&content); err != nil {
		return out, fmt.Errorf("its JSON must be an object: %w", err)
	}
	metadata, ok := content["metadata"].(map[string]any)
	if !ok {
		return out, errors.New("its JSON must have metadata")
	}
	stripped{content, to}.kind(kind)
	stripMetadata(metadata)
	to.rename(metadata, obj.GetNamespace(), obj.GetName())
	if text, err = json.Marshal(content); err != nil {
		return out, err
	}
	if t := reflect.TypeFor[T](); t.Kind() == reflect.Pointer {
		out = reflect.New(t.Elem()).Interface().(T)
		err = json.Unmarshal(text, out)
	} else {
		err = json.Unmarshal(text, &out)
	}
	if err == nil && out.GetName() == "" && !keepsGenerateName(out) {
		err = fmt.Errorf("CloneTarget.Name must be set, since %T has no field for generateName", out)
	}
	return out, err
}

// rename puts the namespace and the name of the copy into its metadata.
func (to CloneTarget) rename(metadata map[string]any, namespace, name string) {
	there := cmp.Or(to.Namespace, namespace)
	if there != "" {
		metadata["namespace"] = there
	}
	prefix, _ := metadata["generateName"].(string)
	delete(metadata, "generateName")
	if to.Name == "" && there == namespace && !to.OtherCluster {
		delete(metadata, "name")
		metadata["generateName"] = cmp.Or(prefix, name+"-")
		return
	}
	metadata["name"] = cmp.Or(to.Name, name)
}

func keepsGenerateName(obj any) bool {
	var read struct {
		Metadata struct {
			GenerateName string `json:"generateName"`
		} `json:"metadata"`
	}
	text, err := json.Marshal(obj)
	return err == nil && json.Unmarshal(text, &read) == nil && read.Metadata.GenerateName != ""
}
