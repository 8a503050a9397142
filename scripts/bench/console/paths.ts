import type { BenchCluster } from '../run/cluster.ts'

/** The addresses of a page that are opened in turn. */
export interface BenchedPage {
  readonly name: string
  readonly paths: readonly string[]
}

/** Users, events and draws that are looked at, chosen anew for each run. */
const SAMPLES = 200

/** Every kind of page, with addresses that lead to different rows, so that no cache of one row answers. */
export async function benchedPages(cluster: BenchCluster, database: string): Promise<readonly BenchedPage[]> {
  const numbersOf = async (query: string): Promise<number[]> =>
    (await cluster.ask(query, database)).map(({ n }) => Number(n))
  const users = await numbersOf(`select user_id as n from users order by random() limit ${SAMPLES}`)
  const events = await numbersOf(
    `select (1 + floor(random() * position))::bigint as n from ledger_head, generate_series(1, ${SAMPLES})`,
  )
  const draws = await numbersOf(
    `select position as n from ledger_events where type = 'gift-drawn' order by random() limit ${SAMPLES}`,
  )
  const games = await numbersOf(`select game_id as n from roulette_games order by random() limit ${SAMPLES}`)
  const withdrawals = await numbersOf(`select withdrawal_id as n from withdrawals order by random() limit ${SAMPLES}`)
  const proposals = await numbersOf(`select proposal_id as n from proposals order by random() limit ${SAMPLES}`)
  const [middle = 1] = await numbersOf(`select position / 2 as n from ledger_head`)
  const same = (name: string, ...paths: readonly string[]): BenchedPage => ({ name, paths })
  const each = (name: string, ids: readonly number[], pathOf: (id: number) => string): BenchedPage => ({
    name,
    paths: ids.map(pathOf),
  })
  return [
    same('home', '/console'),
    same('accounts', '/console/accounts', '/console/accounts?kind=user&currency=diamonds'),
    same('accounts by balance', '/console/accounts?currency=target&sort=-balance'),
    each('account of a user', users, (id) => `/console/accounts/user:${id}:diamonds`),
    same('account of the house', '/console/accounts/house:gifts:diamonds'),
    same('events', '/console/events', `/console/events?at=${middle}`),
    each('events of a user', users, (id) => `/console/events?user=${id}`),
    each('events by an actor', users, (id) => `/console/events?actor=user:${id}`),
    same('events of a rare type', '/console/events?type=roulette-finished'),
    each('an event', events, (position) => `/console/events/${position}`),
    same('users', '/console/users'),
    each('a user', users, (id) => `/console/users/${id}`),
    each('what moved of a user', users, (id) => `/console/users/${id}/history`),
    each('a balance explained', users, (id) => `/console/users/${id}/balances/diamonds`),
    each('cards of a user', users, (id) => `/console/users/${id}/cards`),
    each('games of a user', users, (id) => `/console/users/${id}/games`),
    each('rooms of a user', users, (id) => `/console/users/${id}/rooms`),
    each('bag of a user', users, (id) => `/console/users/${id}/bag`),
    each('activated cards of a user', users, (id) => `/console/users/${id}/activations`),
    each('notifications of a user', users, (id) => `/console/users/${id}/notifications`),
    each('withdrawals of a user', users, (id) => `/console/users/${id}/withdrawals`),
    each('search', users, (id) => `/console/search?q=nobody-${id}`),
    same('search by name', '/console/search?q=us', '/console/users?q=us'),
    each('search for a number', users, (id) => `/console/search?q=${id}`),
    same('withdrawals', '/console/withdrawals', '/console/withdrawals?status=transferred'),
    each('a withdrawal', withdrawals, (id) => `/console/withdrawals/${id}`),
    same('proposals', '/console/proposals'),
    each('a proposal', proposals, (id) => `/console/proposals/${id}`),
    same('games', '/console/games'),
    each('a game', games, (id) => `/console/games/${id}`),
    same('draws', '/console/draws'),
    same('draws of a gift', '/console/draws?gift=2'),
    same('lucky sends', '/console/draws/sends'),
    each('a draw', draws, (position) => `/console/draws/${position}`),
    same('catalogue', '/console/catalogue', '/console/catalogue/app-mode'),
    same(
      'lists of the catalogue',
      ...['gifts', 'packages', 'countries', 'releases'].map((one) => `/console/catalogue/${one}`),
    ),
    same('a gift', '/console/catalogue/gifts/1'),
    same('staff', '/console/staff'),
    same('live', '/console/live'),
    same('verify', '/console/verify'),
    same('reports', '/console/reports'),
    same('a trial balance', `/console/reports/trial-balance?at=${middle}`),
    same('a past trial balance', `/console/reports?as_of=${middle}`),
    same('a month', `/console/reports/${new Date().toISOString().slice(0, 7)}`),
  ]
}
