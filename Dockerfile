# The server with the playground and a Redis of its own. Mount a volume on /data to keep the data.
FROM node:22-bookworm-slim AS playground
WORKDIR /build/playground
COPY playground/package.json playground/package-lock.json playground/.npmrc ./
RUN npm ci
# Its types are generated from the schema.
COPY schema.graphql ../
COPY playground .
RUN npm run build

FROM rust:1-bookworm AS build
WORKDIR /build
COPY . .
COPY --from=playground /build/playground/dist playground/dist
RUN cargo build --profile dist --locked

FROM debian:bookworm-slim
RUN apt-get update && apt-get install -y --no-install-recommends redis-server && rm -rf /var/lib/apt/lists/* \
    && useradd --system --home-dir /data waxwing && install -d -o waxwing -m 0700 /data
COPY --from=build /build/target/dist/waxwing /usr/local/bin/waxwing
USER waxwing
VOLUME /data
# The API, and /metrics on a port of its own: publish the second to Prometheus only.
EXPOSE 4000 9464
ENV WAXWING_LISTEN=0.0.0.0:4000 \
    WAXWING_METRICS_LISTEN=0.0.0.0:9464 \
    WAXWING_PROFILE=production \
    WAXWING_LOG_FORMAT=json
HEALTHCHECK --interval=10s --timeout=5s --start-period=60s --retries=3 CMD ["waxwing", "health"]
CMD ["waxwing", "serve", "--data-dir", "/data"]
