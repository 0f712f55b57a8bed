# syntax=docker/dockerfile:1
# One image for every command: `docker run IMAGE serve`, `… operate`, `… migrate`. Only the portal's web application is built:
# Node runs the TypeScript of all else. The last stage has Node, its C++ library and certificates, and neither a shell nor npm.
# Pinned by digest: a tag may move. The workplace that chose these reaches no image registry: they are the digests that public
# Dockerfiles have for these tags (Node 24.18.0), and `docker buildx imagetools inspect TAG` says what a tag is now.
ARG NODE=node:24-bookworm-slim@sha256:6f7b03f7c2c8e2e784dcf9295400527b9b1270fd37b7e9a7285cf83b6951452d
ARG BASE=gcr.io/distroless/cc-debian12:nonroot@sha256:9dac0a79194e45a7da0158a9c6da57b217585af0786db3845d1f0ec1a0dd182f

FROM ${NODE} AS packages
WORKDIR /app
COPY package.json package-lock.json .npmrc ./
# Optional packages are the embedded Postgres of `accord start` and Node itself for older machines.
# Types, source maps and pages for readers are of no use at run time and weigh 60 of the packages' 129 MB. Licenses stay.
RUN npm ci --omit=dev --omit=optional \
 && find node_modules -type f \( -name '*.map' -o -name '*.d.ts' -o -name '*.d.mts' -o -name '*.d.cts' \
    -o -name README.md -o -name CHANGELOG.md -o -name HISTORY.md \) -delete

# docs/ as a site, which servers serve at /docs/guide/: deploy/guide-files says what it is made of.
FROM ${NODE} AS guide
WORKDIR /app
COPY package.json CHANGELOG.md ./
COPY bench bench
COPY charts charts
COPY docs docs
COPY examples examples
COPY packages packages
RUN node docs/site/build.mjs --build

# The portal: all packages, also the optional ones, among which are the bundler's own programs.
FROM ${NODE} AS portal
WORKDIR /app
COPY package.json package-lock.json .npmrc tsconfig.json ./
RUN npm ci
COPY cli/portal-digest.ts cli/portal-digest.ts
COPY portal portal
RUN node portal/build.ts --brotli 11

FROM ${BASE}
ARG VERSION=0.1.0
ARG REVISION=unknown
LABEL org.opencontainers.image.title="Accord" \
      org.opencontainers.image.description="Authorization, sharing by invitation, and consent, as a service with a Kubernetes operator" \
      org.opencontainers.image.licenses="Apache-2.0" \
      org.opencontainers.image.version="${VERSION}" \
      org.opencontainers.image.revision="${REVISION}"
WORKDIR /app
COPY --from=packages /usr/local/bin/node /usr/local/bin/node
COPY --from=packages /app/node_modules node_modules
COPY --from=portal /app/portal/dist portal/dist
COPY --from=guide /app/docs/site/dist docs/site/dist
# deploy/image-files says what this is.
COPY package.json package-lock.json .npmrc LICENSE ./
COPY cli cli
COPY crds crds
COPY operator operator
COPY server server
COPY deploy/accord deploy/health.mjs deploy/compose-secrets.mjs deploy/
# A container is reached from outside itself; production is what libraries ask for; bin/node24.mjs says why a bounded young
# generation.
ENV PATH=/app/deploy:/usr/local/bin:/usr/bin:/bin \
    NODE_ENV=production \
    NODE_OPTIONS=--max-semi-space-size=16 \
    ACCORD_LISTEN=0.0.0.0:8080 \
    ACCORD_ADMIN_LISTEN=0.0.0.0:8081
USER 65532:65532
EXPOSE 8080 8081
STOPSIGNAL SIGTERM
HEALTHCHECK --interval=10s --timeout=3s --start-period=30s \
  CMD ["/usr/local/bin/node", "/app/deploy/health.mjs"]
ENTRYPOINT ["/app/deploy/accord"]
