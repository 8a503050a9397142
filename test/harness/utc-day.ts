/** Today by UTC, as YYYY-MM-DD. What is compared with it may happen a day later: read it again afterwards. */
export const utcDay = (): string => new Date().toISOString().slice(0, 10)
