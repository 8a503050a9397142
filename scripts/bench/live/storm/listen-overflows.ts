import { readFileSync } from 'node:fs'

/** How often the kernel has dropped a connection so far because an accept queue was full, of all processes. */
export function listenOverflows(): number {
  const [names = [], values = []] = readFileSync('/proc/net/netstat', 'latin1')
    .split('\n')
    .filter((line) => line.startsWith('TcpExt:'))
    .map((line) => line.split(' '))
  return Number(values[names.indexOf('ListenOverflows')])
}
