package api

import (
	"bytes"
	"compress/gzip"
	"embed"
	"io"
	"net/http"
	"strings"

	"github.com/labstack/echo/v4"
	"github.com/swaggest/swgui/v5/static"

	"benchd/worker/bench"
)

// ownDocs are the page and the few lines of script that start Swagger UI.
//
//go:embed docs/index.html docs/start.js docs/page.css
var ownDocs embed.FS

// docsPolicy is the content security policy of the reference page: everything comes from
// here, no script stands in the page, and requests go here only. Swagger UI sets style
// attributes and draws icons from data URLs.
const docsPolicy = "default-src 'none'; script-src 'self'; style-src 'self' 'unsafe-inline'; img-src 'self' data:; " +
	"font-src 'self'; connect-src 'self'; form-action 'none'; base-uri 'none'; frame-ancestors 'none'"

// docs gives the reference page: Swagger UI over the OpenAPI document, all of it from this
// binary.
func (s *Server) docs(c echo.Context) error {
	page, err := ownDocs.ReadFile("docs/index.html")
	if err != nil {
		return err
	}
	c.Response().Header().Set(echo.HeaderContentSecurityPolicy, docsPolicy)
	return c.HTMLBlob(http.StatusOK, page)
}

// docsMedia gives the media type of a file of the page, and whether it is one of our own.
// The list is closed: nothing else of the packed files can be had.
func docsMedia(name string) (media string, own bool) {
	switch name {
	case "start.js":
		return "text/javascript; charset=utf-8", true
	case "page.css":
		return "text/css; charset=utf-8", true
	case "swagger-ui-bundle.js":
		return "text/javascript; charset=utf-8", false
	case "swagger-ui.css":
		return "text/css; charset=utf-8", false
	case "favicon-32x32.png":
		return "image/png", false
	default:
		return "", false
	}
}

// docsFile gives one file of the reference page.
func (s *Server) docsFile(c echo.Context) error {
	name := c.Param("file")
	media, own := docsMedia(name)
	c.Response().Header().Set(echo.HeaderCacheControl, "public, max-age=3600")
	switch {
	case media == "":
		c.Response().Header().Set(echo.HeaderCacheControl, "no-store")
		return bench.Errorf(bench.NotFound, "unknown_path", "there is no file %q under /docs", clip(name))
	case own:
		return embedded(c, ownDocs, "docs/"+name, media)
	case media == "image/png":
		return embedded(c, static.FS, name, media)
	default:
		return packed(c, name, media)
	}
}

func embedded(c echo.Context, files embed.FS, name, media string) error {
	b, err := files.ReadFile(name)
	if err != nil {
		return err
	}
	return c.Blob(http.StatusOK, media, b)
}

// packed gives a file that is embedded in gzip form, unpacked only for the rare client that
// does not take gzip.
func packed(c echo.Context, name, media string) error {
	b, err := static.FS.ReadFile(name + ".gz")
	if err != nil {
		return err
	}
	h := c.Response().Header()
	h.Set(echo.HeaderVary, echo.HeaderAcceptEncoding)
	if strings.Contains(c.Request().Header.Get(echo.HeaderAcceptEncoding), "gzip") {
		h.Set(echo.HeaderContentEncoding, "gzip")
		return c.Blob(http.StatusOK, media, b)
	}
	z, err := gzip.NewReader(bytes.NewReader(b))
	if err != nil {
		return err
	}
	plain, err := io.ReadAll(z)
	if err != nil {
		return err
	}
	return c.Blob(http.StatusOK, media, plain)
}
