package conn

import (
	"fmt"
	"io"
)

// Types that contain a secret are printed and encoded as their name. The types of package client, which users have, show more.

// Format prints the name of the type, whatever the verb.
func (Options) Format(f fmt.State, _ rune) { hide(f, "conn.Options") }

// MarshalJSON encodes the name of the type.
func (Options) MarshalJSON() ([]byte, error) { return []byte(`"conn.Options"`), nil }

// Format prints the name of the type, whatever the verb.
func (TLS) Format(f fmt.State, _ rune) { hide(f, "conn.TLS") }

// MarshalJSON encodes the name of the type.
func (TLS) MarshalJSON() ([]byte, error) { return []byte(`"conn.TLS"`), nil }

// Format prints the name of the type, whatever the verb.
func (Credential) Format(f fmt.State, _ rune) { hide(f, "conn.Credential") }

// MarshalJSON encodes the name of the type.
func (Credential) MarshalJSON() ([]byte, error) { return []byte(`"conn.Credential"`), nil }

func hide(f fmt.State, name string) { _, _ = io.WriteString(f, name) }
