import { isIP, isIPv4 } from 'node:net'

/**
 * The key that requests of an address are counted under: IPv4 whole, an IPv4-mapped IPv6 address as IPv4, any other
 * IPv6 address by its first 64 bits, because every subscriber controls the rest. Anything else shares one key.
 */
export function addressKey(address: string): string {
  const ip = withoutPort(address)
  switch (isIP(ip)) {
    case 4:
      return ip
    case 6:
      return ipv6Key(ip)
    default:
      return 'unknown'
  }
}

/** Some proxies put a port in `X-Forwarded-For`: `1.2.3.4:56` or `[2001:db8::1]:56`. */
function withoutPort(address: string): string {
  const [, ipv6, ipv4] = /^(?:\[([^\]]*)\](?::\d+)?|([^:]*):\d+)$/.exec(address) ?? []
  return ipv6 ?? ipv4 ?? address
}

function ipv6Key(ip: string): string {
  const dotted = ip.slice(ip.lastIndexOf(':') + 1)
  const [high, low] = isIPv4(dotted) ? hexPair(dotted) : []
  const text = high === undefined ? ip : `${ip.slice(0, -dotted.length)}${high}:${low}`
  const [head = '', tail] = text.replace(/%.*$/s, '').split('::')
  const before = groupsOf(head)
  const after = tail === undefined ? [] : groupsOf(tail)
  const groups = [...before, ...Array<number>(8 - before.length - after.length).fill(0), ...after]
  const [g6 = 0, g7 = 0] = groups.slice(6)
  const isMapped = groups.slice(0, 5).every((group) => group === 0) && groups[5] === 0xffff
  if (isMapped) return [g6 >> 8, g6 & 0xff, g7 >> 8, g7 & 0xff].join('.')
  return `${groups
    .slice(0, 4)
    .map((group) => group.toString(16))
    .join(':')}::/64`
}

const groupsOf = (text: string): number[] =>
  text === '' ? [] : text.split(':').map((group) => Number.parseInt(group, 16))

/** `1.2.3.4` as the groups `102` and `304`. */
function hexPair(ipv4: string): readonly [string, string] {
  const [a = 0, b = 0, c = 0, d = 0] = ipv4.split('.').map(Number)
  return [((a << 8) | b).toString(16), ((c << 8) | d).toString(16)]
}
