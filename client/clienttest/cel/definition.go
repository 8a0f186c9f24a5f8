package cel

import (
	"context"
	"encoding/json"

	"k8s.io/apiextensions-apiserver/pkg/apis/apiextensions"
	v1 "k8s.io/apiextensions-apiserver/pkg/apis/apiextensions/v1"
	"k8s.io/apiextensions-apiserver/pkg/apis/apiextensions/validation"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	kjson "k8s.io/apimachinery/pkg/util/json"
	"k8s.io/apimachinery/pkg/util/validation/field"

	"github.com/bowline-go/bowline/client/meta"
)

// CheckDefinition implements [clienttest.Rules]. It returns all that is wrong with the definition, not only with its
// rules. The status of the definition has no effect, as in any write that is not to the subresource status, nor has the
// metadata that definitions have in common with other kinds.
func (rules) CheckDefinition(ctx context.Context, definition, old json.RawMessage) []meta.StatusCause {
	obj, err := readDefinition(definition)
	if err != nil {
		return unreadable(err)
	}
	if old == nil {
		setStatus(obj, apiextensions.CustomResourceDefinitionStatus{})
		return causes(validation.ValidateCustomResourceDefinition(ctx, obj))
	}
	before, err := readDefinition(old)
	if err != nil {
		return unreadable(err)
	}
	setStatus(obj, *before.Status.DeepCopy())
	return causes(validation.ValidateCustomResourceDefinitionUpdate(ctx, obj, before))
}

// readDefinition reads a definition as a real server does, with defaults and in the internal form, but without the
// metadata that a server checks for every kind.
func readDefinition(data []byte) (*apiextensions.CustomResourceDefinition, error) {
	var external v1.CustomResourceDefinition
	if err := kjson.Unmarshal(data, &external); err != nil {
		return nil, err
	}
	external.ObjectMeta = metav1.ObjectMeta{
		Name:            external.Name,
		ResourceVersion: "1", // necessary in an update
		Annotations:     map[string]string{v1.KubeAPIApprovedAnnotation: external.Annotations[v1.KubeAPIApprovedAnnotation]},
	}
	v1.SetObjectDefaults_CustomResourceDefinition(&external)
	var internal apiextensions.CustomResourceDefinition
	err := v1.Convert_v1_CustomResourceDefinition_To_apiextensions_CustomResourceDefinition(&external, &internal, nil)
	return &internal, err
}

// setStatus does what a real server does before it checks a write: it keeps the old status, and adds the version that
// is stored from now on.
func setStatus(obj *apiextensions.CustomResourceDefinition, old apiextensions.CustomResourceDefinitionStatus) {
	obj.Status = old
	for _, v := range obj.Spec.Versions {
		if v.Storage {
			if !apiextensions.IsStoredVersion(obj, v.Name) {
				obj.Status.StoredVersions = append(obj.Status.StoredVersions, v.Name)
			}
			return
		}
	}
}

// unreadable returns the cause for a definition that does not decode. A server refuses those before their rules matter.
func unreadable(err error) []meta.StatusCause {
	return causes(field.ErrorList{field.InternalError(nil, err)})
}
