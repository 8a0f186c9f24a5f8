// Package shown prepares strings that are shown to people. A text from a server or a proxy may contain control
// characters and have any length. A text from a configuration may be a secret, which has the type [Secret].
package shown
