import { randomUUID } from 'node:crypto'
import type { FastifyReply, FastifyRequest } from 'fastify'
import type { StaffRole } from '../../http/auth/caller.ts'
import { assetAddress } from '../assets/assets.ts'
import { isForPart, staffOrNull } from '../session/session-check.ts'
import { takeDone } from './done.ts'
import { format, type Template } from './templates.ts'

/** Scripts that a page may need besides that of the layout. */
export type PageScript = 'htmx' | 'chart' | 'hash' | 'odds' | 'checkpoint-file' | 'live' | 'playground'

interface Page<Data extends object> {
  /** The title of the window; the page's first heading says the same. */
  readonly title: string
  readonly data: Data
  readonly status?: number
  readonly scripts?: readonly PageScript[]
}

/** What the layout around every page shows. */
interface Layout {
  readonly title: string
  readonly csrf: string
  /** A new idempotency key for each form. */
  readonly formKey: () => string
  /** What was just done; null for nothing. */
  readonly done: string | null
  readonly navigation: ReturnType<typeof navigationFor>
  readonly staff: { readonly name: string; readonly role: string; readonly mayWrite: boolean } | null
  readonly q: string
  readonly now: string
  readonly asset: typeof assetAddress
  readonly scripts: readonly PageScript[]
}

/** Sends a page in the layout. Templates get its data, `layout`, and `format` to show values. */
export async function sendPage<Data extends object>(
  request: FastifyRequest,
  reply: FastifyReply,
  template: Template<Data>,
  { title, data, status = 200, scripts = [] }: Page<Data>,
): Promise<FastifyReply> {
  const staff = staffOrNull(request)
  const [path = '/console'] = request.originalUrl.split('?', 1)
  const { q } = Object(request.query)
  const layout: Layout = {
    title,
    csrf: reply.generateCsrf({ userInfo: staff?.token ?? 'nobody' }),
    formKey: () => randomUUID(),
    done: takeDone(request, reply),
    navigation: staff === null ? [] : navigationFor(path),
    staff:
      staff === null ? null : { name: staff.name, role: roleNames[staff.role], mayWrite: staff.role === 'operator' },
    // Other pages have a filter of that name.
    q: path === '/console/search' && typeof q === 'string' ? q : '',
    now: new Date().toISOString(),
    asset: assetAddress,
    scripts,
  }
  const html = await reply.viewAsync(template.path, { ...data, layout, format })
  // Also of an error in place of a file that browsers may keep.
  reply.header('cache-control', 'no-store')
  return reply.code(status).type('text/html; charset=utf-8').send(html)
}

/** Sends a part of a page, for htmx to put in its place. A browser that opens its address otherwise is led to `page`. */
export async function sendPart<Data extends object>(
  request: FastifyRequest,
  reply: FastifyReply,
  template: Template<Data>,
  { page, read }: { readonly page: string; readonly read: () => Data | Promise<Data> },
): Promise<FastifyReply> {
  if (!isForPart(request)) return reply.redirect(page, 303)
  const html = await reply.viewAsync(template.path, { ...(await read()), format })
  return reply.type('text/html; charset=utf-8').send(html)
}

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
const navigationFor = (path: string): readonly ShownGroup[] =>
  groups.map(({ title, items }) => ({
    title,
    items: items.map((item) => ({ ...item, isCurrent: isWithin(path, item) })),
  }))

/** How the layout names a role. */
const roleNames: Readonly<Record<StaffRole, string>> = { finance: 'Finance', operator: 'Operator' }
