# benchd as an image: one static binary, no shell, a numeric user without rights.
#
#   docker build -t benchd .
#   docker run --rm -p 127.0.0.1:8080:8080 -v benchd:/data --read-only --tmpfs /tmp benchd
#
# Measure on metal or in a virtual machine of your own where you can: a container's limits are
# part of the figure, and its host is in the result either way.

FROM golang:1.26-bookworm AS build
WORKDIR /src
# The modules first: they change less often than the code, and this layer is kept.
COPY go.mod go.sum ./
RUN go mod download
COPY . .
RUN CGO_ENABLED=0 go build -trimpath -ldflags="-s -w" -o /out/benchd .
# An image from scratch has no folders; these two are written to.
RUN mkdir -p /out/data /out/tmp && chmod 1777 /out/tmp && cp /etc/ssl/certs/ca-certificates.crt /out/

FROM scratch
COPY --from=build /out/ca-certificates.crt /etc/ssl/certs/ca-certificates.crt
COPY --from=build /out/benchd /benchd
COPY --from=build /out/tmp /tmp
COPY --from=build --chown=65532:65532 /out/data /data
ENV BENCHD_ADDR=0.0.0.0:8080 BENCHD_DATA=/data
USER 65532:65532
VOLUME /data
EXPOSE 8080
HEALTHCHECK --interval=30s --timeout=5s CMD ["/benchd", "hosts"]
ENTRYPOINT ["/benchd"]
CMD ["serve"]
