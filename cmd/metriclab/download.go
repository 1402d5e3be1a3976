package main

import (
	"path"
	"sync"

	"github.com/vbauerster/mpb/v8"
	"github.com/vbauerster/mpb/v8/decor"

	"metriclab/pkg/datasets"
)

// downloadBars shows the progress of a Get on a terminal, and nothing
// elsewhere. The returned function ends the display.
func (a *app) downloadBars(opts *datasets.Options) func() {
	if !a.terminal {
		return func() {}
	}
	bars := mpb.New(mpb.WithOutput(a.stderr), mpb.WithWidth(48))
	var mu sync.Mutex
	byFile := map[string]*mpb.Bar{}
	opts.Progress = func(file string, done, total int64) {
		mu.Lock()
		defer mu.Unlock()
		bar, ok := byFile[file]
		if !ok {
			bar = bars.AddBar(max(total, 0),
				mpb.PrependDecorators(decor.Name(path.Base(file)+" ")),
				mpb.AppendDecorators(decor.CountersKibiByte("% .1f of % .1f")))
			byFile[file] = bar
		}
		bar.SetCurrent(done)
	}
	return func() {
		mu.Lock()
		defer mu.Unlock()
		for _, bar := range byFile {
			bar.Abort(false)
		}
		bars.Wait()
	}
}
