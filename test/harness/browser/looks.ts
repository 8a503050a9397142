/** How a page is looked at. */
export interface Look {
  readonly colorScheme: 'light' | 'dark'
  /** Of the window, in pixels. */
  readonly width: 1280 | 390
}

const allLooks: readonly Look[] = [
  { colorScheme: 'dark', width: 390 },
  { colorScheme: 'light', width: 1280 },
  { colorScheme: 'dark', width: 1280 },
  { colorScheme: 'light', width: 390 },
]

export const isEveryLookWanted = process.env['TESTS'] === 'browser'

/** All four with `TESTS=browser` (`npm run test:browser`); `npm test` looks at each page once, where it fails soonest. */
export const looks: readonly Look[] = isEveryLookWanted ? allLooks : allLooks.slice(0, 1)

export const nameOf = ({ colorScheme, width }: Look): string => `${colorScheme}, ${width} pixels`
