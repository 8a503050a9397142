# The digest of all platforms.
FROM node:24.21.0-slim@sha256:0e0ff40c39bc087845bfb27465a0df4ea419520094bc35842ff83dd8cbe6f9b6
ENV NODE_ENV=production
WORKDIR /app

# Dependencies change less often than the code. The optional ones bring PostgreSQL and Node, which are not needed here.
COPY package.json package-lock.json .npmrc ./
RUN npm ci --omit=dev --omit=optional && npm cache clean --force

COPY schema schema
COPY sql sql
COPY src src
COPY scripts scripts

# DATABASE_URL, PUBLIC_URL, the keys and ASSET_BASE_URL or ASSET_DIR must be given. DATA_DIR holds the files of closings,
# which a volume keeps.
ENV HOST=0.0.0.0 PORT=3000 DATA_DIR=/data
RUN install -d -m 0700 -o 1000 -g 1000 /data
EXPOSE 3000
# The user node of the image, by number: so that Kubernetes knows that it is not root.
USER 1000:1000
HEALTHCHECK --interval=10s --timeout=3s --start-period=30s --retries=3 \
  CMD ["bash", "-c", "exec 3<>/dev/tcp/127.0.0.1/$PORT && printf 'GET /healthz HTTP/1.1\\r\\nHost: localhost\\r\\nConnection: close\\r\\n\\r\\n' >&3 && read -r status <&3 && [[ $status == 'HTTP/1.1 200 '* ]]"]
CMD ["node", "src/server.ts"]
