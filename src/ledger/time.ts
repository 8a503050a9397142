/** Microseconds since 1970, UTC: the one form of time below the HTTP doors. */
export type Micros = number

/** `2026-11-21T08:00:00.000000Z`. */
export function isoMicros(micros: Micros): string {
  const millis = Math.floor(micros / 1000)
  return `${new Date(millis).toISOString().slice(0, -1)}${String(micros - millis * 1000).padStart(3, '0')}Z`
}
