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
// or ConversionReview of v1, or one about another kind, is 400; a body over 16 MiB is 413; a method other than POST is
// 405. The log has panics with their stacks: that of the request's context (logr.NewContext), or else slog.Default().
//
// The context of a call ends when the server no longer waits for it: shortly before the time in the request's parameter
// timeout, or after 10 seconds without one.
//
// # Certificates
//
// A [Server] reads the certificate from files, such as those of a mounted Secret, or has it from a [Source]. Package
// client/webhook/certificates is one that makes the certificate, renews it, and writes its authority into the
// configurations.
//
// # Types that hold a part of the object
//
// A type may name only the members that the function looks at. Default changes the members that the function changed,
// and keeps all others. [Convert] needs whole types: it refuses an object with members that its type does not have,
// because they would be lost.
package webhook
