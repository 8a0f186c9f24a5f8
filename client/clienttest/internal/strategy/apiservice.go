package strategy

import (
	"github.com/bowline-go/bowline/client/clienttest/internal/jsontree"
	"github.com/bowline-go/bowline/client/meta"
)

// addAPIServices adds APIService.
func addAPIServices(all map[meta.GVK]kind) {
	all[meta.GVK{Group: "apiregistration.k8s.io", Version: "v1", Kind: "APIService"}] = kind{
		check: checkAPIService, status: checkAPIServiceStatus,
	}
}

// addAPIServiceDefaults adds the defaults of an APIService.
func addAPIServiceDefaults(all map[string]func(jsontree.Object)) {
	all["io.k8s.kube-aggregator.pkg.apis.apiregistration.v1.ServiceReference"] = func(m jsontree.Object) {
		setDefault(m, "port", number(443))
	}
}

// checkAPIService checks an APIService.
func checkAPIService(v value) {
	spec, name := v.at("spec"), v.at("metadata", "name")
	group, version, service := spec.at("group"), spec.at("version"), spec.at("service")
	bundle, insecure := spec.at("caBundle"), spec.at("insecureSkipTLSVerify")
	if want := version.text() + "." + group.text(); len(segment(name.text())) == 0 && name.text() != want {
		name.invalid("must be `spec.version+\".\"+spec.group`: %q", want)
	}
	switch {
	case group.text() != "":
		group.fits(subdomain(group.text()))
	case version.text() != "v1":
		group.required("only v1 may have an empty group")
	}
	version.fits(label1035(version.text()))
	spec.at("groupPriorityMinimum").between(1, 20000)
	spec.at("versionPriority").between(1, 1000)
	if !service.exists() {
		if bundle.len() > 0 {
			bundle.invalid("local APIServices may not have a caBundle")
		}
		if insecure.flag() {
			insecure.invalid("local APIServices may not have insecureSkipTLSVerify")
		}
		return
	}
	service.at("namespace").must()
	service.at("name").must()
	service.at("port").between(1, 65535)
	if insecure.flag() && bundle.len() > 0 {
		insecure.invalid("may not be true if caBundle is present")
	}
}

// checkAPIServiceStatus checks the conditions of an APIService.
func checkAPIServiceStatus(v value) {
	for _, c := range v.at("status", "conditions").items() {
		c.at("status").among("True", "False", "Unknown")
	}
}
