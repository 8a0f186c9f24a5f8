package controllers

// All returns every controller of this package, but no [Kubelet], which a test makes and holds.
func All() []Controller {
	return []Controller{
		GarbageCollector(),
		Namespaces(),
		Deployments(),
		ReplicaSets(),
		Jobs(),
		EndpointSlices(),
		ServiceAccounts(),
	}
}
