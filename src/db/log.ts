/** For failures in the background: pino's logger or the console. */
export interface Log {
  warn(details: object, message: string): void
}

/** For command lines, which end with the error itself. */
export const silent: Log = { warn: () => {} }
