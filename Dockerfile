# Two stages: the first compiles Hark, the second holds it and nothing else, not even a shell.
# It runs on the machine that builds, and compiles for the one that is asked for (docker buildx build --platform …).
FROM --platform=$BUILDPLATFORM golang:1.26-bookworm AS build
WORKDIR /src
# The modules first, so that they are fetched again only when they change.
COPY go.mod go.sum ./
RUN go mod download
COPY . .
# Go takes version, commit and date from .git, and takes any difference for a change. So files that a release puts beside
# the source are excluded, and what .dockerignore leaves out is skipped.
RUN if [ -d .git ]; then mkdir -p .git/info; git ls-files -o --exclude-standard --directory | sed 's|^|/|' >>.git/info/exclude; fi
RUN if [ -d .git ]; then git ls-files -dz | git update-index -z --skip-worktree --stdin; else rm -rf .git; fi
ARG TARGETOS
ARG TARGETARCH
# Static, so that it runs where there is no C library; the time zones are compiled in (cmd/hark imports time/tzdata).
RUN GOOS=${TARGETOS} GOARCH=${TARGETARCH} CGO_ENABLED=0 go build -trimpath -ldflags "-s -w" -o /out/hark ./cmd/hark
# The final stage has no command to make a directory with.
RUN mkdir -p /out/data && chmod 0700 /out/data

# Brings the certificates of the public authorities, for Discord and the model, and /tmp.
FROM gcr.io/distroless/static-debian12
COPY --from=build /out/hark /hark
COPY --from=build /src/internal/licences/licences.txt /licences.txt
COPY --from=build --chown=65532:65532 /out/data /data
# A number, so that Kubernetes can see that it isn't root.
USER 65532:65532
# Where config.toml is looked for.
WORKDIR /
ENV HARK_DATA=/data
VOLUME /data
HEALTHCHECK --interval=30s --timeout=10s --start-period=15s --retries=3 CMD ["/hark", "healthcheck"]
STOPSIGNAL SIGTERM
ENTRYPOINT ["/hark"]
CMD ["run", "--wait"]
