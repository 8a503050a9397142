import { getPriority, setPriority } from 'node:os'

const LOWEST_PRIORITY = 19

interface PrioritySystem {
  readonly platform: NodeJS.Platform
  readonly get: () => number
  readonly set: (nice: number) => void
}

const os: PrioritySystem = { platform: process.platform, get: getPriority, set: setPriority }

/**
 * Sets the nice level of this thread to what `lowered` makes of the current one. Only Linux has priorities of threads:
 * elsewhere the same call would slow down the whole process, requests included, so nothing is changed there.
 */
export function lowerThreadPriority(lowered: (nice: number) => number, { platform, get, set } = os): void {
  if (platform === 'linux') set(Math.min(lowered(get()), LOWEST_PRIORITY))
}
