package meta

// Status is the server's answer in place of an object: the outcome of a failed request, or of a deletion.
type Status struct {
	TypeMeta `json:",inline"`
	ListMeta `json:"metadata"`
	// Status is "Success" or "Failure".
	Status string `json:"status,omitempty"`
	// Message is for people.
	Message string `json:"message,omitempty"`
	// Reason is the machine-readable word, such as "NotFound"; package errors lists them.
	Reason string `json:"reason,omitempty"`
	// Details name the object and the causes.
	Details *StatusDetails `json:"details,omitempty"`
	// Code is the HTTP status code, 0 if the server left it out.
	Code int `json:"code,omitempty"`
}

// StatusDetails is the part of a Status that names the object and lists the causes.
type StatusDetails struct {
	Name   string        `json:"name,omitempty"`
	Group  string        `json:"group,omitempty"`
	Kind   string        `json:"kind,omitempty"`
	UID    string        `json:"uid,omitempty"`
	Causes []StatusCause `json:"causes,omitempty"`
	// RetryAfterSeconds is how long the server asks the client to wait.
	RetryAfterSeconds int `json:"retryAfterSeconds,omitempty"`
}

// StatusCause is one cause: an invalid field of the object, or a word such as "ResourceVersionTooLarge".
type StatusCause struct {
	Reason  string `json:"reason,omitempty"`
	Message string `json:"message,omitempty"`
	Field   string `json:"field,omitempty"`
}
