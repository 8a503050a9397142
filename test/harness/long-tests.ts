/** `npm test` leaves out tests that take long and show less than others; `npm run test:full` runs everything. */
export const isFullRun = process.env['TESTS'] === 'full'

/** The `skip` of a test that `npm test` leaves out. */
export const onlyInFullRun: string | false = isFullRun ? false : 'in npm run test:full'
