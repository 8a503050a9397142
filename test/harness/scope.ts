/** A test, or a scenario, as helpers see it: what they start ends with it. */
export interface Scope {
  teardown(work: () => Promise<void> | void): void
}
