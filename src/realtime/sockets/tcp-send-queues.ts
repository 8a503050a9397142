import { closeSync, existsSync, openSync, readSync } from 'node:fs'
import { isIPv4, type Socket } from 'node:net'
import { setTimeout as sleep } from 'node:timers/promises'

/** Called with the `connectionKey` of a connection and the bytes that the kernel holds for its client. */
type OnQueue = (key: string, bytes: number) => void

const TABLES = ['/proc/net/tcp', '/proc/net/tcp6']
/** How long a table is read at a time, and the pause after it: a table has a line for each closed connection, too. */
const SLICE_MS = 1
const PAUSE_MS = 10
/** A read gives a page of the kernel, some thirty lines, however large the buffer is. */
const PAGE = Buffer.alloc(16 * 1024)
/** An established connection (01): its ends, and the hex digits of its send queue. */
const CONNECTION = /: ([0-9A-F]{8,32}:[0-9A-F]{4} [0-9A-F]{8,32}:[0-9A-F]{4}) 01 ([0-9A-F]{8}):/g
const IPV4_MAPPED = '00000000000000000000FFFF'

/**
 * Reports the TCP send queue of each connection of this machine or container: bytes that the client's system has not
 * confirmed, of which Node knows nothing. Reads in slices of the event loop's time, as handing each page to another
 * thread takes more of it; nothing is written between a read and its calls of `onQueue`. Resolves with the milliseconds
 * of CPU time that it took of the event loop, or null on systems other than Linux, which do not list them.
 */
export async function readSendQueues(onQueue: OnQueue): Promise<number | null> {
  const tables = TABLES.filter((path) => existsSync(path))
  if (tables.length === 0) return null
  let busyMs = 0
  for (const path of tables) {
    const file = openSync(path, 'r')
    try {
      let startedAt = cpuMs()
      let deadline = performance.now() + SLICE_MS
      let rest = ''
      for (let length = readSync(file, PAGE); length > 0; length = readSync(file, PAGE)) {
        rest = parseSendQueues(rest + PAGE.toString('latin1', 0, length), onQueue)
        if (performance.now() < deadline) continue
        busyMs += cpuMs() - startedAt
        await sleep(PAUSE_MS)
        startedAt = cpuMs()
        deadline = performance.now() + SLICE_MS
      }
      busyMs += cpuMs() - startedAt
    } finally {
      closeSync(file)
    }
  }
  return busyMs
}

/** Of this thread: on a busy machine, time passes without it. */
function cpuMs(): number {
  const { user, system } = process.threadCpuUsage()
  return (user + system) / 1_000
}

/** Parses the format of `/proc/net/tcp` and `/proc/net/tcp6`; returns the incomplete last line. */
export function parseSendQueues(text: string, onQueue: OnQueue): string {
  const end = text.lastIndexOf('\n') + 1
  for (const [, key = '', bytes = ''] of text.slice(0, end).matchAll(CONNECTION)) {
    onQueue(key, Number.parseInt(bytes, 16))
  }
  return text.slice(end)
}

/**
 * A connection as the kernel names it, by both addresses and both ports: clients at different addresses may use the
 * same port. Undefined when it is closed already.
 */
export function connectionKey({
  localAddress,
  localPort,
  remoteAddress,
  remotePort,
}: Pick<Socket, 'localAddress' | 'localPort' | 'remoteAddress' | 'remotePort'>): string | undefined {
  if (localAddress === undefined || remoteAddress === undefined) return undefined
  if (localPort === undefined || remotePort === undefined) return undefined
  return `${endpoint(localAddress, localPort)} ${endpoint(remoteAddress, remotePort)}`
}

const endpoint = (address: string, port: number): string =>
  `${kernelAddress(address)}:${port.toString(16).toUpperCase().padStart(4, '0')}`

/**
 * An address such as `10.0.0.1`, `::ffff:10.0.0.1` or `fe80::1%eth0` as `/proc/net` prints it: in words of four bytes
 * in the byte order of the CPU, which is little-endian.
 */
function kernelAddress(address: string): string {
  const [text = ''] = address.split('%')
  const last = text.slice(text.lastIndexOf(':') + 1)
  const digits = isIPv4(text) ? ipv4Hex(text) : isIPv4(last) ? `${IPV4_MAPPED}${ipv4Hex(last)}` : ipv6Hex(text)
  return digits.toUpperCase().replaceAll(/(..)(..)(..)(..)/g, '$4$3$2$1')
}

const ipv4Hex = (address: string): string =>
  address
    .split('.')
    .map((part) => Number(part).toString(16).padStart(2, '0'))
    .join('')

function ipv6Hex(address: string): string {
  const [head = [], tail = []] = address.split('::').map((half) => half.split(':').filter((group) => group !== ''))
  const zeros = Array.from({ length: Math.max(0, 8 - head.length - tail.length) }, () => '0')
  return [...head, ...zeros, ...tail].map((group) => group.padStart(4, '0')).join('')
}
