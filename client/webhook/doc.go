// Package webhook serves admission and conversion webhooks as http.Handlers around typed functions.
//
//	mux := http.NewServeMux()
//	mux.Handle("/validate-site", webhook.Validate(Sites, func(ctx context.Context, r *webhook.Request[*Site]) error {
//		if r.Operation == webhook.Update && r.Object.Spec.Host != r.Old.Spec.Host {
//			return webhook.Invalid("spec.host", "must not change")
//		}
//		return nil
//	}))
//	mux.Handle("/default-site", webhook.Default(Sites, func(ctx context.Context, r *webhook.Request[*Site]) error {
//		if r.Object.Spec.Host == "" {
//			r.Object.Spec.Host = r.Key.Name + ".example.com"
//		}
//		return nil
//	}))
//	err := informer.Run(ctx, &webhook.Server{Handler: mux, Listener: listener, CertFile: "tls.crt", KeyFile: "tls.key"}, ...)
//
// # Answers
//
//	THE FUNCTION RETURNS           ANSWER
//	nil                            the request is allowed; Default answers with the JSON patch of what it changed
//	errors of Invalid, joined      422 Invalid, with a cause for each
//	an *errors.StatusError         that status
//	any other error                403 Forbidden, with the text of the error
//
// A fault is not a decision about the object. The handler answers it with an HTTP error, so the failurePolicy of the
// configuration decides: a panic, and an object that the type cannot hold, are 500; a body that is no AdmissionReview
// or ConversionReview of v1, or an AdmissionReview about another kind, is 400; a body over 16 MiB is 413; a method
// other than POST is 405. The handler logs a panic with its stack, to the logger of the request's context
// (logr.NewContext) or else to slog.Default().
//
// The context of a call ends shortly before the API server stops waiting for the answer. The request's parameter
// timeout says how long the API server waits; without the parameter it is 10 seconds.
//
// # Certificates
//
// A [Server] reads the certificate from files, such as those of a mounted Secret, or gets it from a [Source]. Package
// client/webhook/certificates has a Source that makes the certificate, renews it, and writes its authority into the
// configurations.
//
// # Types that hold a part of the object
//
// A type may name only the members that the function looks at. Default changes the members that the function changed,
// and keeps all others. [Convert] needs whole types: it refuses an object with members that its type does not have,
// because they would be lost.
package webhook
