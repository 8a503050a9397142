import type { Tone } from '../frame/cells/cells.ts'

const tones: Readonly<Record<string, Tone>> = {
  pending: 'waiting',
  approved: 'waiting',
  transferred: 'good',
  rejected: 'bad',
}

/** Of a status of a request. */
export const toneOf = (status: string): Tone => tones[status] ?? 'neutral'

/** Whether somebody still has to do something about it. */
export const isWaiting = (status: string): boolean => toneOf(status) === 'waiting'

export const withdrawalPath = (id: number): string => `/console/withdrawals/${id}`
