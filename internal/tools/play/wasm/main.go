//go:build js && wasm

// Command wasm is what the page of `make play` runs: play.Player behind the function metriclab(name, arguments) of the page,
// which takes and returns JSON.
package main

import (
	"syscall/js"

	"metriclab/internal/play"
)

func main() {
	var p play.Player
	js.Global().Set("metriclab", js.FuncOf(func(_ js.Value, args []js.Value) any {
		return string(p.Call(args[0].String(), []byte(args[1].String())))
	}))
	select {} // as long as the page is open
}
