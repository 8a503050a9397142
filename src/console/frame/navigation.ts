import type { StaffRole } from '../../http/auth/caller.ts'

/** A page that the menu leads to. */
export interface NavigationItem {
  readonly path: string
  readonly title: string
}

interface NavigationGroup {
  readonly title: string
  readonly items: readonly NavigationItem[]
}

/** The menu. Both roles see all pages; what they may do there differs. */
const groups: readonly NavigationGroup[] = [
  {
    title: 'Overview',
    items: [
      { path: '/console', title: 'Home' },
      { path: '/console/live', title: 'Live' },
    ],
  },
  {
    title: 'Ledger',
    items: [
      { path: '/console/accounts', title: 'Accounts' },
      { path: '/console/events', title: 'Events' },
      { path: '/console/reports', title: 'Reports' },
      { path: '/console/verify', title: 'Verify' },
      { path: '/console/jobs', title: 'Jobs' },
    ],
  },
  {
    title: 'Operations',
    items: [
      { path: '/console/users', title: 'Users' },
      { path: '/console/withdrawals', title: 'Withdrawals' },
      { path: '/console/proposals', title: 'Proposals' },
      { path: '/console/games', title: 'Games' },
      { path: '/console/draws', title: 'Draws' },
      { path: '/console/catalogue', title: 'Catalogue' },
      { path: '/console/staff', title: 'Staff' },
    ],
  },
]

/** The page of the menu that a page belongs to; null for the home page and what belongs to none. */
export const sectionOf = (path: string): NavigationItem | null =>
  groups.flatMap(({ items }) => items).find((item) => item.path !== '/console' && isWithin(path, item)) ?? null

const isWithin = (path: string, item: NavigationItem): boolean =>
  path === item.path || (item.path !== '/console' && path.startsWith(`${item.path}/`))

interface ShownGroup {
  readonly title: string
  readonly items: readonly (NavigationItem & { readonly isCurrent: boolean })[]
}

/** The menu as the page at this path shows it. */
export const navigationFor = (path: string): readonly ShownGroup[] =>
  groups.map(({ title, items }) => ({
    title,
    items: items.map((item) => ({ ...item, isCurrent: isWithin(path, item) })),
  }))

/** How the frame names a role. */
export const roleNames: Readonly<Record<StaffRole, string>> = { finance: 'Finance', operator: 'Operator' }
