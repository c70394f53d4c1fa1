package main

import (
	"crypto/rand"
	"crypto/tls"
	"encoding/base64"
)

type tlsConfig = tls.Config

// newToken is 128 random bits as text, as every careful lock has.
func newToken() string {
	var raw [16]byte
	_, _ = rand.Read(raw[:]) // never fails
	return base64.RawURLEncoding.EncodeToString(raw[:])
}
