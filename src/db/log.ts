/** For failures in the background: pino's logger or the console. */
export interface Log {
  warn(details: object, message: string): void
}
