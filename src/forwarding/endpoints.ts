import { readdirSync, rmSync } from 'node:fs'
import { connect, createServer, type Server, type Socket } from 'node:net'
import { join } from 'node:path'
import { connect as connectTls, createServer as createTlsServer } from 'node:tls'
import { errorCode } from '../config/error-code.ts'
import { sha256Bytes } from '../ledger/rules/hash.ts'

/** The longest path of a Unix socket on Linux and macOS. */
const MAX_PATH_BYTES = 103

/** Where instances on other hosts reach a writer, and the key that both ends must have. */
export interface Network {
  readonly host: string
  readonly port: number
  readonly key: string
}

/** The Unix socket of a writer. `ledger` names database and schema, `writer` the instance. */
export const socketPath = (folder: string, ledger: string, writer: string): string =>
  join(folder, `${prefixOf(ledger)}${writer}.sock`)

const prefixOf = (ledger: string): string => `writer-${ledger}-`

export const isPathTooLong = (path: string): boolean => Buffer.byteLength(path) > MAX_PATH_BYTES

/** Removes the sockets that former writers left when they were killed: nobody listens there. */
export async function removeDeadSockets(folder: string, ledger: string): Promise<void> {
  for (const name of readdirSync(folder)) {
    const path = join(folder, name)
    if (name.startsWith(prefixOf(ledger)) && (await isDead(path))) rmSync(path, { force: true })
  }
}

const isDead = (path: string): Promise<boolean> =>
  new Promise((resolve) => {
    const socket = connect({ path })
    socket.once('connect', () => {
      socket.destroy()
      resolve(false)
    })
    socket.once('error', (error) => resolve(errorCode(error) === 'ECONNREFUSED'))
  })

/** Listens on a Unix socket that only this user may open. */
export async function listenOnSocket(path: string, onConnection: (socket: Socket) => void): Promise<Server> {
  const server = createServer(onConnection)
  rmSync(path, { force: true })
  await listening(server, () => {
    // The file is created within this call: at no time may others open it.
    const mask = process.umask(0o177)
    try {
      server.listen({ path })
    } finally {
      process.umask(mask)
    }
  })
  return server
}

/**
 * TLS with the shared key, in the one version with which Node has it. A key exchange of its own for each connection: who
 * learns the key later cannot read what was recorded.
 */
const tlsOptions = { ciphers: 'ECDHE-PSK-CHACHA20-POLY1305', minVersion: 'TLSv1.2', maxVersion: 'TLSv1.2' } as const
const IDENTITY = 'live-economy'

const pskOf = (key: string): Buffer => sha256Bytes(Buffer.from(key))

/** Listens for instances on other hosts; connections without the key get no further than the handshake. */
export async function listenOnNetwork(network: Network, onConnection: (socket: Socket) => void): Promise<Server> {
  const psk = pskOf(network.key)
  const pskCallback = (_socket: unknown, identity: string) => (identity === IDENTITY ? psk : null)
  const server = createTlsServer({ ...tlsOptions, handshakeTimeout: 2_000, pskCallback }, onConnection)
  // A handshake that fails concerns its connection only.
  server.on('tlsClientError', (_error, socket) => socket.destroy())
  await listening(server, () => server.listen({ host: network.host, port: network.port }))
  return server
}

export const connectToSocket = (path: string): Socket => connect({ path })

/** Connects to `<host>:<port>`. */
export function connectToNetwork(address: string, key: string): Socket {
  const { host, port } = parseAddress(address)
  return connectTls({
    ...tlsOptions,
    host,
    port,
    pskCallback: () => ({ psk: pskOf(key), identity: IDENTITY }),
    // Both ends prove the key; there is no certificate.
    checkServerIdentity: () => undefined,
  })
}

/** Whether the other end of a connection over the network has another key. */
export const isOtherKey = (error: unknown): boolean => /^(EPROTO|ERR_SSL_)/.test(errorCode(error) ?? '')

/** Splits `host:port`, `[::1]:port` included. */
export function parseAddress(address: string): { readonly host: string; readonly port: number } {
  const end = address.lastIndexOf(':')
  return { host: address.slice(0, end).replace(/^\[|\]$/g, ''), port: Number(address.slice(end + 1)) }
}

function listening(server: Server, listen: () => void): Promise<void> {
  return new Promise((resolve, reject) => {
    server.once('error', reject)
    listen()
    server.once('listening', () => {
      server.off('error', reject)
      server.on('error', () => {})
      resolve()
    })
  })
}
