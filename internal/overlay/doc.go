// Package overlay reports whether an object has all that a program wants, and sets what it lacks. It knows which values
// a server adds and how a server writes values. client.Resource.Ensure uses it.
package overlay
