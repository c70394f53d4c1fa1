//go:build race

package lockcore

const raceDetector = true
