import type { FastifyInstance } from 'fastify'
import { printedRoutes } from '../http/printed-routes.ts'
import type { BusyLedger } from './busy-ledger.ts'

/** An address of the console. */
interface ConsoleAddress {
  readonly address: string
  /** The route that answers it: `/console/users/:id`. */
  readonly route: string
  /** A whole page, a part of one, or a file. */
  readonly kind: 'page' | 'part' | 'file'
}

const giftReview =
  'edited=1&key=7&name=Star&kind=lucky&price=100&multiplier_1=10&weight_1=5&multiplier_2=0.25&weight_2=95'
const releaseReview =
  'edited=1&key=ios&version=2.0&minimum_version=1.5&store_link=https%3A%2F%2Fstore.example%2Fapp&title_en=A&title_ar=B&message_en=C&message_ar=D'

/** What a page needs in its query to show more than an empty form. */
const queries: Readonly<Record<string, string>> = {
  '/console/search': 'q=Amina',
  '/console/live/events': 'after=1',
  '/console/staff': 'sub=ann',
  '/console/staff/end-sessions': 'sub=ben',
  '/console/users/:id/credit': 'review=1&currency=coins&amount=1200&reason=a%20prize',
  '/console/users/:id/debit': 'review=1&currency=coins&amount=12&reason=a%20fault',
  '/console/users/:id/grant-cards': 'review=1&privilege_package_id=1&quantity=3&reason=a%20prize',
  '/console/users/:id/add-to-bag': 'review=1&decoration_id=1&quantity=4&reason=a%20prize',
  '/console/users/:id/flags': 'review=1&charging_agent=1&business_manager=0',
  '/console/withdrawals/:id/review': 'status=rejected',
  '/console/catalogue/gifts/review': giftReview,
  '/console/catalogue/packages/review': 'edited=1&key=7&name=Star&rank=7&valid_days=30&icon_path=p.svg',
  '/console/catalogue/countries/review': 'edited=1&key=7&name=Iraq',
  '/console/catalogue/releases/review': releaseReview,
  '/console/catalogue/app-mode/review':
    'edited=1&maintenance=on&title_en=Back%20soon&title_ar=%D9%82%D8%B1%D9%8A%D8%A8%D8%A7&message_en=We%20move.&message_ar=%D9%86%D9%86%D8%AA%D9%82%D9%84.',
}

/** Pages whose form is a page of its own, besides its review. */
const isReviewed = (route: string): boolean => route.startsWith('/console/users/:id/') && queries[route] !== undefined

/** Pages to sign in by, which nobody who has signed in sees, files without data, and what comes of a month that is over. */
const leftOut = new Set([
  '/console/login',
  '/console/sign-in',
  '/console/assets/:name',
  '/console/reports/:month/files/:name',
  '/console/reports/:month/record',
])

/**
 * An address for each route of the console that is read, on a ledger that `fillLedger` filled. Throws for a route with a
 * parameter that is not known here, so that no new page is left out.
 */
export function consoleAddresses(app: FastifyInstance, ledger: BusyLedger): readonly ConsoleAddress[] {
  const values: Readonly<Record<string, string | number>> = {
    '/console/accounts/:account': 'user:1:dollars',
    '/console/events/:position': ledger.draw,
    '/console/draws/:position': ledger.draw,
    '/console/verify/:id': ledger.verification,
    '/console/verify/checkpoints/:id': 1,
    '/console/users/:id': 1,
    '/console/users/:id/balances/:currency': 'dollars',
    '/console/withdrawals/:id': ledger.withdrawals.pending,
    '/console/proposals/:id': ledger.proposals.open,
    '/console/games/:id': ledger.game,
    '/console/reports/:month': new Date().toISOString().slice(0, 7),
    '/console/reports/:month/steps/:step': 'verify',
    '/console/catalogue/gifts/:key': 3,
    '/console/catalogue/packages/:key': 1,
    '/console/catalogue/countries/:key': 1,
    '/console/catalogue/releases/:key': 'android',
  }
  const routes = printedRoutes(app).filter(
    ({ path, methods }) => /^\/console(\/|$)/.test(path) && methods.includes('GET') && !leftOut.has(path),
  )
  return routes.flatMap(({ path: route }) => {
    const address = route.split('/').reduce((before, part) => {
      if (!part.startsWith(':')) return `${before}/${part}`
      const declared = route.slice(0, route.indexOf(part) + part.length)
      const value = values[declared]
      if (value === undefined) throw new Error(`console-addresses.ts has no value for ${declared}`)
      return `${before}/${value}`
    })
    const query = queries[route]
    const kind = /\.[a-z]+$|\/checkpoints\/:id$/.test(route)
      ? 'file'
      : /\/(figures|progress|live\/events|live\/sockets)$/.test(route)
        ? 'part'
        : 'page'
    const filled: ConsoleAddress = { route, kind, address: query === undefined ? address : `${address}?${query}` }
    return isReviewed(route) ? [{ route, kind, address }, filled] : [filled]
  })
}
