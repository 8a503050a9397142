import { loadDemo } from '../../../src/demo/load.ts'
import { genesis } from '../../../src/ledger/rules/incarnation.ts'
import { testOpening } from '../ledger/test-executor.ts'
import type { Scope } from '../scope.ts'
import { until } from '../until.ts'
import { decideProposal } from './decide-proposal.ts'
import { readDb, type TestApp, type TestResponse } from './test-app.ts'

/** Ids of what happened on the ledger, for the pages that show one thing. */
export interface BusyLedger {
  /** A clean verification. */
  readonly verification: number
  /** By their status; all of them were made by ben. */
  readonly proposals: Readonly<Record<'open' | 'approved' | 'rejected', number>>
  /** The newest event of a lucky gift with its draws. */
  readonly draw: number
  readonly game: number
  readonly openGame: number
  /** Withdrawals by their status; the pending one is of Amina, in cash. */
  readonly withdrawals: Readonly<Record<'pending' | 'approved' | 'transferred' | 'rejected' | 'goldAgent', number>>
}

/** What staff may move alone: the proposals of `fillLedger` pass it, its other acts do not. */
export const busyLimits = { coins: 100_000, diamonds: 1_000_000, dollars: 10_000, cards: 1_000, bag: 100_000 }

const withdrawals = '/api/v1/agency/target-withdraw-requests'
const roulette = '/v1/rooms/R1/games/roulette'

export const cashRequest = {
  type: 'cash',
  business_manager_id: 5,
  amount_in_dollars: '50.25',
  country_id: 1,
  bank_details: { bank_name: 'Nile Bank', account_name: 'Amina', account_number: 'EG380019000500000000263180002' },
  payment_method: 'bank transfer',
  user_notice: 'Please before the holidays.',
}

/**
 * The demo data, and something of everything that can happen: gifts and draws, games, withdrawals and proposals in every
 * state, cards, acts of staff, a checkpoint and a verification. The app must have `busyLimits` as its approval limits.
 */
export async function fillLedger(t: Scope, opened: TestApp): Promise<BusyLedger> {
  const { user, operator, staff, ledger, database } = opened
  await ledger.runOk(genesis, testOpening)
  await loadDemo(ledger.executor, readDb(t, database))

  for (let i = 0; i < 12; i += 1) {
    const gift = { u_id: 1, decoration_id: 3, user_id: [2, 3], quantity: 5, room_id: 'R1' }
    await done(user(1)('POST', '/api/v1/instant-send', gift))
    const rose = { u_id: 2, decoration_id: i % 4 === 0 ? 2 : 1, user_id: [1], quantity: 1, room_id: 'R1' }
    if (i % 2 === 0) await done(user(2)('POST', '/api/v1/instant-send', rose))
  }
  const draws = dataOf(await done(user(1)('GET', '/api/v1/fairness/lucky/draws')))

  const terms = { game_price: 300, max_players: 3, join_admin: 1, client_seed: 'one' }
  const game = dataOf(await done(user(1)('POST', `${roulette}/create`, terms))).id
  for (const id of [2, 3]) await done(user(id)('POST', `${roulette}/join/${game}`, { client_seed: `seed-${id}` }))
  await done(user(1)('POST', `${roulette}/finish/${game}`))
  const openGame = dataOf(await done(user(3)('POST', `${roulette}/create`, terms))).id

  const request = async (dollars: string, more: object = {}): Promise<number> =>
    dataOf(
      await done(user(1)('POST', `${withdrawals}/request`, { ...cashRequest, amount_in_dollars: dollars, ...more })),
    ).id
  const decide = (id: number, status: string, note: string) =>
    done(operator('POST', `/admin/v1/withdrawals/${id}/status`, { status, note }))
  const transferred = await request('20.00')
  await decide(transferred, 'approved', 'Papers are complete.')
  await decide(transferred, 'transferred', 'Bank reference 4711.')
  const rejected = await request('15.00')
  await decide(rejected, 'rejected', 'The account number does not exist.')
  const approved = await request('30.00')
  await decide(approved, 'approved', 'Papers are complete.')
  const goldAgent = {
    type: 'gold_agent',
    target_user_id: 4,
    beneficiary_user_id: 2,
    amount_in_dollars: '10.00',
    country_id: 1,
  }
  const toAgent = dataOf(await done(user(1)('POST', `${withdrawals}/request`, goldAgent))).id
  const pending = await request('50.25')

  const [card] = dataOf(await done(user(1)('GET', '/api/v1/privilege-wallet')))
  await done(user(1)('POST', `/api/v1/privilege-wallet/${card.id}/activate`))
  await done(
    operator('POST', '/admin/v1/users/2/credits', { currency: 'coins', amount: 1200, reason: 'Winner of the week' }),
  )
  await done(
    operator('POST', '/admin/v1/users/3/debits', {
      currency: 'coins',
      amount: 200,
      reason: 'Credited twice by mistake',
    }),
  )
  await done(operator('POST', '/admin/v1/users/3/bag', { decoration_id: 1, quantity: 4, reason: 'Birthday' }))
  const release = { version: '2.1.0', minimum_version: '2.0.0', store_link: 'https://store.example/app' }
  await done(operator('PUT', '/admin/v1/releases/android', release))

  const propose = async (dollars: string, reason: string): Promise<number> =>
    dataOf(
      await done(staff('ben')('POST', '/admin/v1/users/2/credits', { currency: 'dollars', amount: dollars, reason })),
    ).id
  const proposals = {
    approved: await propose('120.00', 'Prize of November'),
    rejected: await propose('990.00', 'Prize of October'),
    open: await propose('229.50', 'Refund of request 38'),
  }
  await done(decideProposal(operator, proposals.approved, 'approve', { note: 'Seen the list.' }))
  await done(decideProposal(operator, proposals.rejected, 'reject', { note: 'Paid already.' }))

  const finance = staff('fay', 'finance')
  await done(finance('POST', '/admin/v1/ledger/checkpoints'))
  const verification = dataOf(await done(finance('POST', '/admin/v1/ledger/verifications', {}))).id
  await until(async () => {
    const { outcome } = dataOf(await done(finance('GET', `/admin/v1/ledger/verifications/${verification}`)))
    return outcome !== 'running'
  })
  return {
    verification,
    proposals,
    draw: Number.parseInt(draws[0].orders[0].order_id, 10),
    game,
    openGame,
    withdrawals: { pending, approved, transferred, rejected, goldAgent: toAgent },
  }
}

const dataOf = ({ body }: TestResponse) => Object(body).data

/** The answer of a request that must succeed. */
async function done(answer: Promise<TestResponse>): Promise<TestResponse> {
  const response = await answer
  if (response.status >= 300) throw new Error(response.text)
  return response
}
