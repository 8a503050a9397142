/** Milliseconds on a clock that all threads share. */
export const clock = (): number => Number(process.hrtime.bigint()) / 1e6
