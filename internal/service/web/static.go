package web

import (
	"crypto/sha256"
	"embed"
	"encoding/hex"
	"mime"
	"net/http"
	"path"
	"strings"
	"sync"

	"github.com/shadowcourt/shadowcourt/internal/render/report"
	"github.com/shadowcourt/shadowcourt/internal/service/store"
)

//go:embed static
var staticFiles embed.FS

// asset is a file of the pages. Its address has its digest, so that browsers may keep it for good.
type asset struct {
	url, kind string
	data      []byte
}

// assetList has them by name and by the last part of their address.
type assetList map[string]*asset

func (l assetList) url(name string) string { return l[name].url }

// assets reads the files. The style sheet begins with that of reports, which has the colours and the parts of a trial.
var assets = sync.OnceValue(func() assetList {
	list := assetList{}
	for _, name := range []string{"app.css", "app.js", "icon.svg"} {
		data, err := staticFiles.ReadFile("static/" + name)
		if err != nil {
			panic(err) // it is embedded
		}
		if name == "app.css" {
			data = append([]byte(report.TrialStyle()), data...)
		}
		sum := sha256.Sum256(data)
		extension := path.Ext(name)
		file := strings.TrimSuffix(name, extension) + "-" + hex.EncodeToString(sum[:6]) + extension
		list[name] = &asset{url: "/static/" + file, kind: mime.TypeByExtension(extension), data: data}
		list[file] = list[name]
	}
	return list
})

func (s *site) static(w http.ResponseWriter, r *http.Request) error {
	a := assets()[r.PathValue("name")]
	if a == nil {
		return store.ErrNotFound
	}
	w.Header().Set("Content-Type", a.kind)
	w.Header().Set("Cache-Control", "public, max-age=31536000, immutable")
	_, _ = w.Write(a.data) // a reader that is gone
	return nil
}
