/** `npm test` leaves out tests that take long and show less than others; `TESTS=long` runs only them, as `.ci/run` does. */
export const areLongWanted = process.env['TESTS'] === 'long'

/** For the `skip` of a test in a file that has long ones, too. */
export const skipUnlessWanted = (isLong: boolean): string | false =>
  isLong === areLongWanted ? false : `with TESTS${areLongWanted ? ' unset' : '=long'}`
