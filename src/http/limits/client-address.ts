import { isIP } from 'node:net'
import ipaddr from 'ipaddr.js'

/**
 * The key that requests of an address are counted under: IPv4 whole, an IPv4-mapped IPv6 address as IPv4, any other
 * IPv6 address by its first 64 bits, because every subscriber controls the rest. Anything else shares one key.
 */
export function addressKey(address: string): string {
  const text = withoutPort(address).replace(/%.*$/s, '')
  // The parser would take forms that no proxy writes, such as `127.1`.
  if (isIP(text) === 0) return 'unknown'
  const ip = ipaddr.parse(text)
  if (!('parts' in ip)) return ip.toString()
  if (ip.isIPv4MappedAddress()) return ip.toIPv4Address().toString()
  const network = ip.parts.slice(0, 4).map((part) => part.toString(16))
  return `${network.join(':')}::/64`
}

/** Some proxies put a port in `X-Forwarded-For`: `1.2.3.4:56` or `[2001:db8::1]:56`. */
function withoutPort(address: string): string {
  const [, ipv6, ipv4] = /^(?:\[([^\]]*)\](?::\d+)?|([^:]*):\d+)$/.exec(address) ?? []
  return ipv6 ?? ipv4 ?? address
}
