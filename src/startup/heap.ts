import { setFlagsFromString } from 'node:v8'

/**
 * Collects garbage once the heap has grown by half of what is alive. By default Node lets it grow to five times that, and
 * memory rises for minutes however little is kept. Must be called while the heap is small.
 */
export function limitHeapGrowth(): void {
  setFlagsFromString('--heap-growing-percent=50')
}
