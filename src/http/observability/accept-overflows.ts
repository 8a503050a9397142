import { readFileSync } from 'node:fs'
import { Counter, type Registry } from '@prometheus-io/client'

/** Counters of the machine's or the container's TCP, in pairs of a line of names and a line of values. */
const NETSTAT = '/proc/net/netstat'

/** Adds a counter of connections for which an accept queue had no room, read at each scrape. Only Linux tells. */
export function watchAcceptOverflows(registry: Registry): void {
  const read = (): string => readFileSync(NETSTAT, 'utf8')
  try {
    read()
  } catch {
    return
  }
  new Counter({
    name: 'tcp_accept_overflows_total',
    help: 'Connections to any process of this machine or container that found the accept queue full',
    registers: [registry],
    collect() {
      this.reset()
      this.inc(parseListenOverflows(read()))
    },
  }).reset()
}

/** The counter in the format of `/proc/net/netstat`; 0 when it is missing. */
export function parseListenOverflows(text: string): number {
  const [names = [], values = []] = text
    .split('\n')
    .filter((line) => line.startsWith('TcpExt:'))
    .map((line) => line.split(' '))
  const at = names.indexOf('ListenOverflows')
  return at === -1 ? 0 : Number(values[at] ?? 0)
}
