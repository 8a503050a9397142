FROM node:24-slim
ENV NODE_ENV=production
WORKDIR /app

# Dependencies change less often than the code. The optional ones bring PostgreSQL and Node, which are not needed here.
COPY package.json package-lock.json .npmrc ./
RUN npm ci --omit=dev --omit=optional && npm cache clean --force

COPY schema schema
COPY sql sql
COPY src src
COPY scripts scripts

# DATABASE_URL, PUBLIC_URL, the keys and ASSET_BASE_URL or ASSET_DIR must be given: the container stores nothing.
ENV HOST=0.0.0.0 PORT=3000
EXPOSE 3000
USER node
HEALTHCHECK --interval=10s --timeout=3s --start-period=30s --retries=3 \
  CMD ["node", "-e", "fetch(`http://127.0.0.1:${process.env.PORT}/healthz`).then((r) => process.exit(r.ok ? 0 : 1), () => process.exit(1))"]
CMD ["node", "src/server.ts"]
