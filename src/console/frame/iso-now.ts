/** The time, in ISO 8601. */
export const isoNow = (): string => new Date().toISOString()
