import { queryRows } from '../../../test/harness/ledger/test-executor.ts'
import type { TestDatabase } from '../../../test/harness/postgres/test-database.ts'

/** Rows of each kind that are looked at, chosen again for each run, so that no cache of one row answers. */
const SAMPLES = 200

/** What `{name}` in a path stands for. */
const samples = {
  user: 'select user_id as n from users',
  event: 'select (1 + floor(random() * position))::bigint as n from ledger_head, generate_series(1, 1000)',
  middle: 'select position / 2 as n from ledger_head',
  draw: `select position as n from ledger where type = 'gift-drawn'`,
  game: 'select game_id as n from roulette_games',
  withdrawal: 'select withdrawal_id as n from withdrawals',
  proposal: 'select proposal_id as n from proposals',
  month: `select to_char(at at time zone 'UTC', 'YYYY-MM') as n from ledger_head`,
}

/** Every kind of page, by its path under /console. */
const pages = `
  / /accounts /accounts?kind=user&currency=diamonds /accounts?currency=target&sort=-balance
  /accounts/user:{user}:diamonds /accounts/house:gifts:diamonds
  /events /events?at={middle} /events?user={user} /events?actor=user:{user} /events?type=roulette-finished /events/{event}
  /users /users?q=us /users/{user} /users/{user}/history /users/{user}/balances/diamonds /users/{user}/cards
  /users/{user}/games /users/{user}/rooms /users/{user}/bag /users/{user}/activations /users/{user}/notifications
  /users/{user}/withdrawals /search?q=nobody-{user} /search?q=us /search?q={user}
  /withdrawals /withdrawals?status=transferred /withdrawals/{withdrawal} /proposals /proposals/{proposal}
  /games /games/{game} /draws /draws?gift=2 /draws/sends /draws/{draw}
  /catalogue /catalogue/app-mode /catalogue/gifts /catalogue/packages /catalogue/countries /catalogue/releases
  /catalogue/gifts/1 /staff /live /verify
  /reports /reports/trial-balance?at={middle} /reports?as_of={middle} /reports/{month}
`
  .trim()
  .split(/\s+/)

export interface Page {
  readonly name: string
  /** Addresses that lead to different rows. */
  readonly paths: readonly string[]
}

export async function pagesOf(database: TestDatabase): Promise<readonly Page[]> {
  const found = new Map<string, string[]>()
  for (const [name, query] of Object.entries(samples)) {
    const rows = await queryRows(database, `select n from (${query}) as all_rows order by random() limit ${SAMPLES}`)
    const values = rows.map(({ n }) => String(n))
    found.set(name, values)
  }
  return pages.map((page) => {
    const [, name] = /\{(\w+)\}/.exec(page) ?? []
    const values = name === undefined ? [''] : (found.get(name) ?? [])
    return { name: page, paths: values.map((value) => `/console${page === '/' ? '' : page.replace(/\{\w+\}/, value)}`) }
  })
}
