package inside

// Namespaces is what a controller learns from an informer of several namespaces. The zero value is that of an informer that follows
// all of its objects at once.
type Namespaces struct {
	// Listed are the namespaces that have been listed completely, ordered.
	Listed []string
	// Missing are the others, each with the last error of the server; nil if there is none yet.
	Missing map[string]error
	// Changed is closed when Listed, Missing or one of the errors has changed.
	Changed <-chan struct{}
	// Partly tells the informer that the controller works without those that are missing.
	Partly func()
}
