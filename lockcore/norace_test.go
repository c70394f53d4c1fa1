//go:build !race

package lockcore

const raceDetector = false
