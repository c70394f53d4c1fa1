package cli

import (
	"os"
	"runtime"
	"sync"
)

// shareProcessors leaves half of the processors to others. Who looks at an
// incident is often on the server's own host, and a scan is faster where the
// server has a processor to itself: on two, by a tenth by name and by a fifth
// deep. It is for a program that scans and ends; one that stays open needs the
// others for its garbage collector. GOMAXPROCS in the environment has the last word.
var shareProcessors = sync.OnceFunc(func() {
	if os.Getenv("GOMAXPROCS") == "" {
		runtime.GOMAXPROCS(max(1, runtime.GOMAXPROCS(0)/2))
	}
})
