package keymap

// The lab's places: the list of its stories, a menu over a story, the screen
// for a room, and the stage that is played by hand. Lab is a story's stage.
const (
	LabList Scope = "lab-list"
	LabMenu Scope = "lab-menu"
	LabTalk Scope = "lab-talk"
	LabFree Scope = "lab-free"
)

// The lab's actions.
const (
	OpenLab     ID = "lab.open"
	LabStep     ID = "lab.step"
	LabBack     ID = "lab.back"
	LabPlay     ID = "lab.play"
	LabSeek     ID = "lab.seek"
	LabFirst    ID = "lab.first"
	LabLast     ID = "lab.last"
	LabFork     ID = "lab.fork"
	LabWorld    ID = "lab.world"
	LabCompare  ID = "lab.compare"
	LabCommands ID = "lab.commands"
	LabHandout  ID = "lab.handout"
	LabBreaker  ID = "lab.breaker"
	LabLanguage ID = "lab.language"
	LabPresent  ID = "lab.present"
	LabBlank    ID = "lab.blank"
	LabNotes    ID = "lab.notes"
	LabWhere    ID = "lab.where"
	LabByHand   ID = "lab.by-hand"
	LabUndo     ID = "lab.undo"
	LabSave     ID = "lab.save"
	LabGuard    ID = "lab.guard"
	LabNextOne  ID = "lab.next-actor"
	LabAnswer1  ID = "lab.answer-1"
	LabAnswer2  ID = "lab.answer-2"
	LabAnswer3  ID = "lab.answer-3"
	LabAnswer4  ID = "lab.answer-4"
)

// labBindings are the keys of the lab, where stale-owner scenarios are played.
// A clicker sends PgDn, PgUp and a full stop.
func labBindings() []Binding {
	stage, room, free := []Scope{Lab}, []Scope{Lab, LabTalk}, []Scope{LabFree}
	return []Binding{
		{ID: OpenLab, Keys: []string{"4"}, Hint: "lab", In: []Scope{List},
			Help: "the lab: stories about locks that go wrong, step by step"},
		{ID: LabStep, Keys: []string{"]", "pgdown", "right"}, Hint: "step", In: room, Help: "the next step"},
		{ID: LabBack, Keys: []string{"[", "pgup", "left"}, Hint: "back", In: room, Help: "the step before"},
		{ID: LabPlay, Keys: []string{"."}, Hint: "play", In: room, Help: "go on by itself, and stop; it stops at a question"},
		{ID: LabSeek, Keys: []string{"S"}, Hint: "seek", In: stage, Help: "go to a step by its number"},
		{ID: LabFork, Keys: []string{"F"}, Hint: "fork", In: stage, Help: "do something here that the story does not: pause, crash, cut a reply, kill the server"},
		{ID: LabWorld, Keys: []string{"w"}, Hint: "world", In: stage, Help: "the next world, at the same step"},
		{ID: LabCompare, Keys: []string{"c"}, Hint: "compare", In: stage, Help: "two worlds side by side, and one again"},
		{ID: LabCommands, Keys: []string{"@"}, Hint: "commands", In: stage, Help: "the commands that this step sent"},
		{ID: LabBreaker, Keys: []string{"x"}, In: stage, Help: "a safe here is no promise: play the story that breaks it"},
		{ID: LabHandout, Keys: []string{"E"}, Hint: "handout", In: stage, Help: "write a handout in Markdown"},
		{ID: LabPresent, Keys: []string{"P"}, Hint: "large", In: stage, Help: "large, for a room"},
		{ID: LabFirst, Keys: []string{"g", "home"}, In: room, Help: "to the beginning"},
		{ID: LabLast, Keys: []string{"G", "end"}, In: room, Help: "to the end"},
		{ID: LabWhere, Keys: []string{"T"}, Hint: "where", In: []Scope{Lab, LabFree}, Dangerous: true,
			Help: "play it elsewhere: in the sandbox, on servers of the lab, on the server you are connected to; asks first"},
		{ID: LabAnswer1, Keys: []string{"1"}, In: room, Help: "answer 1; the first answer counts"},
		{ID: LabAnswer2, Keys: []string{"2"}, In: room, Help: "answer 2"},
		{ID: LabAnswer3, Keys: []string{"3"}, In: room, Help: "answer 3"},
		{ID: LabAnswer4, Keys: []string{"4"}, In: room, Help: "answer 4"},
		{ID: LabBlank, Keys: []string{"b"}, Hint: "blank", In: []Scope{LabTalk}, Help: "an empty screen, and back"},
		{ID: LabNotes, Keys: []string{"n"}, Hint: "notes", In: []Scope{LabTalk}, Help: "the commands of this step"},
		{ID: LabByHand, Keys: []string{"f"}, Hint: "by hand", In: []Scope{LabList}, Help: "an empty stage to act on by hand"},
		{ID: LabNextOne, Keys: []string{"tab"}, Hint: "actor", In: free, Help: "the next actor"},
		{ID: LabUndo, Keys: []string{"z", "["}, Hint: "undo", In: free, Help: "take the last step back"},
		{ID: LabGuard, Keys: []string{"w"}, Hint: "guard", In: free, Help: "turn the guard on or off, for the same steps"},
		{ID: LabSave, Keys: []string{"s"}, Hint: "save", In: free, Help: "save it as a story's file"},
		{ID: LabLanguage, Keys: []string{"L"}, Hint: "language", In: []Scope{Lab, LabList, LabTalk, LabFree}, Help: "another language"},
	}
}
