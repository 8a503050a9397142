import { isFullRun } from '../long-tests.ts'

/** How a page is looked at. */
export interface Look {
  readonly colorScheme: 'light' | 'dark'
  /** The window's width, in pixels. */
  readonly width: 1280 | 390
}

const allLooks: readonly Look[] = [
  { colorScheme: 'dark', width: 390 },
  { colorScheme: 'light', width: 1280 },
  { colorScheme: 'dark', width: 1280 },
  { colorScheme: 'light', width: 390 },
]

/** All four in `npm run test:full`; `npm test` looks at each page once, where it fails soonest. */
export const looks: readonly Look[] = isFullRun ? allLooks : allLooks.slice(0, 1)

export const nameOf = ({ colorScheme, width }: Look): string => `${colorScheme}, ${width} pixels`
