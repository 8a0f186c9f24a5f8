package certificates

import "time"

// Status is a snapshot of an Issuer.
type Status struct {
	// Running says that Run has been called and has not returned.
	Running bool
	// Expires is the expiry time of the certificate that the server shows; zero if there is none.
	Expires time.Time
	// AuthorityExpires is the expiry time of the authority that has signed this certificate.
	AuthorityExpires time.Time
	// Rotating says that a new authority is announced, which signs nothing yet.
	Rotating bool
	// Configurations has a ConfigurationStatus for each configuration, in the order of the options: Validating,
	// Mutating, Definitions.
	Configurations []ConfigurationStatus
	// Err is the error of the last look at the Secret, or nil.
	Err error
}

// ConfigurationStatus says whether a configuration trusts the certificate.
type ConfigurationStatus struct {
	// Name is the kind and the name, such as `CustomResourceDefinition "sites.example.com"`.
	Name string
	// Trusts says that the configuration's caBundle had the authority of the certificate at the last successful look.
	Trusts bool
	// Err is the error of the last look; nil if the look succeeded. The error says that the configuration does not
	// exist, has no webhook that calls the Service, or cannot be read or written.
	Err error
}

// Status returns the present state.
func (i *Issuer) Status() Status {
	i.mu.Lock()
	defer i.mu.Unlock()
	s := Status{Running: i.running, Rotating: i.state.next != nil, Err: i.err}
	if i.served != nil {
		s.Expires = i.served.after
	}
	if i.by != nil {
		s.AuthorityExpires = i.by.NotAfter
	}
	for n, at := range i.at {
		s.Configurations = append(s.Configurations, ConfigurationStatus{i.targets[n].what, i.distrust(n) == nil, at.err})
	}
	return s
}
