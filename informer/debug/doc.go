// Package debug has a page for the person on call.
package debug
