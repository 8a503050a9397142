/** Microseconds since 1970, UTC: the only form of time in the service. */
export type Micros = number

let lastMicros: Micros = 0
let lastText = iso(0)

/** `2026-11-21T08:00:00.000000Z`. */
export function isoMicros(micros: Micros): string {
  // All events of a batch have one time, and each is printed twice: for the hash and for the table.
  if (micros !== lastMicros) {
    lastText = iso(micros)
    lastMicros = micros
  }
  return lastText
}

/** `2026-11-21 08:00:00`, UTC. */
export const plainSeconds = (micros: Micros): string => isoMicros(micros).slice(0, 19).replace('T', ' ')

function iso(micros: Micros): string {
  const millis = Math.floor(micros / 1000)
  return `${new Date(millis).toISOString().slice(0, -1)}${String(micros - millis * 1000).padStart(3, '0')}Z`
}
