package wire

import _ "embed"

var (
	//go:embed scripts/guard.lua
	guardHead string
	//go:embed scripts/guard_enter.lua
	guardEnter string
	//go:embed scripts/guard_set.lua
	guardSet string

	scriptEnter = NewScript("guard_enter", guardHead+guardEnter)
	scriptSet   = NewScript("guard_set", guardHead+guardSet)
)

// Pass is what a holder shows to a guard: its number and its token.
type Pass struct {
	Seen   string // the guard's key: the highest number seen, as "number:token"
	Fence  string
	Token  string
	LifeMS int64 // the guard's key expires that long after its last use; 0 never
}

func (p Pass) args() []string { return []string{p.Fence, p.Token, lifeArg(p.LifeMS)} }

// Enter makes the number the highest seen, before anything is read, so that no
// older write comes in between. ParseGuard reads the answer.
func (p Pass) Enter() Call { return scriptEnter.Call([]string{p.Seen}, p.args()...) }

// Write sets data to value if the guard accepts. ParseGuard reads the answer.
func (p Pass) Write(data, value string) Call {
	return scriptSet.Call([]string{p.Seen, data}, append(p.args(), value)...)
}

// Run is a script of one's own behind the guard's check; see NewGuarded.
// ParseGuard reads the answer.
func (p Pass) Run(s *Guarded, keys []string, args ...string) Call {
	return s.script.Call(append([]string{p.Seen}, keys...), append(p.args(), args...)...)
}

// Guarded is a Lua script that runs only when the guard accepts.
type Guarded struct{ script *Script }

// NewGuarded puts the guard's check before a Lua script. The body sees its own
// KEYS and ARGV, counted from 1; what it returns is GuardReply.Result. A body
// that fails half-way is not rolled back: Redis does not.
func NewGuarded(name, body string) *Guarded {
	source := guardHead + `local function body(KEYS, ARGV)
` + body + `
end
local keys, args = {}, {}
for i = 2, #KEYS do keys[i - 1] = KEYS[i] end
for i = 4, #ARGV do args[i - 3] = ARGV[i] end
local answer = body(keys, args)
if type(answer) == 'table' and answer.err then return answer end
return { 1, answer }
`
	return &Guarded{NewScript(name, source)}
}
