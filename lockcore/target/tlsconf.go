package target

import (
	"crypto/tls"
	"crypto/x509"
	"errors"
	"io/fs"
	"os"
)

// tlsConfig reads the certificates. It returns nil for a plain connection.
func (o *Options) tlsConfig(on bool) (*tls.Config, error) {
	if err := o.checkTLS(on); err != nil || !on {
		return nil, err
	}
	conf := &tls.Config{
		MinVersion: tls.VersionTLS12,
		// What was asked for by name, and the console says so all along.
		InsecureSkipVerify: o.Insecure,
	}
	if o.CACert != "" {
		pem, err := os.ReadFile(o.CACert)
		if err != nil {
			return nil, usage("--cacert: " + fileProblem(err))
		}
		conf.RootCAs = x509.NewCertPool()
		if !conf.RootCAs.AppendCertsFromPEM(pem) {
			return nil, usage("--cacert: the file holds no certificate in PEM form")
		}
	}
	if o.Cert != "" {
		pair, err := o.keyPair()
		if err != nil {
			return nil, err
		}
		conf.Certificates = []tls.Certificate{pair}
	}
	return conf, nil
}

func (o *Options) checkTLS(on bool) error {
	switch {
	case !on && o.Key != "":
		return usage("--key is the file with the private key of a TLS client certificate, as in redis-cli, and TLS is not on: add --tls (or rediss://). A lock's key has no flag: fencepost release KEY")
	case !on && (o.Cert != "" || o.CACert != "" || o.SNI != "" || o.Insecure):
		return usage("--cert, --cacert, --sni and --insecure are for TLS, and TLS is not on: add --tls (or rediss://)")
	case o.Key != "" && o.Cert == "":
		return usage("--key needs the certificate that it belongs to: --cert FILE")
	case o.Cert != "" && o.Key == "":
		return usage("--cert needs its private key: --key FILE")
	case o.Insecure && o.CACert != "":
		return usage("--insecure takes any certificate, so --cacert would mean nothing: name one of them")
	}
	return nil
}

func (o *Options) keyPair() (tls.Certificate, error) {
	var pair tls.Certificate
	cert, err := os.ReadFile(o.Cert)
	if err != nil {
		return pair, usage("--cert: " + fileProblem(err))
	}
	key, err := os.ReadFile(o.Key)
	if err != nil {
		return pair, usage("--key is the file with the private key of the TLS client certificate: " + fileProblem(err))
	}
	if pair, err = tls.X509KeyPair(cert, key); err != nil {
		return pair, usage("--cert and --key do not make a pair: " + err.Error())
	}
	return pair, nil
}

// fileProblem says why a file cannot be read, without its name: a mistyped
// flag may have put a secret there.
func fileProblem(err error) string {
	switch {
	case errors.Is(err, fs.ErrNotExist):
		return "there is no such file"
	case errors.Is(err, fs.ErrPermission):
		return "the file may not be read by this user"
	}
	var pathErr *fs.PathError
	if errors.As(err, &pathErr) {
		return "the file cannot be read: " + pathErr.Err.Error()
	}
	return "the file cannot be read"
}
