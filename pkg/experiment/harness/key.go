package harness

import (
	"bytes"
	"crypto/sha256"
	"encoding/hex"
	"encoding/json"
	"fmt"

	"metriclab/pkg/experiment"
	"metriclab/pkg/random"
)

// keySchema is the version of the fields of a Key.
const keySchema = 1

// Key is all that decides the values of a job. It holds no commit: a method
// that computes something else gets a new version by hand. The fields stand in
// alphabetical order of their names in JSON, so that the JSON is canonical.
type Key struct {
	Cell          string            `json:"cell"`
	Dataset       string            `json:"dataset"`
	DatasetSHA256 string            `json:"dataset_sha256"` // of the data set's files; "" for generated data
	Experiment    string            `json:"experiment"`
	Methods       map[string]int    `json:"methods"`
	Params        map[string]string `json:"params"`
	Scale         experiment.Scale  `json:"scale"`
	Schema        int               `json:"schema"`
	Seed          uint64            `json:"seed"`
	Trial         int               `json:"trial"`
	Version       int               `json:"version"`
}

// JSON returns the key's canonical JSON: names sorted, no white space, no
// escaping beyond what JSON needs.
func (k Key) JSON() []byte {
	if k.Methods == nil {
		k.Methods = map[string]int{}
	}
	if k.Params == nil {
		k.Params = map[string]string{}
	}
	var b bytes.Buffer
	e := json.NewEncoder(&b)
	e.SetEscapeHTML(false)
	if err := e.Encode(k); err != nil {
		panic(fmt.Sprintf("harness: key cannot be encoded: %v", err)) // strings and integers always can
	}
	return bytes.TrimSpace(b.Bytes())
}

// ID returns the SHA-256 of the canonical JSON in hexadecimal digits.
func (k Key) ID() string {
	sum := sha256.Sum256(k.JSON())
	return hex.EncodeToString(sum[:])
}

// Job is one trial of one cell.
type Job struct {
	ID   string
	Key  Key
	Cell experiment.Cell
	Seed random.Seed
}

// shortID is the length of the ids in tables: 64 bits tell the jobs of one
// table apart, and the full id would be half of its bytes.
const shortID = 16

// short is the id as it stands in table.csv.
func (j Job) short() string { return j.ID[:shortID] }

// Jobs lists the jobs of a scale: cell by cell in their order, trial by trial.
// digest returns the digest of a data set's files, "" for generated data; nil
// means that all data are generated. It panics if two cells have the same name
// or the experiment has no cells.
func Jobs(s experiment.Spec, scale experiment.Scale, trials int, base uint64, digest func(dataset string) string) []Job {
	cells := s.Cells(scale)
	seen := map[string]bool{}
	jobs := make([]Job, 0, trials*len(cells))
	for _, c := range cells {
		if c.Name == "" || seen[c.Name] {
			panic(fmt.Sprintf("harness: %s: cell name %q is empty or occurs twice", s.ID, c.Name))
		}
		seen[c.Name] = true
		params, sha := c.Params(), ""
		if digest != nil {
			sha = digest(c.Dataset)
		}
		for t := range trials {
			key := Key{
				Schema: keySchema, Experiment: s.ID, Version: s.Version, Scale: scale, Cell: c.Name,
				Dataset: c.Dataset, DatasetSHA256: sha, Params: params, Methods: c.Methods, Trial: t, Seed: base,
			}
			jobs = append(jobs, Job{
				ID: key.ID(), Key: key, Cell: c,
				Seed: random.Seed{Base: base, Experiment: s.ID, Dataset: c.Dataset, Trial: t},
			})
		}
	}
	if len(cells) == 0 {
		panic(fmt.Sprintf("harness: %s has no cells at scale %s", s.ID, scale))
	}
	return jobs
}
