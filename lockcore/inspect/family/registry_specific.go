package family

// specificFamilies are locks of a form that no other library writes, whatever
// their language; they are asked first.
func specificFamilies() []*Family {
	return []*Family{fencepost(), redisson(), symfony(), symfonySemaphore(), huey(), rueidislock(), syncguard()}
}
