package cel

import (
	"k8s.io/apimachinery/pkg/util/validation/field"

	"github.com/bowline-go/bowline/client/meta"
)

// causes returns errors as kube-apiserver puts them into the details of a Status.
func causes(errs field.ErrorList) []meta.StatusCause {
	var list []meta.StatusCause
	for _, e := range errs {
		list = append(list, meta.StatusCause{Reason: string(e.Type), Message: e.ErrorBody(), Field: e.Field})
	}
	return list
}
