package api

import (
	"net/http"

	"github.com/labstack/echo/v4"

	"benchd/openapi"
)

// listKernels shows what can be measured.
//
//	@Summary		List kernels
//	@ID				listKernels
//	@Description	Every kernel with its unit and its parameters, from the kernels themselves.
//	@Tags			catalog
//	@Produce		json
//	@Success		200	{object}	bench.KernelList
//	@Failure		422	{object}	bench.Problem	"a parameter that cannot be right"
//	@Router			/v1/kernels [get]
func (s *Server) listKernels(c echo.Context) error {
	return blob(c, echo.MIMEApplicationJSON, s.kernels)
}

// listSuites shows the named lists of cases.
//
//	@Summary	List suites
//	@ID				listSuites
//	@Tags		catalog
//	@Produce	json
//	@Success	200	{object}	bench.SuiteList
//	@Failure	422	{object}	bench.Problem	"a parameter that cannot be right"
//	@Router		/v1/suites [get]
func (s *Server) listSuites(c echo.Context) error {
	return blob(c, echo.MIMEApplicationJSON, s.suites)
}

// documentJSON gives the OpenAPI document of this API.
func (s *Server) documentJSON(c echo.Context) error {
	return blob(c, echo.MIMEApplicationJSON, openapi.JSON())
}

// documentYAML gives the same document for those who read it. The media type is of RFC 9512.
func (s *Server) documentYAML(c echo.Context) error {
	return blob(c, "application/yaml", openapi.YAML())
}

// blob writes an answer that was made before the question.
func blob(c echo.Context, media string, body []byte) error {
	if _, err := parseQuery(c); err != nil {
		return err
	}
	return c.Blob(http.StatusOK, media, body)
}
