package redistest

import (
	"crypto/ecdsa"
	"crypto/elliptic"
	"crypto/rand"
	"crypto/tls"
	"crypto/x509"
	"crypto/x509/pkix"
	"encoding/pem"
	"math/big"
	"net"
	"os"
	"path/filepath"
	"strconv"
	"testing"
	"time"
)

// TLSName is a name, beside localhost and 127.0.0.1, that the certificate of
// a StartTLS server is good for.
const TLSName = "redis.test"

// Certs are the files that a client of a StartTLS server needs.
type Certs struct {
	CA   string // who signed the server's certificate
	Cert string // the client's own certificate, and
	Key  string // its key
}

// StartTLS starts a server that speaks TLS only and asks its clients for a
// certificate ("--tls-auth-clients", "no" among args lifts that).
func StartTLS(t testing.TB, args ...string) (*Server, Certs) {
	t.Helper()
	Need(t)
	dir := t.TempDir()
	ca := newAuthority(t, dir)
	server := ca.issue(t, dir, "server", x509.ExtKeyUsageServerAuth)
	client := ca.issue(t, dir, "client", x509.ExtKeyUsageClientAuth)
	certs := Certs{CA: ca.file, Cert: client + ".crt", Key: client + ".key"}

	pair, err := tls.LoadX509KeyPair(certs.Cert, certs.Key)
	if err != nil {
		t.Fatal(err)
	}
	roots := x509.NewCertPool()
	roots.AddCert(ca.cert)
	conf := &tls.Config{RootCAs: roots, Certificates: []tls.Certificate{pair}, ServerName: "127.0.0.1", MinVersion: tls.VersionTLS12}

	s := start(t, conf, func(port int) []string {
		return append([]string{
			"--port", "0", "--tls-port", strconv.Itoa(port), "--tls-ca-cert-file", ca.file,
			"--tls-cert-file", server + ".crt", "--tls-key-file", server + ".key",
		}, args...)
	})
	return s, certs
}

// authority signs the certificates of one test.
type authority struct {
	cert *x509.Certificate
	key  *ecdsa.PrivateKey
	file string
}

func newAuthority(t testing.TB, dir string) *authority {
	t.Helper()
	key := newKey(t)
	template := &x509.Certificate{
		SerialNumber: big.NewInt(1), Subject: pkix.Name{CommonName: "redistest CA"},
		NotBefore: time.Now().Add(-time.Hour), NotAfter: time.Now().Add(24 * time.Hour),
		IsCA: true, BasicConstraintsValid: true, KeyUsage: x509.KeyUsageCertSign | x509.KeyUsageDigitalSignature,
	}
	der, err := x509.CreateCertificate(rand.Reader, template, template, &key.PublicKey, key)
	if err != nil {
		t.Fatal(err)
	}
	cert, err := x509.ParseCertificate(der)
	if err != nil {
		t.Fatal(err)
	}
	a := &authority{cert: cert, key: key, file: filepath.Join(dir, "ca.crt")}
	writePEM(t, a.file, "CERTIFICATE", der)
	return a
}

// issue writes name.crt and name.key and returns their path without the ending.
func (a *authority) issue(t testing.TB, dir, name string, usage x509.ExtKeyUsage) string {
	t.Helper()
	key := newKey(t)
	template := &x509.Certificate{
		SerialNumber: big.NewInt(time.Now().UnixNano()), Subject: pkix.Name{CommonName: name},
		NotBefore: time.Now().Add(-time.Hour), NotAfter: time.Now().Add(24 * time.Hour),
		KeyUsage: x509.KeyUsageDigitalSignature, ExtKeyUsage: []x509.ExtKeyUsage{usage},
		DNSNames:    []string{"localhost", TLSName},
		IPAddresses: []net.IP{net.IPv4(127, 0, 0, 1), net.IPv6loopback},
	}
	der, err := x509.CreateCertificate(rand.Reader, template, a.cert, &key.PublicKey, a.key)
	if err != nil {
		t.Fatal(err)
	}
	keyDER, err := x509.MarshalPKCS8PrivateKey(key)
	if err != nil {
		t.Fatal(err)
	}
	path := filepath.Join(dir, name)
	writePEM(t, path+".crt", "CERTIFICATE", der)
	writePEM(t, path+".key", "PRIVATE KEY", keyDER)
	return path
}

func newKey(t testing.TB) *ecdsa.PrivateKey {
	t.Helper()
	key, err := ecdsa.GenerateKey(elliptic.P256(), rand.Reader)
	if err != nil {
		t.Fatal(err)
	}
	return key
}

func writePEM(t testing.TB, path, kind string, der []byte) {
	t.Helper()
	text := pem.EncodeToMemory(&pem.Block{Type: kind, Bytes: der})
	if err := os.WriteFile(path, text, 0o600); err != nil {
		t.Fatal(err)
	}
}
