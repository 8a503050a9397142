import type { Evolver, LedgerEvent } from '../../ledger/rules/event.ts'
import { percentOf } from '../../ledger/rules/money.ts'
import { integer, keyOf, projection, type RowOf } from '../../ledger/rules/projection.ts'
import type { Micros } from '../../ledger/rules/time.ts'
import { refuse, type Verb } from '../../ledger/rules/verb.ts'
import { cardCounts, cards } from './card.ts'
import { packages } from './package.ts'

/** A user's latest privilege, active or expired. */
export const privileges = projection('privileges', {
  user_id: integer(),
  privilege_package_id: integer(),
  /** The package's rank when the card that started this privilege was activated. */
  rank: integer(),
  /** Seconds since 1970. */
  valid_until: integer(),
})

type Privilege = RowOf<typeof privileges>

/** The privilege if it is active at this moment; it expires at `valid_until`. */
const activePrivilege = (privilege: Privilege | undefined, now: Micros): Privilege | undefined =>
  privilege !== undefined && now < privilege.valid_until * 1_000_000 ? privilege : undefined

export const evolvePrivileges: Evolver = {
  'privilege-days-added': (state, { data: { user_id, privilege_package_id, rank, valid_until } }) => {
    state.set(privileges, String(user_id), { user_id, privilege_package_id, rank, valid_until })
  },
  'privilege-replaced': (state, { data: { user_id, privilege_package_id, rank, valid_until } }) => {
    state.set(privileges, String(user_id), { user_id, privilege_package_id, rank, valid_until })
  },
}

interface ActivateCard {
  readonly caller_id: number
  readonly card_id: number
}

interface Activation {
  readonly days_added: number
  /** `YYYY-MM-DD HH:MM:SS`, UTC. */
  readonly valid_until: string
}

const refusals = ['not_found', 'not_your_card', 'card_already_activated', 'too_few_days', 'validity_limit'] as const

/**
 * Activates a stored card: its days start, extend or replace the owner's privilege, depending on the ranks.
 * Refusals, in this order: `not_found` (card), `not_your_card`, `card_already_activated`, `too_few_days` (the share of
 * the days rounds down to 0), `validity_limit` (beyond the year 9999).
 */
export const activateCard: Verb<ActivateCard, Activation, typeof refusals> = {
  refusals,
  reads: ({ caller_id, card_id }) => [
    keyOf(cards, card_id),
    keyOf(cardCounts, caller_id),
    keyOf(privileges, caller_id),
  ],
  dependentReads(state, { card_id }) {
    const card = state.get(cards, String(card_id))
    return card === undefined ? [] : [keyOf(packages, card.privilege_package_id)]
  },

  decide(state, { caller_id, card_id }, { now }) {
    const card = state.get(cards, String(card_id))
    if (card === undefined) return refuse('not_found')
    if (card.owner_id !== caller_id) return refuse('not_your_card')
    if (card.activated) return refuse('card_already_activated')
    const { privilege_package_id, valid_days } = card
    const rank = state.get(packages, String(privilege_package_id))?.rank
    if (rank === undefined) throw new Error(`card ${card_id} belongs to an unknown package`)

    const active = activePrivilege(state.get(privileges, String(caller_id)), now)
    const percent = active === undefined ? 100 : percentOfDays(active.rank, rank)
    const days = percentOf(valid_days, percent)
    if (days === 0) return refuse('too_few_days')
    const isExtension = active !== undefined && rank <= active.rank
    const valid_until = daysAfter(isExtension ? active.valid_until : toSeconds(now), days)
    if (valid_until === null) return refuse('validity_limit')

    const activated = { card_id, user_id: caller_id, privilege_package_id, rank, valid_days }
    const outcome = { user_id: caller_id, card_id, days, valid_until }
    return [
      { type: 'card-activated', data: activated, movements: [] },
      isExtension || active === undefined
        ? daysAddedEvent({ ...outcome, percent, ...packageAndRank(active ?? activated) })
        : privilegeReplacedEvent({
            ...outcome,
            replaced: { ...packageAndRank(active), valid_until: active.valid_until },
            ...packageAndRank(activated),
          }),
    ]
  },

  result(_state, _input, events) {
    const made = events.at(-1)
    if (made?.type !== 'privilege-days-added' && made?.type !== 'privilege-replaced')
      throw new Error('nothing was made')
    return { days_added: made.data.days, valid_until: formatValidUntil(made.data.valid_until) }
  },
}

const daysAddedEvent = (data: LedgerEvent<'privilege-days-added'>['data']): LedgerEvent => ({
  type: 'privilege-days-added',
  data,
  movements: [],
})

const privilegeReplacedEvent = (data: LedgerEvent<'privilege-replaced'>['data']): LedgerEvent => ({
  type: 'privilege-replaced',
  data,
  movements: [],
})

const packageAndRank = ({ privilege_package_id, rank }: { privilege_package_id: number; rank: number }) => ({
  privilege_package_id,
  rank,
})

/** Percentage of a card's days that is added, by how many ranks the card is below the active privilege. */
const PERCENT_BY_RANKS_BELOW = [100, 45, 25] as const
const LOWEST_PERCENT = 10

/** Percentage of a card's days that activation adds. A card of a higher rank replaces the privilege and counts in full. */
function percentOfDays(runningRank: number, cardRank: number): number {
  const ranksBelow = Math.max(0, runningRank - cardRank)
  return PERCENT_BY_RANKS_BELOW[ranksBelow] ?? LOWEST_PERCENT
}

/** Seconds since 1970, UTC. Privileges end on a whole second, so the time shown is exactly the time that decides. */
type Seconds = number

const SECONDS_PER_DAY: Seconds = 86_400
/** 9999-12-31 23:59:59, the last time that `YYYY-MM-DD HH:MM:SS` can express. */
const MAX_VALID_UNTIL: Seconds = 253_402_300_799

/** The second that contains a moment. */
const toSeconds = (now: Micros): Seconds => Math.floor(now / 1_000_000)

/** The second `days` days after `from`; null beyond the year 9999. */
function daysAfter(from: Seconds, days: number): Seconds | null {
  const until = from + days * SECONDS_PER_DAY
  return until > MAX_VALID_UNTIL ? null : until
}

/** Formats as `YYYY-MM-DD HH:MM:SS`. */
const formatValidUntil = (until: Seconds): string => new Date(until * 1000).toISOString().slice(0, 19).replace('T', ' ')
