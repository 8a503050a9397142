import { addressKey } from './client-address.ts'
import { KeyedLimit } from './keyed-limit.ts'

/** How much an address may ask for within a minute without a good token. */
export class AddressLimit extends KeyedLimit {
  override take(ip: string, cost = 1): boolean {
    return super.take(addressKey(ip), cost)
  }

  override retryAfter(ip: string): number {
    return super.retryAfter(addressKey(ip))
  }
}
