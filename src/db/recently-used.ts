import { LRUCache } from 'lru-cache'

/**
 * What was used last of many keys. It takes room as it fills: a cache with `max` sets all of it aside when it is made, which
 * for a handful of them took 60 to 90 of the 270 ms in which the HTTP layer is made (means of 30).
 */
export const recentlyUsed = <Key extends string | number, Value extends object | number>(
  most: number,
): LRUCache<Key, Value> => new LRUCache({ maxSize: most, sizeCalculation: () => 1 })
