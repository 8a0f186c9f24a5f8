// Package shown makes strings fit to be shown to people. A text of a server or a proxy may hold control characters and
// have any length; a text of a configuration may be a secret, which is of type [Secret].
package shown
