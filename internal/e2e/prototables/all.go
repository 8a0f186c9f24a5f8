package prototables

import (
	tables "github.com/bowline-go/bowline/client/protobuf"
	"github.com/bowline-go/bowline/client/protobuf/admissionregistration"
	"github.com/bowline-go/bowline/client/protobuf/apiextensions"
	"github.com/bowline-go/bowline/client/protobuf/apiregistration"
	"github.com/bowline-go/bowline/client/protobuf/apiserverinternal"
	"github.com/bowline-go/bowline/client/protobuf/apps"
	"github.com/bowline-go/bowline/client/protobuf/authentication"
	"github.com/bowline-go/bowline/client/protobuf/authorization"
	"github.com/bowline-go/bowline/client/protobuf/autoscaling"
	"github.com/bowline-go/bowline/client/protobuf/batch"
	"github.com/bowline-go/bowline/client/protobuf/certificates"
	"github.com/bowline-go/bowline/client/protobuf/coordination"
	"github.com/bowline-go/bowline/client/protobuf/core"
	"github.com/bowline-go/bowline/client/protobuf/discovery"
	"github.com/bowline-go/bowline/client/protobuf/events"
	"github.com/bowline-go/bowline/client/protobuf/flowcontrol"
	"github.com/bowline-go/bowline/client/protobuf/lifecycle"
	"github.com/bowline-go/bowline/client/protobuf/networking"
	"github.com/bowline-go/bowline/client/protobuf/node"
	"github.com/bowline-go/bowline/client/protobuf/policy"
	"github.com/bowline-go/bowline/client/protobuf/rbac"
	"github.com/bowline-go/bowline/client/protobuf/resource"
	"github.com/bowline-go/bowline/client/protobuf/scheduling"
	"github.com/bowline-go/bowline/client/protobuf/storage"
	"github.com/bowline-go/bowline/client/protobuf/storagemigration"
)

// All returns the tables of all versions, as programs import them.
func All() []tables.Table {
	return []tables.Table{
		admissionregistration.V1(), admissionregistration.V1alpha1(), admissionregistration.V1beta1(),
		apiextensions.V1(),
		apiregistration.V1(),
		apiserverinternal.V1alpha1(),
		apps.V1(),
		authentication.V1(), authentication.V1alpha1(), authentication.V1beta1(),
		authorization.V1(),
		autoscaling.V1(), autoscaling.V2(),
		batch.V1(),
		certificates.V1(), certificates.V1alpha1(), certificates.V1beta1(),
		coordination.V1(), coordination.V1alpha2(), coordination.V1beta1(),
		core.V1(),
		discovery.V1(),
		events.V1(),
		flowcontrol.V1(), flowcontrol.V1beta1(), flowcontrol.V1beta2(), flowcontrol.V1beta3(),
		lifecycle.V1alpha1(),
		networking.V1(), networking.V1beta1(),
		node.V1(),
		policy.V1(),
		rbac.V1(),
		resource.V1(), resource.V1alpha3(), resource.V1beta1(), resource.V1beta2(),
		scheduling.V1(), scheduling.V1alpha3(), scheduling.V1beta1(),
		storage.V1(), storage.V1alpha1(), storage.V1beta1(),
		storagemigration.V1(), storagemigration.V1beta1(),
	}
}
