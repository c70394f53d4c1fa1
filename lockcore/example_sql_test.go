package lockcore_test

import (
	"context"
	"database/sql"
	"database/sql/driver"
	"errors"
	"fmt"
	"log"
	"strconv"

	"fencepost/lockcore"
)

// setBalance is the guard's rule in SQL: the row remembers the largest fence,
// and the token that brought it. Fences are compared as numbers: BIGINT, or
// NUMERIC(20) for all of them.
const setBalance = `UPDATE account SET balance = ?, fence = ?, fence_token = ?
 WHERE id = ? AND (fence < ? OR (fence = ? AND fence_token = ?))`

// errOvertaken: another holder has been here.
var errOvertaken = errors.New("overtaken: a newer holder has been here")

func writeBalance(ctx context.Context, db *sql.DB, pass lockcore.Pass, id, balance int) error {
	fence := pass.Fence.String()
	result, err := db.ExecContext(ctx, setBalance, balance, fence, pass.Token, id, fence, fence, pass.Token)
	if err != nil {
		return err
	}
	if n, err := result.RowsAffected(); err != nil || n == 0 {
		return errors.Join(errOvertaken, err)
	}
	return nil
}

// A SQL table guards itself, with one more condition in its UPDATE.
func Example_guardWithSQL() {
	rdb, done := client()
	defer done()
	db := sql.OpenDB(&oneTable{})
	l, err := lockcore.New(rdb, lockcore.WithoutRenewal())
	if err != nil {
		log.Fatal(err)
	}
	ctx := context.Background()
	slow, err := l.TryAcquire(ctx, "account-7")
	if err != nil {
		log.Fatal(err)
	}
	rdb.Del(ctx, "lock:{account-7}") // it expires while its holder stands still
	quick, err := l.TryAcquire(ctx, "account-7")
	if err != nil {
		log.Fatal(err)
	}
	fmt.Println("quick:", writeBalance(ctx, db, quick.Pass(), 7, 50))
	fmt.Println("quick again:", writeBalance(ctx, db, quick.Pass(), 7, 40))
	fmt.Println("slow:", writeBalance(ctx, db, slow.Pass(), 7, 70))
	// Output:
	// quick: <nil>
	// quick again: <nil>
	// slow: overtaken: a newer holder has been here
}

// oneTable is a database that knows this one statement and one row, so that the
// example needs no database server. It does what the WHERE says.
type oneTable struct {
	balance int64
	fence   uint64
	token   string
}

func (t *oneTable) Connect(context.Context) (driver.Conn, error) { return t, nil }
func (t *oneTable) Driver() driver.Driver                        { return t }
func (t *oneTable) Open(string) (driver.Conn, error)             { return t, nil }
func (t *oneTable) Close() error                                 { return nil }
func (t *oneTable) Begin() (driver.Tx, error)                    { return nil, errors.New("no transactions") }
func (t *oneTable) NumInput() int                                { return 7 }

func (t *oneTable) Prepare(query string) (driver.Stmt, error) {
	if query != setBalance {
		return nil, fmt.Errorf("unknown statement %s", query)
	}
	return t, nil
}

func (t *oneTable) Query([]driver.Value) (driver.Rows, error) { return nil, errors.New("no queries") }

func (t *oneTable) Exec(args []driver.Value) (driver.Result, error) {
	fence, err := strconv.ParseUint(args[1].(string), 10, 64)
	if err != nil {
		return nil, err
	}
	token := args[2].(string)
	if t.fence < fence || t.fence == fence && t.token == token {
		t.balance, t.fence, t.token = args[0].(int64), fence, token
		return driver.RowsAffected(1), nil
	}
	return driver.RowsAffected(0), nil
}
