package meta

// FinalizerOptions are the options of a call that adds or removes a finalizer; see package client, and
// controller.Finalize. The zero value means no options.
type FinalizerOptions struct {
	// UID is a precondition: the call is about the object with this uid, such as that of a cached object, and never
	// changes another one of the same name. Empty means whichever object has the name.
	UID string
}
