import { setFlagsFromString } from 'node:v8'

/**
 * Has garbage collected once the heap has grown by about half of what is alive. Left alone, Node lets it grow to five
 * times that: memory then rises for minutes, however little is kept. To be called before there is much on the heap.
 */
export function limitHeapGrowth(): void {
  setFlagsFromString('--heap-growing-percent=50')
}
