package errors

// MaxText is for the tests.
const MaxText = maxText
