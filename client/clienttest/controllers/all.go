package controllers

// All returns every controller of this package.
func All() []Controller {
	return []Controller{
		GarbageCollector(),
		Namespaces(),
	}
}
