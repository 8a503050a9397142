import { readFile } from 'node:fs/promises'
import { isIPv4 } from 'node:net'

/** One end of a TCP connection, as Node reports it. */
export interface Endpoint {
  readonly address: string
  readonly port: number
}

/** Lines of established connections (01) with at least half a MiB (0x00080000) in the send queue. */
const LONG_QUEUE = /: ([0-9A-F]{8,32}):([0-9A-F]{4}) ([0-9A-F]{8,32}):([0-9A-F]{4}) 01 ((?!000[0-7])[0-9A-F]{8}):/g
const IPV4_MAPPED = '00000000000000000000ffff'

/**
 * The long TCP send queues of this machine in bytes, by `connectionKey`. The kernel buffers some MiB for a client that
 * does not read before Node notices; Linux lists them, and elsewhere the map is empty.
 */
export async function readSendQueues(): Promise<ReadonlyMap<string, number>> {
  const texts = await Promise.all(
    ['/proc/net/tcp', '/proc/net/tcp6'].map((path) => readFile(path, 'utf8').catch(() => '')),
  )
  return new Map(texts.flatMap((text) => [...parseSendQueues(text)]))
}

/** Parses the format of `/proc/net/tcp` and `/proc/net/tcp6`. */
export function parseSendQueues(text: string): ReadonlyMap<string, number> {
  const queues = new Map<string, number>()
  for (const [, local = '', localPort = '', remote = '', remotePort = '', bytes = ''] of text.matchAll(LONG_QUEUE)) {
    const ends = [
      `${kernelAddressHex(local)}:${parseHex(localPort)}`,
      `${kernelAddressHex(remote)}:${parseHex(remotePort)}`,
    ]
    queues.set(ends.join(' '), parseHex(bytes))
  }
  return queues
}

/** Both addresses and both ports, since clients at different addresses may use the same port. */
export const connectionKey = (local: Endpoint, remote: Endpoint): string =>
  [local, remote].map(({ address, port }) => `${addressHex(address)}:${port}`).join(' ')

const parseHex = (digits: string): number => Number.parseInt(digits, 16)

/**
 * An address of `/proc/net` as 32 hex digits in network order, IPv4 mapped to IPv6. The kernel prints words of four
 * bytes in the byte order of the CPU, which is little-endian.
 */
function kernelAddressHex(address: string): string {
  const words = address.match(/.{8}/g) ?? []
  const digits = words.map((word) => (word.match(/../g) ?? []).toReversed().join('')).join('')
  return digits.length === 8 ? ipv4Mapped(digits.toLowerCase()) : digits.toLowerCase()
}

/** As `kernelAddressHex`, of an address such as `10.0.0.1`, `::ffff:10.0.0.1` or `fe80::1%eth0`. */
function addressHex(address: string): string {
  const [text = ''] = address.split('%')
  const last = text.slice(text.lastIndexOf(':') + 1)
  if (isIPv4(text)) return ipv4Mapped(ipv4Hex(text))
  const groups = isIPv4(last) ? `${text.slice(0, -last.length)}${ipv4Hex(last).replace(/.{4}$/, ':$&')}` : text
  const [head = [], tail = []] = groups.split('::').map((half) => half.split(':').filter((group) => group !== ''))
  const zeros = Array.from({ length: Math.max(0, 8 - head.length - tail.length) }, () => '0')
  return [...head, ...zeros, ...tail].map((group) => group.padStart(4, '0').toLowerCase()).join('')
}

const ipv4Mapped = (digits: string): string => `${IPV4_MAPPED}${digits}`

const ipv4Hex = (address: string): string =>
  address
    .split('.')
    .map((part) => Number(part).toString(16).padStart(2, '0'))
    .join('')
