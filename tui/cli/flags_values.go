package cli

import (
	"errors"
	"strconv"
	"time"

	"github.com/spf13/pflag"

	"fencepost/lockcore/target"
)

// errValue is any value that a flag does not take. The flag's own words say
// what it wants; the value is not repeated.
var errValue = errors.New("not a value for this flag")

// The numbers that flags take.
type (
	portNumber int // 1 to 65535
	positive   int // from 1 on
	natural    int // from 0 on
)

// bind makes the flag known to a set that stores its value in o.
func (f flag) bind(fs *pflag.FlagSet, o *options) {
	switch at := f.at(o).(type) {
	case *bool:
		fs.BoolVarP(at, f.name, f.short, *at, f.help)
	case *[]string:
		fs.StringArrayVarP(at, f.name, f.short, *at, f.help)
	default:
		fs.VarP(value{at}, f.name, f.short, f.help)
	}
}

// value stores one value behind a pointer of a type that flags use.
type value struct{ at any }

// String is what pflag would print as the default; it prints nothing here.
func (v value) String() string { return "" }

// Type is what pflag would print as the type.
func (v value) Type() string { return "value" }

// Set reads the value.
func (v value) Set(s string) error {
	switch at := v.at.(type) {
	case *string:
		*at = s
	case **string:
		*at = &s
	case *target.Secret:
		*at = target.Secret(s)
	case **target.Secret:
		secret := target.Secret(s)
		*at = &secret
	case *time.Duration:
		d, err := time.ParseDuration(s)
		if err != nil || d < 0 {
			return errValue
		}
		*at = d
	case **int:
		return number(s, 0, 1<<31-1, func(n int) { *at = &n })
	case *portNumber:
		return number(s, 1, 65535, func(n int) { *at = portNumber(n) })
	case *positive:
		return number(s, 1, 1<<31-1, func(n int) { *at = positive(n) })
	case *natural:
		return number(s, 0, 1<<31-1, func(n int) { *at = natural(n) })
	default:
		panic("cli: a flag is stored in a type that flags do not have")
	}
	return nil
}

func number(s string, least, most int, store func(int)) error {
	n, err := strconv.Atoi(s)
	if err != nil || n < least || n > most {
		return errValue
	}
	store(n)
	return nil
}
