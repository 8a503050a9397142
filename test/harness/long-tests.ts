/** `npm test` leaves out tests that take long and show less than others; `npm run test:full` runs everything. */
export const isFullRun = process.env['TESTS'] === 'full'

/** For the `skip` of a test in a file that has long ones, too. */
export const skipUnlessWanted = (isLong: boolean): string | false =>
  isLong && !isFullRun ? 'in npm run test:full' : false
