package lockcore_test

import (
	"context"
	"fmt"
	"log"
	"os"
	"strings"
	"testing"

	"github.com/redis/go-redis/v9"

	"fencepost/lockcore"
)

// guardedSet is the example that the README shows.
func guardedSet(ctx context.Context, rdb *redis.Client, newBalance []byte) error {
	locker, err := lockcore.New(rdb)
	if err != nil {
		return err
	}
	account, err := locker.Guard("account:{7}") // the key that is protected
	if err != nil {
		return err
	}
	return locker.Do(ctx, "account-7", func(ctx context.Context, lease *lockcore.Lease) error {
		return account.Set(ctx, lease, newBalance) // refused if a newer lease was here
	}, lockcore.Entering(account))
}

func Example() {
	rdb, done := client()
	defer done()
	ctx := context.Background()
	if err := guardedSet(ctx, rdb, []byte("100")); err != nil {
		log.Fatal(err)
	}
	fmt.Println(rdb.Get(ctx, "account:{7}").Val())
	// Output: 100
}

// What the README shows is the example above, which runs.
func TestTheReadmeShowsWhatRuns(t *testing.T) {
	readme, err := os.ReadFile("../README.md")
	if err != nil {
		t.Fatal(err)
	}
	_, block, _ := strings.Cut(string(readme), "```go\n")
	block, _, found := strings.Cut(block, "```")
	if !found {
		t.Fatal("the README shows no Go")
	}
	source, err := os.ReadFile("example_readme_test.go")
	if err != nil {
		t.Fatal(err)
	}
	if indented := "\t" + strings.ReplaceAll(strings.TrimSpace(block), "\n", "\n\t") + "\n"; !strings.Contains(string(source), indented) {
		t.Errorf("not in the example:\n%s", indented)
	}
}
