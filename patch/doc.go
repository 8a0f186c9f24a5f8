// Package patch builds changes for a Patch request, and applies changes to JSON documents.
//
// A [Patch] is a value: a media type and a body. It does nothing until it is sent. Building one never fails where it stands;
// what is wrong with it shows when it is used, before anything is sent.
//
// Documents are handled as JSON values with numbers kept digit by digit, so that 2^53+1 stays what it is. Nothing here
// changes the bytes that it is given.
package patch
