# The gateway's image: Debian, Node, one bundle and its native packages; no package manager of Node's. From a checkout:
#   docker build -t query-gateway .
# With libraries of ADBC drivers, of infra/adbc/requirements.txt:
#   docker build --build-arg ADBC_DRIVERS=snowflake,postgresql -t query-gateway .
# It runs as a user without rights, starts without a shell, and writes nothing but /var/lib/gateway:
#   docker run --read-only --cap-drop ALL -v ./gateway.yaml:/etc/gateway/gateway.yaml:ro query-gateway
ARG NODE_IMAGE=node:22-bookworm-slim
# What the image of Node stands on itself.
ARG BASE_IMAGE=debian:bookworm-slim
ARG PYTHON_IMAGE=python:3.12-slim-bookworm

FROM ${PYTHON_IMAGE} AS drivers
WORKDIR /source/infra/adbc
COPY infra/adbc .
ARG ADBC_DRIVERS=
RUN python3 take.py "$ADBC_DRIVERS" /adbc

FROM ${NODE_IMAGE} AS build
WORKDIR /source
COPY . .
# No script of a package runs: the native ones bring their binaries along.
RUN npm ci --omit=dev --ignore-scripts --no-audit --no-fund
RUN node packages/gateway/bin/package.mjs --image /app
# At the place and by the Node that will run it, for the user of below.
RUN /app/bin/node /app/bin/compileAhead.mjs 1000
RUN chmod -R a+rX,go-w /app && mkdir /state

FROM ${BASE_IMAGE}
COPY --from=build /app /app
COPY --from=drivers /adbc /app/adbc
COPY --from=build --chown=1000:1000 /state /var/lib/gateway
ENV NODE_ENV=production NODE_COMPILE_CACHE=/app/compiled ADBC_DRIVER_PATH=/app/adbc PATH=/app/bin:/usr/local/bin:/usr/bin:/bin
WORKDIR /var/lib/gateway
VOLUME /var/lib/gateway
USER 1000:1000
EXPOSE 8080 5432 3306 50051 8443 8123 8811 9000 9001
STOPSIGNAL SIGTERM
HEALTHCHECK --interval=10s --timeout=5s --start-period=20s CMD ["node", "/app/bin/health.mjs"]
ENTRYPOINT ["node", "/app/bin/gateway.mjs"]
CMD ["start", "--config", "/etc/gateway/gateway.yaml"]
